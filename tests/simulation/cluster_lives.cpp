// Processes that crash and come back.
#include <algorithm>

#include "tests/simulation/cluster.h"

namespace ballast::simulation {

void Cluster::carry_out(const ShardFuse& /*what*/) {
  const auto shard = static_cast<std::uint32_t>(random_.between(0, life().shards - 1));
  const auto& lane = *roster_.lanes[shard * life().lanes + random_.between(0, life().lanes - 1)];
  const auto actions = static_cast<std::uint32_t>(random_.between(1, 12));
  if (!run_.lead_over && lane.alive()) {
    processes_[lane.id()].fuse = actions;
  }
}

void Cluster::carry_out(const LeadFuse& /*what*/) {
  const auto actions = static_cast<std::uint32_t>(random_.between(1, 12));
  if (!run_.lead_over && roster_.lead->alive()) {
    processes_[roster_.lead->id()].fuse = actions;
  }
}

void Cluster::acted(ProcessId process) {
  auto& fuse = processes_[process].fuse;
  if (fuse == 0 || --fuse > 0) {
    return;
  }
  if (const auto* lane = lane_life(process)) {
    crash_lane(*lane);
  } else {
    crash_lead();
  }
}

void Cluster::wrote_chunk(const LaneLife& lane) {
  if (faulty() && random_.chance(life().faults.snapshot_crash)) {
    crash_lane(lane);
  }
}

void Cluster::crash_lane(const LaneLife& lane) {
  if (is_stillborn()) {
    return;
  }
  const auto shard = shard_of(lane);
  if (roster_.lanes[lane.lane]->life().incarnation != lane.incarnation) {
    return end_second(shard);
  }
  const bool takes_another = random_.chance(life().faults.double_crash);
  const auto away = time_away();
  crash_shard(shard, away);
  if (takes_another) {
    const auto other = (shard + 1) % life().shards;
    if (roster_.lanes[other * life().lanes]->alive()) {
      facts().note(Fact::double_crash);
      crash_shard(other, time_away());
    }
  }
}

// Stopped before its first timeline: who has left does not come back, and nobody's patience has begun yet.
bool Cluster::is_stillborn() const {
  return world_.ledger.ledger.timeline == 0 && roster_.lead->core().phase() >= Lead::Phase::finished;
}

void Cluster::crash_lead() {
  if (is_stillborn()) {
    return;
  }
  if (roster_.lanes[0]->alive()) {
    crash_shard(0, time_away());
  }
}

void Cluster::take_down(std::uint32_t shard) {
  for (std::uint32_t lane = 0; lane < life().lanes; ++lane) {
    roster_.lanes[shard * life().lanes + lane]->die();
  }
  if (shard == 0) {
    kill_lead();
  }
}

void Cluster::kill_lead() {
  // A stop is not durable, nor is a failure: some may have left for it, and the next lead does not know why.
  const auto phase = roster_.lead->core().phase();
  run_.said_to_some =
      run_.said_to_some || (roster_.lead->alive() && (phase == Lead::Phase::stopped || phase == Lead::Phase::failed));
  roster_.lead->die();
}

void Cluster::crash_shard(std::uint32_t shard, Micros away) {
  ++faults_seen_;
  facts().note(Fact::shard_crash);
  facts().note(Fact::with_lead, shard == 0);
  disturb();
  const auto& first = *roster_.lanes[shard * life().lanes];
  facts().note(Fact::held_for_nothing, first.alive() && judge().is_told_to_end(first.life().incarnation));
  take_down(shard);
  if (traces()) {
    say("shard " + std::to_string(shard) + " crashes");
  }
  const bool is_power_cut = life().journaled() ? random_.chance(life().faults.power_cut) : life().faults.loses_unsynced;
  if (is_power_cut) {
    facts().note(Fact::lost_unsynced, world_.disks.present[shard].lose_unsynced());
  }
  lose_journal(shard, is_power_cut);
  revive_shard(shard, away);
}

void Cluster::lose_journal(std::uint32_t shard, bool is_power_cut) {
  auto& journal = world_.disks.present[shard].journal;
  if (!is_power_cut) {
    return journal.kill(random_);
  }
  const auto loss = journal.cut_power(random_, life().faults.lying_disk);
  if (loss.committed) {
    facts().note(Fact::lost_commits);
    facts().note(Fact::lying_disk, loss.synced);
    judge().lost(disks(), shard);
    if (traces()) {
      say("shard " + std::to_string(shard) + "'s journal has lost what was committed after " +
          std::to_string(journal.written));
    }
  }
}

void Cluster::revive_shard(std::uint32_t shard, Micros away) {
  schedule(now() + away, ShardReturns{shard, roster_.lanes[shard * life().lanes]->life().incarnation});
}

// Unless the shard has come back already, or another server has become it.
void Cluster::carry_out(const ShardReturns& what) {
  const auto shard = what.shard;
  const auto& newest = *roster_.lanes[shard * life().lanes];
  if (run_.lead_over || run_.dead_shard == std::optional(shard) || newest.alive() ||
      newest.life().incarnation != what.last) {
    return;
  }
  if (traces()) {
    say("shard " + std::to_string(shard) + " starts again");
  }
  if (shard == 0) {
    start_lead();
  } else if (faulty() && random_.chance(life().faults.lost_volume)) {
    return come_back_without_volume(shard);
  }
  start_shard(shard);
  disturb();
}

void Cluster::carry_out(const ShardDies& /*what*/) {
  // Before the timeline is recorded a shard is not part of the job yet.
  if (!roster_.lead->alive() || roster_.lead->core().phase() == Lead::Phase::assembling) {
    if (!run_.lead_over && now() < life().faults.until) {
      schedule(now() + 5'000, ShardDies{});
    }
    return;
  }
  if (!run_.lead_over && roster_.lead->core().phase() < Lead::Phase::finishing) {
    kill_shard(static_cast<std::uint32_t>(random_.between(0, life().shards - 1)));
  }
}

void Cluster::kill_shard(std::uint32_t shard) {
  ++faults_seen_;
  run_.dead_shard = shard;
  disturb();
  take_down(shard);
  if (traces()) {
    say("shard " + std::to_string(shard) + " dies");
  }
}

}  // namespace ballast::simulation
