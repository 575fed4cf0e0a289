// The judge of cuts: what the ledger says of an item job's history is so, and nobody goes on before it says so.
#pragma once

#include <set>

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/judge/item_histories.h"
#include "tests/simulation/judge/shown.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Of a journaled job; of others it asks nothing. Every method that may find something wrong throws Violation.
class CutsJudge {
 public:
  explicit CutsJudge(const LifeSpec& life) : life_(life) {}

  // The lead gives its ledger out to be written; until it is durable nobody is let go on beyond its cut.
  void ledger_given(const Ledger& ledger) { given_ = ledger; }
  void lead_starts() { given_ = durable_; }
  void planned(const Plan& plan) const;
  // A life of a shard is told the newest cut, durable or not.
  void confirmed(const Confirm& confirm) const;
  // The cut of `ledger`, which is durable now, is one: each chunk has had exactly the items before it, and unless a
  // disk lies, no power cut takes any of them.
  void ledger_durable(const ItemHistories& histories, const Disks& disks, const Ledger& ledger);
  // Of a snapshot that is taken: a durable ledger has ordered it.
  void taken(SnapshotId id) const;
  // A lane that serves has all items before the cut.
  void reported(const LaneLife& lane, const LaneReport& report) const;

 private:
  void check_chunk(const ItemHistories::Chunk& known, const Disk& disk, ChunkId chunk) const;

  const LifeSpec& life_;
  Ledger durable_;
  Ledger given_;
  std::set<SnapshotId> ordered_;
};

}  // namespace ballast::simulation
