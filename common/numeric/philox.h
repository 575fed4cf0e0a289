// Counter-based random numbers: Philox4x32-10 of J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel
// Random Numbers: As Easy as 1, 2, 3", SC'11. A draw is a function of (key, index) alone: nothing here has a state, so
// any process may make any draw, in any order, and get the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ballast {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// The ten rounds. `counter` and `key` are the paper's, least significant word first.
constexpr PhiloxBlock philox4x32_10(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t left = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t right = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(right >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(right),
               static_cast<std::uint32_t>(left >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(left)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

// What a stream of draws is for. The values are part of every job's bits: never renumber them.
enum class Purpose : std::uint32_t {
  weights = 1,   // a = 0, b = parameter
  shuffle = 2,   // a = epoch, b = 0
  glyphs = 3,    // a = example, b = split
  augment = 4,   // a = epoch, b = example
  gradient = 5,  // a = step, b = slot: emulated gradients
  probe = 6,     // a = example or 0, b = what is drawn: the probe slot behind a worker's fingerprint
  classes = 7,   // a = epoch, b = slot: the order of a slot's own examples
  dropout = 8,   // a = step, b = slot
};

struct RandomKey {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::weights;
  std::uint64_t a = 0;  // epoch, step or example
  std::uint32_t b = 0;  // slot, parameter or split
};

// [0, 1), a multiple of 2^-24: every value is exact.
constexpr float uniform_from(std::uint32_t bits) { return static_cast<float>(bits >> 8U) * 0x1p-24F; }

// [0, bound) by multiply-high. A value's probability is off by less than 2^-32; 0 for bound 0.
constexpr std::uint32_t bounded_from(std::uint32_t bits, std::uint32_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{bits} * bound) >> 32U);
}

// All draws of one RandomKey. Immutable, hence thread-safe. A key of 192 bits does not fit into Philox's key and
// counter beside a 64-bit index, so the seed first encrypts the rest of the key; the result is the stream's own key and
// the upper half of its counter.
class RandomStream {
 public:
  constexpr explicit RandomStream(const RandomKey& key)
      : stream_(philox4x32_10({static_cast<std::uint32_t>(key.purpose), static_cast<std::uint32_t>(key.a),
                               static_cast<std::uint32_t>(key.a >> 32U), key.b},
                              {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32U)})) {}

  // Draws 4 * index to 4 * index + 3, for those who need many.
  [[nodiscard]] constexpr PhiloxBlock block(std::uint64_t index) const {
    return philox4x32_10(
        {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32U), stream_[2], stream_[3]},
        {stream_[0], stream_[1]});
  }
  [[nodiscard]] constexpr std::uint32_t draw(std::uint64_t index) const {
    return block(index / 4)[static_cast<std::size_t>(index % 4)];
  }
  [[nodiscard]] constexpr float uniform(std::uint64_t index) const { return uniform_from(draw(index)); }
  [[nodiscard]] constexpr std::uint32_t bounded(std::uint64_t index, std::uint32_t bound) const {
    return bounded_from(draw(index), bound);
  }

 private:
  PhiloxBlock stream_;
};

// One draw of a key; a RandomStream is cheaper for several.
constexpr std::uint32_t draw(const RandomKey& key, std::uint64_t index) { return RandomStream(key).draw(index); }

}  // namespace ballast
