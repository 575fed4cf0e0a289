// Who waits for whom: chains of waits, and deadlocks. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ballast {

struct Wait {
  std::string who;                     // "lead", "worker a", "shard 1 lane 0"
  std::string whom;                    // likewise, or what nobody waits in: "its user", "room on a disk"
  std::string what;                    // it waits for of that; empty: nothing more is told
  std::optional<double> seconds = {};  // for so long already; none: that is not told
};

struct WaitChain {
  std::vector<Wait> waits;   // each waits for who waits in the next one; of a deadlock the last waits for the first
  bool is_deadlock = false;  // no wait leads from it to what waits for nobody
  std::size_t others = 0;    // that wait for its end besides, by whatever ways
};

// Deadlocks first; then, for each end that waits for nobody, the way to it from whoever is furthest from it, the
// longest first. A cycle that a wait leads out of is no deadlock: what that leads to is the reason. The time is that of
// looking at all waits once for each end.
std::vector<WaitChain> chains_of(const std::vector<Wait>& waits);

// "lead waits for shard 1 lane 0 (its report, for 4.1 s), which waits for ..."
std::string chain_text(const WaitChain& chain);

}  // namespace ballast
