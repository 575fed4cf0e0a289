#include "common/numeric/philox.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace ballast {
namespace {

// kat_vectors of the authors' Random123 distribution.
TEST_CASE("philox4x32-10 gives the published known answers") {
  CHECK(philox4x32_10({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("every field of the key gives another stream") {
  const RandomKey base{1, Purpose::weights, 2, 3};
  const std::array<RandomKey, 7> keys = {base,
                                         RandomKey{2, Purpose::weights, 2, 3},
                                         RandomKey{1 + (std::uint64_t{1} << 32U), Purpose::weights, 2, 3},
                                         RandomKey{1, Purpose::shuffle, 2, 3},
                                         RandomKey{1, Purpose::weights, 3, 3},
                                         RandomKey{1, Purpose::weights, 2 + (std::uint64_t{1} << 32U), 3},
                                         RandomKey{1, Purpose::weights, 2, 4}};
  std::set<PhiloxBlock> blocks;
  for (const RandomKey& key : keys) {
    blocks.insert(RandomStream(key).block(0));
  }
  CHECK(blocks.size() == keys.size());
  CHECK(RandomStream(base).block(0) != RandomStream(base).block(std::uint64_t{1} << 32U));
}

TEST_CASE("a draw is a word of its block, in any order") {
  const RandomKey key{7, Purpose::gradient, 11, 13};
  const RandomStream stream(key);
  for (std::uint64_t index = 40; index-- > 0;) {
    CHECK(stream.draw(index) == stream.block(index / 4)[static_cast<std::size_t>(index % 4)]);
    CHECK(draw(key, index) == stream.draw(index));
  }
}

TEST_CASE("uniform floats stay in [0, 1)") {
  CHECK(uniform_from(0) == 0.0F);
  CHECK(uniform_from(0xffffffff) == 0x0.ffffffp0F);
  CHECK(uniform_from(0x80000000) == 0.5F);
  const RandomStream stream({3, Purpose::probe, 0, 0});
  double sum = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    sum += static_cast<double>(stream.uniform(static_cast<std::uint64_t>(i)));
  }
  CHECK(sum / kDraws == doctest::Approx(0.5).epsilon(0.01));
}

TEST_CASE("bounded integers reach every value about equally often") {
  CHECK(bounded_from(0, 10) == 0);
  CHECK(bounded_from(0xffffffff, 10) == 9);
  CHECK(bounded_from(0xffffffff, 0) == 0);
  CHECK(bounded_from(0xffffffff, 0xffffffff) == 0xfffffffe);
  const RandomStream stream({5, Purpose::shuffle, 0, 0});
  constexpr std::uint32_t kBound = 7;
  std::array<int, kBound> seen{};
  for (std::uint64_t i = 0; i < 70000; ++i) {
    const std::uint32_t value = stream.bounded(i, kBound);
    REQUIRE(value < kBound);
    ++seen[value];
  }
  for (const int count : seen) {
    CHECK(count > 9500);
    CHECK(count < 10500);
  }
}

}  // namespace
}  // namespace ballast
