#include "tests/simulation/cluster.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tests/simulation/shells.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

constexpr Micros kEnough = 6'000'000;         // after the last fault every life is over by then
constexpr Micros kEnoughSkewed = 18'000'000;  // if its clocks run at half their rate, and its patience is longer

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

// ---- processes

Process::Process(Cluster& cluster, ProcessId id, std::string name)
    : cluster_(cluster),
      id_(id),
      name_(std::move(name)),
      offset_(cluster.life().random_clocks ? cluster.random().between(1, 1U << 30U) : 1'000'000) {
  if (cluster.life().faults.clock_skew) {
    rate_ = 0.01 * static_cast<double>(cluster.random().between(50, 200));
  }
}

Micros Process::clock() const {
  return rate_ == 1 ? cluster_.now() + offset_
                    : static_cast<Micros>(static_cast<double>(cluster_.now()) * rate_) + offset_;
}

Micros Process::next_tick() {
  const auto tick = cluster_.life().tick;
  return cluster_.life().random_clocks ? cluster_.random().between(tick / 2, tick + tick / 2) : tick;
}

void Process::end(const std::string& failure) {
  alive_ = false;
  ended_ = true;
  failure_ = failure;
  if (cluster_.traces()) {
    cluster_.say(name_ + (failure.empty() ? " ends" : " ends: " + failure));
  }
}

// ---- a life

Cluster::Cluster(const LifeSpec& life)
    : life_(life),
      random_(life.seed),
      disks_(life.shards),
      judge_(life, disks_),
      disk_busy_until_(life.shards),
      non_finite_(life.non_finite) {
  for (ChunkId chunk = 0; chunk < life.statistics(); ++chunk) {
    disks_[life.chunks[chunk].lane / life.lanes].write({0, 0}, chunk, initial(life, chunk));
  }
  for (auto& disk : disks_) {
    disk.sync();
  }
}

Cluster::~Cluster() = default;

LifeFacts Cluster::run() {
  calm_since_ = life_.faults.until;
  start_cluster();
  for (const auto& worker : life_.workers) {
    schedule(worker.joins_at, kNobody, [this, worker] { join(worker); });
  }
  schedule_faults();
  while (!is_over()) {
    require(!queue_.empty(), "nothing can happen any more, and the life is not over");
    auto event = queue_.top();
    queue_.pop();
    now_ = event.time;
    dispatch(std::move(event));
    check_progress();
  }
  conclude();
  return facts_;
}

void Cluster::start_cluster() {
  run_begins_ = processes_.size();
  lead_over_ = false;
  said_to_some_ = false;
  lanes_.assign(life_.all_lanes(), nullptr);
  start_lead();
  for (std::uint32_t shard = 0; shard < life_.shards; ++shard) {
    start_shard(shard);
  }
}

void Cluster::start_lead() {
  const auto id = static_cast<ProcessId>(processes_.size());
  auto lead = std::make_unique<LeadShell>(*this, id);
  lead_ = lead.get();
  ++leads_;
  processes_.push_back(std::move(lead));
  judge_.lead_starts();
  lead_->tick();
  schedule_tick(id);
  if (said_to_some_) {
    for (const auto& worker : life_.workers) {
      schedule(now_ + worker.joins_at, kNobody, [this, worker] { join(worker); });
    }
  }
}

void Cluster::start_shard(std::uint32_t shard) {
  const auto incarnation = ++last_incarnation_;
  disk_busy_until_[shard] = now_;
  disks_[shard].journal.kill(random_);  // if it has not crashed but left
  for (std::uint32_t i = 0; i < life_.lanes; ++i) {
    const auto lane = shard * life_.lanes + i;
    const auto id = static_cast<ProcessId>(processes_.size());
    auto shell = std::make_unique<LaneShell>(*this, id, lane, incarnation);
    lanes_[lane] = shell.get();
    processes_.push_back(std::move(shell));
    judge_.lane_starts(lanes_[lane]->life());
    lanes_[lane]->tick();
    schedule_tick(id);
  }
}

bool Cluster::is_lead(ProcessId process) const {
  return dynamic_cast<const LeadShell*>(processes_[process].get()) != nullptr;
}

ProcessId Cluster::lead_id() const { return lead_->id(); }

const LaneLife* Cluster::lane_life(ProcessId process) const {
  const auto* lane = dynamic_cast<const LaneShell*>(processes_[process].get());
  return lane == nullptr ? nullptr : &lane->life();
}

ProcessId Cluster::lane_id(std::uint32_t lane, Incarnation incarnation) const {
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    const auto* life = lane_life(process);
    if (life != nullptr && life->lane == lane && life->incarnation == incarnation) {
      return process;
    }
  }
  return kNobody;
}

Micros Cluster::storage_delay(std::uint32_t shard, Micros span) {
  auto& busy = disk_busy_until_[shard];
  busy = std::max(busy, now_) + some(span);
  return busy - now_;
}

void Cluster::tell_committed(std::uint32_t shard, std::size_t through) {
  const auto& journal = disks_[shard].journal;
  for (std::uint32_t i = 0; i < life_.lanes; ++i) {
    auto* lane = lanes_[shard * life_.lanes + i];
    std::uint64_t ticket = 0;
    for (std::size_t record = 0; record < through; ++record) {
      ticket = journal.records[record].process == lane->id() ? journal.records[record].ticket : ticket;
    }
    if (ticket > 0) {
      later(*lane, some(200), [lane, ticket, through] { lane->committed(ticket, through); });
    }
  }
}

bool Cluster::was_disturbed() const {
  return leads_ > 1 || facts_.left || facts_.lost_commits || judge_.facts().rollback ||
         lead_->core().status().lost_workers > 0;
}

bool Cluster::crashes_in_snapshot() { return faulty() && random_.chance(life_.faults.snapshot_crash); }

bool Cluster::write_fails() {
  if (!faulty() || !random_.chance(life_.faults.write_failure)) {
    return false;
  }
  ++faults_seen_;
  facts_.snapshot_failed = true;
  return true;
}

void Cluster::dispatch(Event event) {
  if (event.process != kNobody) {
    auto& process = *processes_[event.process];
    if (!process.alive()) {
      return;
    }
    if (process.paused_until() > now_) {
      event.time = process.paused_until();
      return queue_.push(std::move(event));
    }
  }
  ++facts_.events;
  event.what();
}

void Cluster::schedule(Micros time, ProcessId process, std::function<void()> what) {
  queue_.push(Event{time, time, sequence_++, process, std::move(what)});
}

void Cluster::schedule_tick(ProcessId process) {
  schedule(now_ + processes_[process]->next_tick(), process, [this, process] {
    processes_[process]->tick();
    schedule_tick(process);
  });
}

void Cluster::later(const Process& whose, Micros delay, std::function<void()> what) {
  schedule(now_ + delay, whose.id(), std::move(what));
}

void Cluster::say(const std::string& line) const {
  if (trace) {
    char time[32];
    std::snprintf(time, sizeof time, "%5llu.%03llu  ", static_cast<unsigned long long>(now_ / 1000),
                  static_cast<unsigned long long>(now_ % 1000));
    trace(time + line);
  }
}

// ---- the network

void Cluster::send(const Process& from, ProcessId to, Message message, std::optional<Payload> payload) {
  if (to == kNobody) {
    return;
  }
  const auto fate = this->fate(from.id(), to, message);
  if (traces()) {
    say_message(from, to, message, fate.copies);
  }
  if (fate.copies == 0) {
    return;
  }
  const auto shared = std::make_shared<const Message>(std::move(message));
  for (std::uint32_t copy = 0; copy < fate.copies; ++copy) {
    schedule(arrival(from.id(), to, fate), to,
             [this, sender = from.id(), to, shared, payload] { processes_[to]->receive(sender, *shared, payload); });
  }
}

void Cluster::say_message(const Process& from, ProcessId to, const Message& message, std::uint32_t copies) {
  if (brief) {
    if (is_sign_of_life(message)) {
      return;
    }
    if (const auto* assign = std::get_if<Assign>(&message);
        assign != nullptr && std::exchange(orders_said_[to], assign->order) == assign->order) {
      return;
    }
  }
  const char* note = copies == 0 ? "  -- lost" : copies > 1 ? "  -- twice" : "";
  say(from.name() + " -> " + processes_[to]->name() + ": " + words(message) + note);
}

Fate Cluster::fate(ProcessId from, ProcessId to, const Message& message) {
  if (script) {
    return script(from, to, message).value_or(Fate{});
  }
  Fate fate;
  if (!faulty()) {
    return fate;
  }
  if (is_cut(from, to) || random_.chance(life_.faults.loss)) {
    fate.copies = 0;
  } else if (random_.chance(life_.faults.duplication)) {
    fate.copies = 2;
  }
  faults_seen_ += fate.copies != 1 ? 1 : 0;
  return fate;
}

Micros Cluster::arrival(ProcessId from, ProcessId to, const Fate& fate) {
  auto& last = last_arrival_[{from, to}];
  if (script) {
    last = std::max(last, now_ + (fate.delay != 0 ? fate.delay : life_.delay_low));
    return last;
  }
  Micros time = now_ + random_.between(life_.delay_low, life_.delay_high);
  if (faulty() && !slow_links_.empty()) {
    const auto slow = slow_links_.find({from, to});
    time += slow == slow_links_.end() ? 0 : random_.between(0, slow->second);
  }
  if (faulty() && random_.chance(life_.faults.slowness)) {
    ++faults_seen_;
    time += random_.between(0, life_.faults.slow_delay);
  }
  if (faulty() && random_.chance(life_.faults.reordering)) {
    ++faults_seen_;
    return time;
  }
  last = std::max(last, time);
  return last;
}

// ---- faults

std::vector<ProcessId> Cluster::live_workers() const {
  std::vector<ProcessId> live;
  for (const auto* worker : workers_) {
    if (worker->alive()) {
      live.push_back(worker->id());
    }
  }
  return live;
}

void Cluster::join(LifeWorker worker) {
  if (lead_over_) {
    return;
  }
  const auto id = static_cast<ProcessId>(processes_.size());
  auto shell = std::make_unique<WorkerShell>(*this, id, worker);
  workers_.push_back(shell.get());
  processes_.push_back(std::move(shell));
  facts_.late_join = facts_.late_join || lead_->core().phase() >= Lead::Phase::training;
  if (traces()) {
    say(processes_.back()->name() + " starts");
  }
  processes_[id]->tick();
  schedule_tick(id);
}

void Cluster::crash(ProcessId worker) {
  ++faults_seen_;
  processes_[worker]->die();
  if (traces()) {
    say(processes_[worker]->name() + " crashes");
  }
}

void Cluster::schedule_crash() {
  schedule(random_.between(5'000, life_.faults.until), kNobody, [this] {
    const auto live = live_workers();
    if (!live.empty() && !lead_over_) {
      crash(live[random_.between(0, live.size() - 1)]);
      const auto worker = life_.workers[random_.between(0, life_.workers.size() - 1)];
      schedule(now_ + random_.between(1'000, 120'000), kNobody, [this, worker] { join(worker); });
    }
  });
}

void Cluster::schedule_pause() {
  schedule(random_.between(5'000, life_.faults.until), kNobody, [this] {
    const auto live = live_workers();
    if (!live.empty()) {
      auto& worker = *processes_[live[random_.between(0, live.size() - 1)]];
      worker.pause(now_ + random_.between(5'000, life_.faults.worker_pause));
      ++faults_seen_;
      if (traces()) {
        say(worker.name() + " stands still");
      }
    }
  });
}

void Cluster::schedule_cut() {
  schedule(random_.between(2'000, life_.faults.until), kNobody, [this] {
    const auto live = live_workers();
    if (!live.empty()) {
      const auto worker = live[random_.between(0, live.size() - 1)];
      const auto chosen = random_.between(0, life_.all_lanes());
      const auto peer = chosen == 0 ? lead_->id() : lanes_[chosen - 1]->id();
      const auto until = now_ + random_.between(5'000, life_.faults.cut);
      cut_until_[{worker, peer}] = until;
      cut_until_[{peer, worker}] = until;
      if (traces()) {
        say("the link between " + processes_[worker]->name() + " and " + processes_[peer]->name() + " is cut");
      }
    }
  });
}

// Between a worker and a lane or the lead, or between a lane and the lead.
std::pair<ProcessId, ProcessId> Cluster::any_link() {
  const auto live = live_workers();
  const auto chosen = static_cast<std::uint32_t>(random_.between(0, life_.all_lanes()));
  const auto other = random_.between(0, live.size());
  const auto peer = chosen == 0 ? lead_->id() : lanes_[chosen - 1]->id();
  return {other < live.size() ? live[other] : lead_->id(), peer};
}

void Cluster::schedule_one_way_cut() {
  schedule(random_.between(2'000, std::min<Micros>(200'000, life_.faults.until)), kNobody, [this] {
    auto [from, to] = any_link();
    if (random_.chance(0.5)) {
      std::swap(from, to);
    }
    cut_until_[{from, to}] = now_ + random_.between(5'000, life_.faults.cut);
    facts_.one_way = true;
    if (traces()) {
      say("nothing comes from " + processes_[from]->name() + " to " + processes_[to]->name());
    }
  });
}

void Cluster::schedule_slow_link() {
  schedule(random_.between(1'000, std::min<Micros>(100'000, life_.faults.until)), kNobody, [this] {
    const auto [from, to] = any_link();
    const auto more = random_.between(life_.delay_high, life_.faults.slow_link);
    slow_links_[{from, to}] = more;
    slow_links_[{to, from}] = more;
    ++faults_seen_;
    facts_.slow_link = true;
    if (traces()) {
      say("the link between " + processes_[from]->name() + " and " + processes_[to]->name() + " is slow from now on");
    }
  });
}

void Cluster::schedule_leave() {
  schedule(random_.between(5'000, std::min<Micros>(200'000, life_.faults.until)), kNobody, [this] {
    const auto live = live_workers();
    if (live.empty() || lead_over_) {
      return;
    }
    auto* worker = dynamic_cast<WorkerShell*>(processes_[live[random_.between(0, live.size() - 1)]].get());
    ++faults_seen_;
    facts_.left = true;
    worker->leave();
    const auto next = life_.workers[random_.between(0, life_.workers.size() - 1)];
    schedule(now_ + random_.between(1'000, 60'000), kNobody, [this, next] { join(next); });
  });
}

void Cluster::schedule_stranger() {
  schedule(random_.between(2'000, life_.faults.until), kNobody, [this] {
    const SessionId session = kFirstStranger + random_.between(0, 5);
    const auto lane = static_cast<std::uint32_t>(random_.between(0, life_.all_lanes()));
    if (lane == life_.all_lanes()) {
      if (lead_->alive()) {
        lead_->receive_strange(session, strange_to_lead(random_));
      }
    } else if (lanes_[lane]->alive()) {
      const bool says_hello = random_.chance(0.8);
      lanes_[lane]->receive_strange(session, says_hello,
                                    strange_to_lane(random_, life_, lane, lanes_[lane]->life().timeline));
    }
  });
}

bool Cluster::is_cut(ProcessId from, ProcessId to) const {
  const auto link = cut_until_.find({from, to});
  return link != cut_until_.end() && now_ < link->second;
}

void Cluster::schedule_faults() {
  const auto& faults = life_.faults;
  for (std::uint32_t i = 0; i < faults.crashes; ++i) {
    schedule_crash();
  }
  for (std::uint32_t i = 0; i < faults.worker_pauses; ++i) {
    schedule_pause();
  }
  for (std::uint32_t i = 0; i < faults.cuts; ++i) {
    schedule_cut();
  }
  for (std::uint32_t i = 0; i < faults.one_way_cuts; ++i) {
    schedule_one_way_cut();
  }
  for (std::uint32_t i = 0; i < faults.slow_links; ++i) {
    schedule_slow_link();
  }
  for (std::uint32_t i = 0; i < faults.leaves; ++i) {
    schedule_leave();
  }
  for (std::uint32_t i = 0; i < faults.strangers; ++i) {
    schedule_stranger();
  }
  for (std::uint32_t i = 0; i < faults.shard_pauses; ++i) {
    schedule(random_.between(2'000, faults.until), kNobody, [this] {
      // One draw to a statement: the order of arguments is the compiler's.
      const auto shard = static_cast<std::uint32_t>(random_.between(0, life_.shards - 1));
      pause_shard(shard, random_.between(5'000, life_.faults.shard_pause));
    });
  }
  for (std::uint32_t i = 0; i < faults.lead_pauses; ++i) {
    schedule(random_.between(2'000, faults.until), kNobody, [this] {
      ++faults_seen_;
      lead_->pause(now_ + random_.between(5'000, life_.faults.lead_pause));
      say("the lead stands still");
    });
  }
  if (faults.death) {
    schedule_death(random_.between(5'000, faults.until));
  }
  for (std::uint32_t i = 0; i < faults.shard_crashes; ++i) {
    schedule_shard_crash();
  }
  for (std::uint32_t i = 0; i < faults.lead_crashes; ++i) {
    schedule_lead_crash();
  }
  for (std::uint32_t i = 0; i < faults.stops; ++i) {
    schedule_stop();
  }
  for (std::uint32_t i = 0; i < faults.user_pauses; ++i) {
    schedule_user_pause();
  }
}

// ---- crashes and further lives

Micros Cluster::time_away() { return random_.between(1'000, life_.faults.away); }

void Cluster::schedule_shard_crash() {
  // Most lives are over long before the faults end.
  const auto latest = random_.chance(0.7) ? std::min<Micros>(120'000, life_.faults.until) : life_.faults.until;
  schedule(random_.between(2'000, latest), kNobody, [this] {
    const auto shard = static_cast<std::uint32_t>(random_.between(0, life_.shards - 1));
    auto& lane = *lanes_[shard * life_.lanes + random_.between(0, life_.lanes - 1)];
    const auto actions = static_cast<std::uint32_t>(random_.between(1, 12));
    if (!lead_over_ && lane.alive()) {
      lane.light_fuse(actions);
    }
  });
}

void Cluster::schedule_lead_crash() {
  const auto latest = random_.chance(0.7) ? std::min<Micros>(120'000, life_.faults.until) : life_.faults.until;
  schedule(random_.between(2'000, latest), kNobody, [this] {
    const auto actions = static_cast<std::uint32_t>(random_.between(1, 12));
    if (!lead_over_ && lead_->alive()) {
      lead_->light_fuse(actions);
    }
  });
}

void Cluster::crash_lane(std::uint32_t lane) {
  if (is_stillborn()) {
    return;
  }
  const auto shard = lane / life_.lanes;
  const bool takes_another = random_.chance(life_.faults.double_crash);
  const auto away = time_away();
  crash_shard(shard, away);
  if (takes_another) {
    const auto other = (shard + 1) % life_.shards;
    if (lanes_[other * life_.lanes]->alive()) {
      facts_.double_crash = true;
      crash_shard(other, time_away());
    }
  }
}

// Stopped before its first timeline: who has left does not come back, and nobody's patience has begun yet.
bool Cluster::is_stillborn() const {
  return ledger_.ledger.timeline == 0 && lead_->core().phase() >= Lead::Phase::finished;
}

void Cluster::crash_lead() {
  if (is_stillborn()) {
    return;
  }
  if (life_.lead_in_shard_0) {
    if (lanes_[0]->alive()) {
      crash_shard(0, time_away());
    }
    return;
  }
  ++faults_seen_;
  facts_.lead_crash = true;
  calm_since_ = std::max(calm_since_, now_);
  kill_lead();
  if (traces()) {
    say("lead crashes");
  }
  schedule(now_ + time_away(), kNobody, [this] {
    if (!lead_over_ && !lead_->alive()) {
      say("lead starts again");
      start_lead();
      calm_since_ = std::max(calm_since_, now_);
    }
  });
}

void Cluster::take_down(std::uint32_t shard) {
  for (std::uint32_t lane = 0; lane < life_.lanes; ++lane) {
    lanes_[shard * life_.lanes + lane]->die();
  }
  if (shard == 0 && life_.lead_in_shard_0) {
    kill_lead();
  }
}

void Cluster::kill_lead() {
  // A stop is not durable, nor is a failure: some may have left for it, and the next lead does not know why.
  const auto phase = lead_->core().phase();
  said_to_some_ = said_to_some_ || (lead_->alive() && (phase == Lead::Phase::stopped || phase == Lead::Phase::failed));
  lead_->die();
}

void Cluster::crash_shard(std::uint32_t shard, Micros away) {
  ++faults_seen_;
  facts_.shard_crash = true;
  facts_.with_lead = facts_.with_lead || (shard == 0 && life_.lead_in_shard_0);
  calm_since_ = std::max(calm_since_, now_);
  take_down(shard);
  if (traces()) {
    say("shard " + number(shard) + " crashes");
  }
  const bool is_power_cut = life_.journaled() ? random_.chance(life_.faults.power_cut) : life_.faults.loses_unsynced;
  if (is_power_cut) {
    facts_.lost_unsynced = disks_[shard].lose_unsynced() || facts_.lost_unsynced;
  }
  lose_journal(shard, is_power_cut);
  revive_shard(shard, away);
}

void Cluster::lose_journal(std::uint32_t shard, bool is_power_cut) {
  auto& journal = disks_[shard].journal;
  if (!is_power_cut) {
    return journal.kill(random_);
  }
  const auto loss = journal.cut_power(random_, life_.faults.lying_disk);
  if (loss.committed) {
    facts_.lost_commits = true;
    facts_.lying_disk = facts_.lying_disk || loss.synced;
    judge_.items()->lost(shard);
    if (traces()) {
      say("shard " + number(shard) + "'s journal has lost what was committed after " + number(journal.written));
    }
  }
}

void Cluster::revive_shard(std::uint32_t shard, Micros away) {
  schedule(now_ + away, kNobody, [this, shard, run = run_begins_] {
    if (lead_over_ || run != run_begins_ || dead_shard_ == std::optional(shard)) {
      return;
    }
    if (traces()) {
      say("shard " + number(shard) + " starts again");
    }
    if (shard == 0 && life_.lead_in_shard_0) {
      start_lead();
    }
    start_shard(shard);
    calm_since_ = std::max(calm_since_, now_);
  });
}

// ---- the user

void Cluster::command(Control::Command command) {
  if (!lead_over_ && lead_->alive()) {
    lead_->receive_command(command);
  }
}

void Cluster::schedule_stop() {
  schedule(random_.between(2'000, std::min<Micros>(150'000, life_.faults.until)), kNobody, [this] {
    say("the user stops the job");
    command(Control::Command::stop);
  });
}

void Cluster::schedule_user_pause() {
  const auto begin = random_.between(2'000, std::min<Micros>(60'000, life_.faults.until));
  // Often before the pause is complete.
  const auto end = begin + random_.between(2'000, random_.chance(0.5) ? 20'000 : 200'000);
  schedule(begin, kNobody, [this] {
    say("the user pauses the job");
    command(Control::Command::pause);
  });
  schedule(end, kNobody, [this] {
    facts_.paused = facts_.paused || lead_->core().status().phase == "paused";
    say("the user lets the job go on");
    command(Control::Command::resume);
    calm_since_ = std::max(calm_since_, now_);
  });
}

// A job that was stopped, or failed for a reason that goes away, is started again from what is durable.
void Cluster::restart_if_resumable() {
  if (dead_shard_ || resume_scheduled_ || lead_->core().phase() == Lead::Phase::finished) {
    return;
  }
  const auto& failure = lead_->failure();
  const bool was_stopped = lead_->core().phase() == Lead::Phase::stopped;
  const bool has_halted = failure.find("is not finite") != std::string::npos && !life_.non_finite_gradients.empty() &&
                          non_finite_ == NonFinitePolicy::halt;
  const bool could_not_write = failure.find("could not be written") != std::string::npos && facts_.snapshot_failed;
  const bool met_nobody = said_to_some_ && failure.find("gave up waiting for") != std::string::npos;
  if (!was_stopped && !has_halted && !could_not_write && !met_nobody) {
    throw Violation("lead ends with: " + failure);
  }
  judge_.stopped_well(ledger_);
  facts_.resumed = true;
  if (has_halted) {
    facts_.halted = true;
    non_finite_ = NonFinitePolicy::skip;
    judge_.resumes_with(non_finite_);
  }
  ++faults_seen_;
  resume_scheduled_ = true;
  schedule(now_ + random_.between(1'000, 20'000), kNobody, [this] {
    resume_scheduled_ = false;
    say("the job is resumed");
    calm_since_ = std::max(calm_since_, now_);
    start_cluster();
    for (const auto& worker : life_.workers) {
      schedule(now_ + worker.joins_at, kNobody, [this, worker] { join(worker); });
    }
  });
}

void Cluster::pause_shard(std::uint32_t shard, Micros span) {
  ++faults_seen_;
  for (std::uint32_t lane = 0; lane < life_.lanes; ++lane) {
    lanes_[shard * life_.lanes + lane]->pause(now_ + span);
  }
  if (shard == 0 && life_.lead_in_shard_0) {
    lead_->pause(now_ + span);
  }
  if (traces()) {
    say("shard " + number(shard) + " stands still");
  }
}

void Cluster::schedule_death(Micros time) {
  schedule(time, kNobody, [this] {
    // Before the timeline is recorded a shard is not part of the job yet.
    if (!lead_->alive() || lead_->core().phase() == Lead::Phase::assembling) {
      if (!lead_over_ && now_ < life_.faults.until) {
        schedule_death(now_ + 5'000);
      }
      return;
    }
    if (!lead_over_ && lead_->core().phase() < Lead::Phase::finishing) {
      kill_shard(static_cast<std::uint32_t>(random_.between(0, life_.shards - 1)));
    }
  });
}

void Cluster::kill_shard(std::uint32_t shard) {
  ++faults_seen_;
  dead_shard_ = shard;
  calm_since_ = std::max(calm_since_, now_);
  take_down(shard);
  if (traces()) {
    say("shard " + number(shard) + " dies");
  }
}

// ---- the end

bool Cluster::lead_died() const { return life_.lead_in_shard_0 && dead_shard_ == std::optional<std::uint32_t>(0); }

bool Cluster::is_over() {
  if (!lead_over_ && (lead_->ended() || (lead_died() && !lead_->alive()))) {
    lead_over_ = true;
    for (auto* lane : lanes_) {
      if (!lane->has_heard(lead_->id())) {
        lane->die();  // it waits for a lead to come up, as it should: any order of starts is allowed
      }
    }
    for (auto* worker : workers_) {
      if (!worker->alive()) {
        continue;
      }
      if (!lead_died() && lead_->believes_in(worker->id()) && worker->paused_until() <= now_) {
        continue;  // the lead had to see to it that this one learns of the end
      }
      worker->excuse();
      if (!worker->has_heard(lead_->id())) {
        worker->die();  // it knows of no job yet and goes on asking; nobody is left to answer
      }
    }
  }
  if (!lead_over_ || resume_scheduled_ ||
      std::any_of(processes_.begin() + static_cast<std::ptrdiff_t>(run_begins_), processes_.end(),
                  [](const auto& process) { return process->alive(); })) {
    return false;
  }
  restart_if_resumable();
  return !resume_scheduled_;
}

void Cluster::check_progress() const {
  const Micros enough = life_.faults.clock_skew ? kEnoughSkewed : kEnough;
  if (now_ <= calm_since_ + enough) {
    return;
  }
  std::string still;
  for (const auto& process : processes_) {
    still += process->alive() ? (still.empty() ? "" : ", ") + process->name() : "";
  }
  throw Violation("the life is not over " + number(enough / 1000) + " ms after the last fault; the lead is in phase " +
                  lead_->core().status().phase + " at step " + number(lead_->core().status().step) +
                  "; still there: " + still);
}

void Cluster::conclude() {
  const auto status = lead_->core().status();
  facts_.backup = status.backups > 0;
  facts_.lost_worker = status.lost_workers > 0;
  facts_.calm = faults_seen_ == 0;
  facts_.time = now_;
  const auto& durable = judge_.facts();
  facts_.rollback = durable.rollback;
  facts_.skipped = durable.skipped;
  facts_.gradient_rollback = durable.rolled_back_for_gradient;
  facts_.snapshot_missed = durable.missed;
  facts_.early_stop = durable.early_stop;
  facts_.kept_best = durable.kept_best;
  gather_items();
  facts_.clipped = !life_.norms.empty() && (durable.rollback || facts_.lead_crash);
  for (const auto& process : processes_) {
    if (const auto* lane = dynamic_cast<const LaneShell*>(process.get())) {
      lane->gather(facts_);
    }
  }
  for (const auto* worker : workers_) {
    facts_.retry = facts_.retry || worker->core().retries() > 0;
  }
  if (dead_shard_) {
    facts_.death = true;
    // One that had written its part of the last snapshot before it died is not missed.
    if (!ledger_.ledger.finished) {
      return conclude_after_death();
    }
  }
  for (std::size_t i = run_begins_; i < processes_.size(); ++i) {
    const auto& process = processes_[i];
    if (process->failure().empty()) {
      continue;
    }
    const auto* worker = dynamic_cast<const WorkerShell*>(process.get());
    if (said_to_some_) {
      continue;  // it left for what a lead had said that then crashed
    }
    if (worker == nullptr || !worker->excused()) {
      throw Violation(process->name() + " ends with: " + process->failure());
    }
    facts_.unheard_end = true;
  }
  judge_.finished_well(status, ledger_);
  for (std::uint32_t lane = 0; lane < life_.all_lanes(); ++lane) {
    require(!lanes_[lane]->ended() || disks_[lane / life_.lanes].finished == ledger_.ledger.finished,
            "a shard has left before the end was durable with it");
  }
}

void Cluster::gather_items() {
  facts_.skewed = life_.faults.clock_skew;
  const auto* items = judge_.items();
  if (items == nullptr) {
    return;
  }
  facts_.async = life_.items->bound == 0;
  facts_.ssp = !facts_.async;
  facts_.journaled = life_.journaled();
  facts_.resumed_within = judge_.facts().resumed_within;
  facts_.replayed = items->replayed();
  facts_.kept_in_crash = facts_.journaled && facts_.shard_crash && ledger_.ledger.rollbacks == 0;
  facts_.broken_mark = items->built_upon_lost();
  facts_.survived_loss = facts_.lost_commits && ledger_.ledger.rollbacks == 0;
  facts_.grant_delayed = items->grant_delayed();
  facts_.two_stale = items->largest_staleness() >= 2;
  facts_.item_skipped = items->skipped();
}

void Cluster::conclude_after_death() const {
  if (!lead_died() && lead_->failure().find("shard " + number(*dead_shard_) + " ") == std::string::npos) {
    throw Violation("shard " + number(*dead_shard_) + " died, and the lead ends with: \"" + lead_->failure() + "\"");
  }
  for (std::uint32_t lane = 0; lane < life_.all_lanes(); ++lane) {
    if (lane / life_.lanes != *dead_shard_ && lanes_[lane]->ended() && lanes_[lane]->failure().empty()) {
      throw Violation(lanes_[lane]->name() + " ends as if the job had finished");
    }
  }
}

}  // namespace ballast::simulation
