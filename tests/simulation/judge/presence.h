// Judges which of the servers that say they are a shard the lead takes for it.
#pragma once

#include <cstdint>
#include <map>

#include "protocol/ids.h"
#include "protocol/lead/lead.h"
#include "protocol/ledger.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Every method throws Violation.
class PresenceJudge {
 public:
  explicit PresenceJudge(const LifeSpec& life)
      : least_silence_(life.shard_silence.floor / 2 - (life.tick + life.tick / 2)) {}

  void lead_starts(Micros now);
  // The lead has got a message of the database's server.
  void heard(std::uint64_t database, Micros now);
  // The shard's server is told that it is the shard.
  void confirmed(std::uint32_t shard, std::uint64_t database) { confirmed_[shard] = database; }
  // The ledger that is durable now names other databases than the one before.
  void listed(std::uint32_t shard, std::uint64_t before, std::uint64_t now_listed, Micros now);

 private:
  [[nodiscard]] Micros longest_silence(std::uint64_t database, Micros now) const;

  // When the lead last heard of a database's lanes, and the longest that it had not.
  struct Silence {
    Micros heard_at = 0;
    Micros longest = 0;
  };
  // The lead's clock may run at twice the time's rate; what it hears it takes to have been said at its last tick; and a
  // lead that stood still hears late what was said before.
  Micros least_silence_;
  std::map<std::uint64_t, Silence> silences_;         // by database, towards the lead that is
  std::map<std::uint32_t, std::uint64_t> confirmed_;  // the database that was last, by shard
  std::map<std::uint32_t, std::uint64_t> former_;     // the database before the one that the ledger lists, by shard
  Micros lead_began_ = 0;
};

}  // namespace ballast::simulation
