// Disks that are lost for good, and what is left of them among the copies.
#include <algorithm>

#include "tests/simulation/cluster.h"

namespace ballast::simulation {

// What the job may go back to by the rules, whole in the place.
std::vector<SnapshotId> Cluster::copies_to_go_on_from() const {
  const auto& ledger = world_.ledger.ledger;
  auto sets = world_.copies.whole_sets(kNamedRun);
  std::erase_if(sets, [&](SnapshotId id) {
    bool is_useless = ledger.copies.complete == SnapshotId{} || id > newest_named(ledger.copies);
    for (std::uint32_t shard = 0; shard < life().shards; ++shard) {
      is_useless = is_useless || world_.copies.undamaged(kNamedRun, id, shard) == nullptr;
    }
    return is_useless;
  });
  return sets;
}

// Those of later steps are ordered, and never taken; a lane without chunks has them all the same.
bool Cluster::writes_last_snapshot() const {
  return std::ranges::any_of(world_.disks.present, [&](const Disk& disk) {
    return !disk.snapshots.empty() && disk.snapshots.contains({disk.snapshots.rbegin()->first.timeline, life().steps});
  });
}

// As soon as it is not the loss of the job.
void Cluster::carry_out(const DiskLost& what) {
  const auto shard = static_cast<std::uint32_t>(random_.between(1, life().shards - 1));
  const bool takes_another = random_.chance(life().faults.double_loss);
  const bool damages = random_.chance(life().faults.damaged_copy);
  if (run_.lead_over || !faulty()) {
    return;
  }
  const bool is_there = roster_.lanes[shard * life().lanes]->alive();
  // At the end what is lost may be the job's end itself.
  const bool is_ending = roster_.lead->core().phase() >= Lead::Phase::evaluating || writes_last_snapshot();
  if (!is_there || is_ending || copies_to_go_on_from().empty()) {
    return schedule(now() + 10'000, what);
  }
  lose_shard(shard, time_away(), damages);
  const auto other = shard % (life().shards - 1) + 1;
  if (takes_another && other != shard && roster_.lanes[other * life().lanes]->alive()) {
    lose_shard(other, time_away());
  }
}

void Cluster::lose_shard(std::uint32_t shard, Micros away, bool damaged) {
  ++faults_seen_;
  facts().note(Fact::lost_disk);
  disturb();
  if (damaged) {
    damage_newest_copy(shard);
  }
  take_down(shard);
  if (traces()) {
    say("shard " + std::to_string(shard) + " crashes, and its disk is lost");
  }
  lose_disk(shard);
  revive_shard(shard, away);
}

void Cluster::lose_disk(std::uint32_t shard) {
  auto& disk = world_.disks.present[shard];
  make_disk(disk, shard);
  disk.was_lost = true;
  judge().lacks_base(shard);
}

// An older one has to be left, and to stay: damaged ones count as whole when old ones are removed.
void Cluster::damage_newest_copy(std::uint32_t shard) {
  const auto whole = world_.copies.whole_sets(kNamedRun);
  auto sets = copies_to_go_on_from();
  if (whole.size() > life().snapshots_kept) {
    std::erase_if(sets, [&](SnapshotId id) { return id < whole[whole.size() - life().snapshots_kept]; });
  }
  if (sets.size() < 2) {
    return;
  }
  facts().note(Fact::damaged_copy);
  world_.copies.damage(kNamedRun, sets.back(), shard);
  if (traces()) {
    say("shard " + std::to_string(shard) + "'s copy of its part of step " + std::to_string(sets.back().step) +
        " is damaged");
  }
}

}  // namespace ballast::simulation
