// Servers that are told to end, and go when they may.
#include <algorithm>

#include "tests/simulation/cluster.h"
#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

void Cluster::carry_out(const ServerTold& /*what*/) {
  const auto shard = static_cast<std::uint32_t>(random_.between(0, life().shards - 1));
  const bool takes_another = random_.chance(life().faults.double_departure);
  tell_to_end(shard, time_away());
  if (takes_another) {
    tell_to_end((shard + 1) % life().shards, time_away());
  }
}

void Cluster::tell_to_end(std::uint32_t shard, Micros away) {
  const auto first = shard * life().lanes;
  const auto told = roster_.lanes[first]->life();
  if (run_.lead_over || is_stillborn() || !roster_.lanes[first]->alive()) {
    return;
  }
  ++faults_seen_;
  disturb();
  storage_.away[shard] = away;
  if (traces()) {
    say("shard " + std::to_string(shard) + "'s server is told to end");
  }
  judge().told_to_end(told);
  // Its clock may run at half the rate, and it may stand still meanwhile, more than once.
  const Micros pauses = (life().faults.shard_pauses + 1) * life().faults.shard_pause;
  schedule(now() + 2 * life().hold_patience + pauses + 10 * life().tick, ServerGone{shard, told.incarnation});
  for (std::uint32_t lane = 0; lane < life().lanes; ++lane) {
    auto& shell = *roster_.lanes[first + lane];
    if (shell.alive()) {  // another lane may have let it go at once
      shell.depart(*this);
    }
  }
}

void Cluster::carry_out(const ServerGone& what) {
  const auto& newest = *roster_.lanes[what.shard * life().lanes];
  require(run_.lead_over || newest.life().incarnation != what.life || !newest.alive(),
          "a server that was told to end is still there when its patience is over");
}

// A server that is told to end is, until the last of its lanes has gone.
bool Cluster::is_up(std::uint32_t shard) const {
  const auto first = roster_.lanes.begin() + shard * life().lanes;
  return std::any_of(first, first + life().lanes, [](const auto* lane) { return lane->alive(); });
}

// With the last of its lanes, unless one lets all go.
void Cluster::departs(const LaneLife& left, bool whole, bool lost) {
  const auto shard = shard_of(left);
  if (whole || !is_up(shard)) {
    note_departure(shard, whole, lost);
    server_departs(shard);
  }
}

void Cluster::note_departure(std::uint32_t shard, bool whole, bool lost) {
  if (life().journaled()) {
    return facts().note(Fact::departed_journaled, !lost);
  }
  facts().note(Fact::departed_without, lost);
  facts().note(Fact::departed_at_once, whole && !lost);
  if (!whole) {
    facts().note(Fact::departed);
    facts().note(Fact::departed_lead, shard == 0);
    facts().note(Fact::two_departed, judge().departed_in(world_.ledger.ledger.timeline) > 1);
    facts().note(Fact::departed_in_pause, world_.ledger.ledger.pause == Pause::held);
  }
}

// All that it had promised is synced: not even a power cut takes anything.
void Cluster::server_departs(std::uint32_t shard) {
  if (traces()) {
    say("shard " + std::to_string(shard) + "'s server ends");
  }
  take_down(shard);
  auto& disk = world_.disks.present[shard];
  disk.journal.kill(random_);
  disk.journal.synced = disk.journal.written;
  if (random_.chance(0.3)) {
    disk.lose_unsynced();
    const auto loss = disk.journal.cut_power(random_, false);
    require(!loss.committed && !loss.synced, "a server that was told to end has left something unsynced");
  }
  disturb();
  revive_shard(shard, storage_.away[shard]);
}

}  // namespace ballast::simulation
