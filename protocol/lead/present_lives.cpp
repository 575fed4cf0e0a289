#include "protocol/lead/present_lives.h"

#include <algorithm>

namespace ballast {

PresentLives::PresentLives(const Ledger& ledger) {
  list(ledger);
  lives_ = listed_;
}

void PresentLives::list(const Ledger& ledger) {
  const auto known = std::min(ledger.incarnations.size(), ledger.databases.size());
  for (std::uint32_t shard = 0; shard < known; ++shard) {
    listed_[shard] = {ledger.incarnations[shard], ledger.databases[shard], 0};
  }
}

const PresentLives::Life* PresentLives::find(std::uint32_t shard) const {
  const auto known = lives_.find(shard);
  return known == lives_.end() ? nullptr : &known->second;
}

bool PresentLives::may_be_present(std::uint32_t shard, Incarnation incarnation, const DatabaseLife& database,
                                  Micros now, Micros silence) const {
  const auto* present = find(shard);
  return present == nullptr || present->incarnation == incarnation || follows(database, present->database) ||
         now > present->heard_at + silence || is_of_the_ledger(shard, incarnation, database);
}

bool PresentLives::is_of_the_ledger(std::uint32_t shard, Incarnation incarnation, const DatabaseLife& database) const {
  const auto listed = listed_.find(shard);
  return listed != listed_.end() && lives_.at(shard).database.database != listed->second.database.database &&
         (incarnation == listed->second.incarnation || follows(database, listed->second.database));
}

void PresentLives::take(std::uint32_t shard, Incarnation incarnation, const DatabaseLife& database, Micros now) {
  lives_[shard] = {incarnation, database, now};
}

void PresentLives::heard(std::uint32_t shard, Micros now) { lives_.at(shard).heard_at = now; }

void PresentLives::begin(Micros now) {
  for (auto& [shard, life] : lives_) {
    life.heard_at = now;
  }
}

void PresentLives::forgive(Micros slept) {
  for (auto& [shard, life] : lives_) {
    life.heard_at += slept;
  }
}

}  // namespace ballast
