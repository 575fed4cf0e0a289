// What the lives of one or more jobs have shown, in numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/simulation/facts.h"

namespace ballast::simulation {

inline constexpr std::size_t kCoreCount = 3;

// Plain, for it lies in memory that several processes see.
struct Tally {
  std::uint64_t lives = 0;  // in which a fault took effect
  std::uint64_t calm = 0;   // others: judged, but not counted
  std::uint64_t events = 0;
  std::uint64_t time = 0;
  std::uint64_t longest = 0;
  std::uint64_t facts[kFactCount] = {};
  std::uint64_t transitions[kCoreCount][kMostStates][kMostStates] = {};

  void count(const LifeFacts& facts);
  void add(const Tally& other);
};

// Prints it. Returns whether everything that matters has happened often enough.
bool report(const Tally& all, std::uint64_t first_seed, double seconds);

}  // namespace ballast::simulation
