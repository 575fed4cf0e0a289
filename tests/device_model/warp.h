// The lanes of one warp, which take turns: each runs to its next shuffle or to its end.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>

namespace ballast::device_model {

inline constexpr unsigned kWarp = 32;

// Runs body(lane) in every lane.
void run_warp(const std::function<void(unsigned)>& body);

// For a lane's body: what the other lane hands in at the same shuffle.
std::uint64_t exchange(std::uint64_t bits, unsigned from);
unsigned current_lane();

template <typename T>
T exchange(T value, unsigned from) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = exchange(bits, from);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace ballast::device_model
