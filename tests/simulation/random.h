// All chance of a life comes from one of these, seeded with the life's number: the same on every machine.
#pragma once

#include <cstdint>

namespace ballast::simulation {

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    return mix(state_);
  }
  // Uniform in [low, high].
  std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + next() % (high - low + 1); }
  bool chance(double probability) { return static_cast<double>(next() >> 11U) * 0x1p-53 < probability; }

  static std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
  }

 private:
  std::uint64_t state_;
};

}  // namespace ballast::simulation
