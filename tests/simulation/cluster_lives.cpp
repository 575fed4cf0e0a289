// Processes that end and come back, by a crash or by the user's word.
#include <algorithm>
#include <utility>

#include "tests/simulation/cluster.h"
#include "tests/simulation/shells.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

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

void Cluster::crash_lane(const LaneLife& life) {
  if (is_stillborn()) {
    return;
  }
  const auto shard = life.lane / life_.lanes;
  if (lanes_[life.lane]->life().incarnation != life.incarnation) {
    return end_second(shard);
  }
  const bool takes_another = random_.chance(life_.faults.double_crash);
  const auto away = time_away();
  crash_shard(shard, away);
  if (takes_another) {
    const auto other = (shard + 1) % life_.shards;
    if (lanes_[other * life_.lanes]->alive()) {
      facts_.note(Fact::double_crash);
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
  facts_.note(Fact::lead_crash);
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
  facts_.note(Fact::shard_crash);
  facts_.note(Fact::with_lead, (shard == 0 && life_.lead_in_shard_0));
  calm_since_ = std::max(calm_since_, now_);
  take_down(shard);
  if (traces()) {
    say("shard " + std::to_string(shard) + " crashes");
  }
  const bool is_power_cut = life_.journaled() ? random_.chance(life_.faults.power_cut) : life_.faults.loses_unsynced;
  if (is_power_cut) {
    facts_.note(Fact::lost_unsynced, disks_.present[shard].lose_unsynced());
  }
  lose_journal(shard, is_power_cut);
  revive_shard(shard, away);
}

void Cluster::lose_journal(std::uint32_t shard, bool is_power_cut) {
  auto& journal = disks_.present[shard].journal;
  if (!is_power_cut) {
    return journal.kill(random_);
  }
  const auto loss = journal.cut_power(random_, life_.faults.lying_disk);
  if (loss.committed) {
    facts_.note(Fact::lost_commits);
    facts_.note(Fact::lying_disk, loss.synced);
    judge_.items()->lost(shard);
    if (traces()) {
      say("shard " + std::to_string(shard) + "'s journal has lost what was committed after " +
          std::to_string(journal.written));
    }
  }
}

// Unless another server has become the shard meanwhile, and lives: its database is locked.
void Cluster::revive_shard(std::uint32_t shard, Micros away) {
  schedule(now_ + away, kNobody, [this, shard, run = run_begins_] {
    if (lead_over_ || run != run_begins_ || dead_shard_ == std::optional(shard) ||
        lanes_[shard * life_.lanes]->alive()) {
      return;
    }
    if (traces()) {
      say("shard " + std::to_string(shard) + " starts again");
    }
    if (shard == 0 && life_.lead_in_shard_0) {
      start_lead();
    } else if (faulty() && random_.chance(life_.faults.lost_volume)) {
      return come_back_without_volume(shard);
    }
    start_shard(shard);
    calm_since_ = std::max(calm_since_, now_);
  });
}

// ---- a second server for a shard

// The shard's server is started with an empty disk; after a while somebody notices, and starts it with its own.
void Cluster::come_back_without_volume(std::uint32_t shard) {
  facts_.note(Fact::lost_volume);
  start_second(shard);
  // At times as long as another database has to wait, and not as long as patience lasts.
  const bool has_snapshot = !ledger_.ledger.complete.empty() && ledger_.ledger.complete.back().step > 0;
  const bool is_long = !life_.faults.clock_skew && random_.chance(has_snapshot ? 0.9 : 0.3);
  const auto span = is_long ? random_.between(1'000'000, 1'200'000) : random_.between(5'000, 200'000);
  schedule(now_ + span, kNobody, [this, shard, run = run_begins_] {
    if (lead_over_ || run != run_begins_ || lanes_[shard * life_.lanes]->alive()) {
      return;
    }
    if (random_.chance(0.7)) {
      end_second(shard);  // by some it is forgotten
    }
    if (traces()) {
      say("shard " + std::to_string(shard) + " starts again, with its own disk");
    }
    start_shard(shard);
    calm_since_ = std::max(calm_since_, now_);
  });
}

void Cluster::schedule_second() {
  const auto latest = random_.chance(0.8) ? std::min<Micros>(100'000, life_.faults.until) : life_.faults.until;
  schedule(random_.between(1, latest), kNobody, [this] {
    const auto first = life_.lead_in_shard_0 ? 1U : 0U;  // whoever hosts another lead is of another job
    const auto shard = static_cast<std::uint32_t>(random_.between(first, life_.shards - 1));
    const auto stays = random_.between(5'000, 400'000);
    if (lead_over_) {
      return;
    }
    start_second(shard);
    if (random_.chance(0.5)) {
      schedule(now_ + stays, kNobody, [this, shard, run = run_begins_] {
        if (run == run_begins_) {
          end_second(shard);
        }
      });
    }
  });
}

void Cluster::start_second(std::uint32_t shard) {
  if (seconds_[shard * life_.lanes] != nullptr) {
    return;
  }
  ++faults_seen_;
  if (traces()) {
    say("another server starts as shard " + std::to_string(shard) + ", with an empty disk");
  }
  make_disk(disks_.others[shard], shard);
  start_lanes(shard, disks_.others[shard].life.database, seconds_);
}

void Cluster::end_second(std::uint32_t shard) {
  auto& disk = disks_.others[shard];
  for (std::uint32_t lane = shard * life_.lanes; lane < (shard + 1) * life_.lanes; ++lane) {
    if (seconds_[lane] != nullptr && seconds_[lane]->alive()) {
      seconds_[lane]->die();
      disk.journal.kill(random_);
      if (traces()) {
        say("the other server of shard " + std::to_string(shard) + " dies");
      }
    }
  }
}

// ---- servers with other initial weights

// Whoever starts it again may give it another file.
void Cluster::end_server(const LaneLife& life) {
  const auto shard = life.lane / life_.lanes;
  const auto first = shard * life_.lanes;
  if (seconds_[first] != nullptr && seconds_[first]->life().incarnation == life.incarnation) {
    return end_second(shard);
  }
  if (lanes_[first]->life().incarnation != life.incarnation || is_stillborn()) {
    return;
  }
  if (traces()) {
    say("shard " + std::to_string(shard) + "'s server is ended, to be given another file");
  }
  take_down(shard);
  if (faulty()) {
    calm_since_ = std::max(calm_since_, now_);
  }
  revive_shard(shard, time_away());
}

void Cluster::refused_weights(ProcessId lane) {
  const auto& weights = judge_.refused_weights(*lane_life(lane));
  facts_.note(Fact::refused_weights);
  facts_.note(Fact::refused_right, weights == kOwnFile);
}

bool Cluster::is_second(const Process& process) const {
  const auto* lane = dynamic_cast<const LaneShell*>(&process);
  return lane != nullptr &&
         disks_.present[lane->life().lane / life_.lanes].life.database != lane->life().database.database;
}

void Cluster::turned_away(ProcessId lane, const std::string& why) {
  if (lane == kNobody || !is_alive(lane)) {
    return;  // it was said before a later life began
  }
  judge_.turned_away(*lane_life(lane));
  facts_.note(Fact::second_server);
  facts_.note(Fact::lacked_base, why.find("lacks the snapshot") != std::string::npos);
}

void Cluster::take_listed(const Ledger& ledger) {
  for (std::uint32_t shard = 0; shard < ledger.databases.size(); ++shard) {
    if (ledger.databases[shard].database != disks_.others[shard].life.database) {
      continue;
    }
    facts_.note(Fact::displaced);
    std::swap(disks_.present[shard], disks_.others[shard]);
    for (std::uint32_t lane = shard * life_.lanes; lane < (shard + 1) * life_.lanes; ++lane) {
      std::swap(lanes_[lane], seconds_[lane]);
      judge_.lane_starts(lanes_[lane]->life());
    }
    if (!lanes_[shard * life_.lanes]->alive()) {
      revive_shard(shard, time_away());
    }
  }
}

// ---- the user

void Cluster::command(Control::Command command) {
  if (!lead_over_ && lead_->alive()) {
    judge_.commanded(command, lead_->core().phase());
    lead_->receive_command(command);
  }
}

// Says it until the lead says that the job goes on, as the command line does.
void Cluster::let_go_on() {
  if (lead_over_) {
    return;
  }
  command(Control::Command::resume);
  calm_since_ = std::max(calm_since_, now_);
  const auto phase = lead_->core().status().phase;
  if (lead_->alive() && phase != "paused" && phase != "pausing") {
    const bool is_over = lead_->core().phase() >= Lead::Phase::finished;
    return require(is_over || ledger_.ledger.pause == Pause::none,
                   "the job is said to go on, and its ledger knows of a pause");
  }
  schedule(now_ + 40'000, kNobody, [this] { let_go_on(); });
}

void Cluster::schedule_stop() {
  schedule(random_.between(2'000, std::min<Micros>(150'000, life_.faults.until)), kNobody, [this] {
    say("the user stops the job");
    command(Control::Command::stop);
  });
}

void Cluster::schedule_late_stop() {
  schedule(now_ + 1'000, kNobody, [this] {
    if (lead_over_) {
      return;
    }
    if (!lead_->alive() || lead_->core().phase() != Lead::Phase::finishing) {
      return schedule_late_stop();
    }
    ++faults_seen_;
    facts_.note(Fact::late_stop);
    calm_since_ = std::max(calm_since_, now_);
    say("the user stops the job, which is about to finish");
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
    const bool is_paused = lead_->alive() && lead_->core().status().phase == "paused";
    if (is_paused) {
      judge_.called_paused();
    }
    facts_.note(Fact::paused, is_paused);
    say("the user lets the job go on");
    let_go_on();
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
                          non_finite_ == NonFinite::halt;
  const bool could_not_write =
      failure.find("could not be written") != std::string::npos && facts_.has(Fact::snapshot_failed);
  const bool met_nobody = said_to_some_ && failure.find("gave up waiting for") != std::string::npos;
  if (!was_stopped && !has_halted && !could_not_write && !met_nobody) {
    throw Violation("lead ends with: " + failure);
  }
  const bool out_of_patience =
      was_stopped && lead_->core().status().trouble.find("(cluster.stop_patience)") != std::string::npos;
  judge_.stopped_well(ledger_, out_of_patience);
  facts_.note(Fact::resumed);
  facts_.note(Fact::stopped_without, out_of_patience);
  if (has_halted) {
    facts_.note(Fact::halted);
    non_finite_ = NonFinite::skip;
    judge_.resumes_with(non_finite_);
  }
  ++faults_seen_;
  resume_scheduled_ = true;
  schedule(now_ + random_.between(1'000, 20'000), kNobody, [this] {
    resume_scheduled_ = false;
    say("the job is resumed");
    calm_since_ = std::max(calm_since_, now_);
    start_cluster();
    if (ledger_.ledger.pause != Pause::none) {
      let_go_on();
    }
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
    say("shard " + std::to_string(shard) + " stands still");
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
    say("shard " + std::to_string(shard) + " dies");
  }
}

}  // namespace ballast::simulation
