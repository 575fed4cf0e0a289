// What goes wrong in a life between and in its processes: links, clocks, pauses, strangers.
#include <algorithm>
#include <set>
#include <utility>

#include "tests/simulation/cluster.h"
#include "tests/simulation/shells.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

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
  facts_.note(Fact::late_join, lead_->core().phase() >= Lead::Phase::training);
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
    facts_.note(Fact::one_way);
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
    facts_.note(Fact::slow_link);
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
    facts_.note(Fact::left);
    worker->leave();
    const auto next = life_.workers[random_.between(0, life_.workers.size() - 1)];
    schedule(now_ + random_.between(1'000, 60'000), kNobody, [this, next] { join(next); });
  });
}

// Whoever the job belongs to, somebody who fits it is there at the end.
void Cluster::schedule_each_kind() {
  std::set<std::pair<std::string, std::string>> kinds;
  for (const auto& worker : life_.workers) {
    if (kinds.emplace(worker.data, worker.arithmetic).second) {
      schedule(life_.faults.until, kNobody, [this, worker] { join(worker); });
    }
  }
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
  if (life_.mixed) {
    schedule_each_kind();
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
  for (std::uint32_t i = 0; i < faults.second_servers; ++i) {
    schedule_second();
  }
  for (std::uint32_t i = 0; i < faults.stops; ++i) {
    schedule_stop();
  }
  if (faults.late_stop) {
    schedule_late_stop();
  }
  for (std::uint32_t i = 0; i < faults.user_pauses; ++i) {
    schedule_user_pause();
  }
}

}  // namespace ballast::simulation
