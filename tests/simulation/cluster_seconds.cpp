// Servers beside a shard's own: another one with an empty disk, its own without its disk, and its own with other
// initial weights.
#include <utility>

#include "tests/simulation/cluster.h"

namespace ballast::simulation {

// The shard's server is started with an empty disk; after a while somebody notices, and starts it with its own.
void Cluster::come_back_without_volume(std::uint32_t shard) {
  facts().note(Fact::lost_volume);
  start_second(shard);
  // At times as long as another database has to wait, and not as long as patience lasts.
  const bool has_snapshot = !world_.ledger.ledger.complete.empty() && world_.ledger.ledger.complete.back().step > 0;
  const bool is_long = !life().faults.clock_skew && random_.chance(has_snapshot ? 0.9 : 0.3);
  const auto span = is_long ? random_.between(1'000'000, Faults::kVolumeAway) : random_.between(5'000, 200'000);
  schedule(now() + span, VolumeReturns{shard, run_.begins});
}

void Cluster::carry_out(const VolumeReturns& what) {
  const auto shard = what.shard;
  if (run_.lead_over || what.run != run_.begins || is_up(shard)) {
    return;
  }
  if (random_.chance(0.7)) {
    end_second(shard);  // by some it is forgotten
  }
  if (traces()) {
    say("shard " + std::to_string(shard) + " starts again, with its own disk");
  }
  start_shard(shard);
  disturb();
}

void Cluster::carry_out(const SecondStarts& /*what*/) {
  // Whoever hosts another lead is of another job.
  const auto shard = static_cast<std::uint32_t>(random_.between(1, life().shards - 1));
  const auto stays = random_.between(5'000, 400'000);
  if (run_.lead_over) {
    return;
  }
  start_second(shard);
  if (random_.chance(0.5)) {
    schedule(now() + stays, SecondEnds{shard, run_.begins});
  }
}

void Cluster::carry_out(const SecondEnds& what) {
  if (what.run == run_.begins) {
    end_second(what.shard);
  }
}

void Cluster::start_second(std::uint32_t shard) {
  if (roster_.seconds[shard * life().lanes] != nullptr) {
    return;
  }
  ++faults_seen_;
  if (traces()) {
    say("another server starts as shard " + std::to_string(shard) + ", with an empty disk");
  }
  make_disk(world_.disks.others[shard], shard);
  start_lanes(shard, world_.disks.others[shard].life.database, roster_.seconds);
}

void Cluster::end_second(std::uint32_t shard) {
  auto& disk = world_.disks.others[shard];
  for (std::uint32_t lane = shard * life().lanes; lane < (shard + 1) * life().lanes; ++lane) {
    if (roster_.seconds[lane] != nullptr && roster_.seconds[lane]->alive()) {
      roster_.seconds[lane]->die();
      disk.journal.kill(random_);
      if (traces()) {
        say("the other server of shard " + std::to_string(shard) + " dies");
      }
    }
  }
}

bool Cluster::is_second(const Shell& shell) const {
  const auto* lane = std::get_if<LaneShell>(&shell);
  return lane != nullptr &&
         world_.disks.present[lane->life().lane / life().lanes].life.database != lane->life().database.database;
}

void Cluster::turned_away(ProcessId lane, const std::string& why) {
  if (lane == kNobody || !is_alive(lane)) {
    return;  // it was said before a later life began
  }
  judge().turned_away(disks(), *lane_life(lane));
  facts().note(Fact::second_server);
  facts().note(Fact::lacked_base, why.find("lacks the snapshot") != std::string::npos);
}

void Cluster::take_listed(const Ledger& ledger) {
  for (std::uint32_t shard = 0; shard < ledger.databases.size(); ++shard) {
    if (ledger.databases[shard].database != world_.disks.others[shard].life.database) {
      continue;
    }
    facts().note(Fact::displaced);
    std::swap(world_.disks.present[shard], world_.disks.others[shard]);
    for (std::uint32_t lane = shard * life().lanes; lane < (shard + 1) * life().lanes; ++lane) {
      std::swap(roster_.lanes[lane], roster_.seconds[lane]);
      judge().lane_starts(disks(), roster_.lanes[lane]->life());
    }
    if (!roster_.lanes[shard * life().lanes]->alive()) {
      revive_shard(shard, time_away());
    }
  }
}

// ---- servers with other initial weights

void Cluster::carry_out(const OtherFileNoticed& what) {
  const auto process = lane_id(what.lane.lane, what.lane.incarnation);
  if (!run_.lead_over && what.run == run_.begins && world_.ledger.ledger.timeline == 0 && is_alive(process)) {
    end_server(what.lane);
  }
}

// Whoever starts it again may give it another file.
void Cluster::end_server(const LaneLife& lane) {
  const auto shard = shard_of(lane);
  const auto first = shard * life().lanes;
  if (roster_.seconds[first] != nullptr && roster_.seconds[first]->life().incarnation == lane.incarnation) {
    return end_second(shard);
  }
  if (roster_.lanes[first]->life().incarnation != lane.incarnation || is_stillborn()) {
    return;
  }
  if (traces()) {
    say("shard " + std::to_string(shard) + "'s server is ended, to be given another file");
  }
  take_down(shard);
  if (faulty()) {
    disturb();
  }
  revive_shard(shard, time_away());
}

void Cluster::refused_weights(ProcessId lane) {
  const auto& weights = judge().refused_weights(*lane_life(lane));
  facts().note(Fact::refused_weights);
  facts().note(Fact::refused_right, weights == kOwnFile);
}

}  // namespace ballast::simulation
