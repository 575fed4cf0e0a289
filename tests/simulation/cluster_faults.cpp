// What goes wrong in a life between and in its processes: links, pauses, strangers.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "tests/simulation/cluster.h"

namespace ballast::simulation {

// In this order, as chance is drawn.
void Cluster::schedule_faults() {
  schedule_faults_of_workers();
  schedule_faults_of_servers();
  schedule_user();
  for (std::uint32_t i = 0; i < life().faults.departures; ++i) {
    schedule_often_early(0.8, 2'000, 120'000, ServerTold{});
  }
  for (std::uint32_t i = 0; i < life().faults.lost_disks; ++i) {
    schedule_often_early(0.8, 20'000, 200'000, DiskLost{});
  }
}

void Cluster::schedule_some(std::uint32_t count, Micros first, Micros last, const FaultEvent& what) {
  for (std::uint32_t i = 0; i < count; ++i) {
    schedule(random_.between(first, std::min(last, life().faults.until)), what);
  }
}

void Cluster::schedule_faults_of_workers() {
  const auto& faults = life().faults;
  schedule_some(faults.crashes, 5'000, faults.until, WorkerCrashes{});
  schedule_some(faults.worker_pauses, 5'000, faults.until, WorkerStands{});
  schedule_some(faults.cuts, 2'000, faults.until, LinkCut{});
  schedule_some(faults.one_way_cuts, 2'000, 200'000, LinkCutOneWay{});
  schedule_some(faults.slow_links, 1'000, 100'000, LinkSlows{});
  schedule_some(faults.leaves, 5'000, 200'000, WorkerLeaves{});
  schedule_some(faults.hangs, 5'000, 100'000, WorkerHangs{});
  schedule_some(faults.strangers, 2'000, faults.until, StrangerSpeaks{});
  schedule_some(faults.torn_roots, 2'000, 150'000, RootsPushed{});
  schedule_some(faults.false_results, 2'000, 150'000, FalseResults{});
  schedule_some(faults.withholds, 2'000, 100'000, WorkerWithholds{});
}

void Cluster::schedule_faults_of_servers() {
  const auto& faults = life().faults;
  schedule_some(faults.shard_pauses, 2'000, faults.until, ShardStands{});
  schedule_some(faults.lead_pauses, 2'000, faults.until, LeadStands{});
  if (life().mixed) {
    schedule_each_kind();
  }
  schedule_some(faults.death ? 1 : 0, 5'000, faults.until, ShardDies{});
  for (std::uint32_t i = 0; i < faults.shard_crashes; ++i) {
    schedule_often_early(0.7, 2'000, 120'000, ShardFuse{});
  }
  for (std::uint32_t i = 0; i < faults.lead_crashes; ++i) {
    schedule_often_early(0.7, 2'000, 120'000, LeadFuse{});
  }
  for (std::uint32_t i = 0; i < faults.second_servers; ++i) {
    schedule_often_early(0.8, 1, 100'000, SecondStarts{});
  }
}

// Most lives are over long before the faults end.
void Cluster::schedule_often_early(double how_often, Micros first, Micros early, const FaultEvent& what) {
  const auto latest = random_.chance(how_often) ? std::min(early, life().faults.until) : life().faults.until;
  schedule(random_.between(first, latest), what);
}

// Whoever the job belongs to, somebody who fits it is there at the end.
void Cluster::schedule_each_kind() {
  std::set<std::pair<std::string, std::string>> kinds;
  for (const auto& worker : life().workers) {
    if (kinds.emplace(worker.data, worker.arithmetic).second) {
      schedule(life().faults.until, WorkerJoins{worker});
    }
  }
}

// ---- workers

std::vector<ProcessId> Cluster::live_workers() const {
  std::vector<ProcessId> live;
  for (const auto* worker : roster_.workers) {
    if (worker->alive()) {
      live.push_back(worker->id());
    }
  }
  return live;
}

void Cluster::carry_out(const WorkerJoins& what) { join(what.worker); }

void Cluster::crash(ProcessId worker) {
  ++faults_seen_;
  process(worker).die();
  if (traces()) {
    say(process(worker).name() + " crashes");
  }
}

void Cluster::carry_out(const WorkerCrashes& /*what*/) {
  const auto live = live_workers();
  if (!live.empty() && !run_.lead_over) {
    crash(live[random_.between(0, live.size() - 1)]);
    const auto worker = life().workers[random_.between(0, life().workers.size() - 1)];
    schedule(now() + random_.between(1'000, 120'000), WorkerJoins{worker});
  }
}

void Cluster::carry_out(const WorkerStands& /*what*/) {
  const auto live = live_workers();
  if (live.empty()) {
    return;
  }
  const auto& worker = process(live[random_.between(0, live.size() - 1)]);
  stand(worker, now() + random_.between(5'000, life().faults.worker_pause));
  ++faults_seen_;
  if (traces()) {
    say(worker.name() + " stands still");
  }
}

// For ever, or for a while. In the place of one that does for ever another one comes, lest nobody be left.
void Cluster::carry_out(const WorkerHangs& /*what*/) {
  const auto live = live_workers();
  if (live.empty() || run_.lead_over) {
    return;
  }
  auto& hosted = processes_[live[random_.between(0, live.size() - 1)]];
  ++faults_seen_;
  if (random_.chance(0.5)) {
    hosted.hangs_until = std::max(hosted.hangs_until, now() + random_.between(5'000, life().faults.hang));
  } else {
    hosted.hangs_until = std::numeric_limits<Micros>::max();
    if (life().items) {
      judge().items().hangs(base(hosted.shell).id());
    }
    const auto next = life().workers[random_.between(0, life().workers.size() - 1)];
    schedule(now() + random_.between(1'000, 60'000), WorkerJoins{next});
  }
  if (traces()) {
    say(base(hosted.shell).name() + " hangs");
  }
}

// For ever, and so another one comes in its place.
void Cluster::carry_out(const WorkerWithholds& /*what*/) {
  const auto live = live_workers();
  if (live.empty() || run_.lead_over) {
    return;
  }
  auto& worker = std::get<WorkerShell>(processes_[live[random_.between(0, live.size() - 1)]].shell);
  ++faults_seen_;
  worker.withhold();
  const auto next = life().workers[random_.between(0, life().workers.size() - 1)];
  schedule(now() + random_.between(1'000, 60'000), WorkerJoins{next});
  if (traces()) {
    say(worker.name() + " sends no contribution any more");
  }
}

void Cluster::carry_out(const WorkerLeaves& /*what*/) {
  const auto live = live_workers();
  if (live.empty() || run_.lead_over) {
    return;
  }
  auto& worker = std::get<WorkerShell>(processes_[live[random_.between(0, live.size() - 1)]].shell);
  ++faults_seen_;
  facts().note(Fact::left);
  worker.leave(*this);
  const auto next = life().workers[random_.between(0, life().workers.size() - 1)];
  schedule(now() + random_.between(1'000, 60'000), WorkerJoins{next});
}

// ---- links

void Cluster::carry_out(const LinkCut& /*what*/) {
  const auto live = live_workers();
  if (!live.empty()) {
    const auto worker = live[random_.between(0, live.size() - 1)];
    const auto chosen = random_.between(0, life().all_lanes());
    const auto peer = chosen == 0 ? roster_.lead->id() : roster_.lanes[chosen - 1]->id();
    const auto until = now() + random_.between(5'000, life().faults.cut);
    network_.cut(worker, peer, until);
    network_.cut(peer, worker, until);
    if (traces()) {
      say("the link between " + process(worker).name() + " and " + process(peer).name() + " is cut");
    }
  }
}

// Between a worker and a lane or the lead, or between a lane and the lead.
std::pair<ProcessId, ProcessId> Cluster::any_link() {
  const auto live = live_workers();
  const auto chosen = static_cast<std::uint32_t>(random_.between(0, life().all_lanes()));
  const auto other = random_.between(0, live.size());
  const auto peer = chosen == 0 ? roster_.lead->id() : roster_.lanes[chosen - 1]->id();
  return {other < live.size() ? live[other] : roster_.lead->id(), peer};
}

void Cluster::carry_out(const LinkCutOneWay& /*what*/) {
  auto [from, to] = any_link();
  if (random_.chance(0.5)) {
    std::swap(from, to);
  }
  network_.cut(from, to, now() + random_.between(5'000, life().faults.cut));
  facts().note(Fact::one_way);
  if (traces()) {
    say("nothing comes from " + process(from).name() + " to " + process(to).name());
  }
}

void Cluster::carry_out(const LinkSlows& /*what*/) {
  const auto [from, to] = any_link();
  const auto more = random_.between(life().delay_high, life().faults.slow_link);
  network_.slow(from, to, more);
  network_.slow(to, from, more);
  ++faults_seen_;
  facts().note(Fact::slow_link);
  if (traces()) {
    say("the link between " + process(from).name() + " and " + process(to).name() + " is slow from now on");
  }
}

// ---- whoever stands still, and strangers

void Cluster::carry_out(const ShardStands& /*what*/) {
  // One draw to a statement: the order of arguments is the compiler's.
  const auto shard = static_cast<std::uint32_t>(random_.between(0, life().shards - 1));
  const auto until = now() + random_.between(5'000, life().faults.shard_pause);
  ++faults_seen_;
  for (std::uint32_t lane = 0; lane < life().lanes; ++lane) {
    stand(*roster_.lanes[shard * life().lanes + lane], until);
  }
  if (shard == 0) {
    stand(*roster_.lead, until);
  }
  if (traces()) {
    say("shard " + std::to_string(shard) + " stands still");
  }
}

void Cluster::carry_out(const LeadStands& /*what*/) {
  ++faults_seen_;
  stand(*roster_.lead, now() + random_.between(5'000, life().faults.lead_pause));
  say("the lead stands still");
}

void Cluster::carry_out(const StrangerSpeaks& /*what*/) {
  const SessionId session = kFirstStranger + random_.between(0, 5);
  const auto lane = static_cast<std::uint32_t>(random_.between(0, life().all_lanes()));
  if (lane == life().all_lanes()) {
    if (roster_.lead->alive()) {
      roster_.lead->receive_strange(*this, session, strange_to_lead(random_));
    }
  } else if (roster_.lanes[lane]->alive()) {
    const bool says_hello = random_.chance(0.8);
    roster_.lanes[lane]->receive_strange(*this, session, says_hello,
                                         strange_to_lane(random_, life(), lane, roster_.lanes[lane]->life().timeline));
  }
}

// Of few sessions, so that those that are barred come again.
void Cluster::carry_out(const RootsPushed& /*what*/) {
  const SessionId session = kFirstImpostor + random_.between(0, 1);
  auto& lane = *roster_.lanes[random_.between(0, life().all_lanes() - 1)];
  const auto steps = static_cast<std::uint32_t>(random_.between(1, 4));
  const bool of_all = random_.chance(0.7);
  if (lane.alive()) {
    lane.receive_roots(*this, session, steps, of_all);
  }
}

void Cluster::carry_out(const FalseResults& /*what*/) {
  const SessionId session = kFirstImpostor + 2 + random_.between(0, 1);
  if (roster_.lead->alive()) {
    roster_.lead->receive_false_results(*this, session);
  }
  if (now() < life().faults.until) {
    schedule(now() + random_.between(2'000, 20'000), FalseResults{});
  }
}

}  // namespace ballast::simulation
