// What one turn of a loop may take on. A loop that is busy for long is silent for as long: to its peers it is gone.
#pragma once

#include <cstdint>

#include "common/net/clock.h"

namespace ballast {

// Bounded in bytes, for what each of them costs (a contribution is read, summed and applied), and in time, for machines
// on which they cost more. One thread.
class Turn {
 public:
  static constexpr std::uint64_t kBytes = 8U << 20U;
  // Of a payload, that cost what a byte of a header does: four of these may name a chunk that is to be looked up and
  // answered.
  static constexpr std::uint64_t kHeaderByte = 64;
  static constexpr Micros kTime = 10'000;

  void begin(Micros now) {
    began_ = now;
    bytes_ = 0;
  }
  [[nodiscard]] Micros began() const { return began_; }
  void spend(std::uint64_t bytes) { bytes_ += bytes; }
  void spend_header(std::uint64_t bytes) { spend(kHeaderByte * bytes); }
  // Whether what is left has to wait for the next turn. Whoever asks has done at least one thing before, so that
  // nobody's work waits for ever behind another's.
  [[nodiscard]] bool over() const { return over(monotonic_micros()); }
  [[nodiscard]] bool over(Micros now) const { return bytes_ >= kBytes || now >= began_ + kTime; }

 private:
  Micros began_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace ballast
