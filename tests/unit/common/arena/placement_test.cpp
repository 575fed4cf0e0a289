#include "common/arena/placement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "common/arena/resnet50.h"
#include "tests/unit/common/arena/random_parameters.h"

namespace ballast {
namespace {

std::uint64_t bytes_of(const std::vector<Chunk>& chunks) {
  std::uint64_t bytes = 0;
  for (const auto& chunk : chunks) {
    bytes += chunk.bytes();
  }
  return bytes;
}

std::vector<std::uint64_t> bytes_of_shards(const Placement& placement, std::uint32_t shards) {
  std::vector<std::uint64_t> bytes;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    bytes.push_back(bytes_of(placement.of_shard(shard)));
  }
  return bytes;
}

std::vector<std::uint64_t> bytes_of_lanes(const Placement& placement, std::uint32_t shard, std::uint32_t lanes) {
  std::vector<std::uint64_t> bytes;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    bytes.push_back(bytes_of(placement.of_lane(shard, lane)));
  }
  return bytes;
}

// The rule's guarantee: the owner that ends up fullest was the emptiest before its last chunk.
void check_balanced(const std::vector<std::uint64_t>& bytes) {
  const auto [least, most] = std::ranges::minmax(bytes);
  CHECK(most - least <= kMaxChunkBytes);
}

TEST_CASE("shards and lanes are balanced to within one chunk") {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const Arena arena = lay_out(random_parameters(seed));
    const std::uint32_t shards = 1 + seed % 5;
    const std::uint32_t lanes = 1 + seed % 4;
    CAPTURE(seed);
    const Placement placement(arena, shards, lanes);
    REQUIRE(placement.size() == arena.chunks.size());
    check_balanced(bytes_of_shards(placement, shards));
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      check_balanced(bytes_of_lanes(placement, shard, lanes));
    }
  }
}

TEST_CASE("every chunk is its shard's and its lane's, by id; only the statistics chunk is not the model's") {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const Arena arena = lay_out(random_parameters(seed));
    const std::uint32_t shards = 1 + seed % 5;
    const std::uint32_t lanes = 1 + seed % 4;
    CAPTURE(seed);
    const Placement placement(arena, shards, lanes);
    std::size_t of_shards = 0;
    std::size_t of_lanes = 0;
    std::size_t of_models = 0;
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      const auto& all = placement.of_shard(shard);
      CHECK(std::ranges::is_sorted(all, {}, &Chunk::id));
      CHECK(std::ranges::all_of(all, [&](const Chunk& chunk) { return placement[chunk.id].shard == shard; }));
      of_shards += all.size();
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const auto own = placement.of_lane(shard, lane);
        CHECK(std::ranges::is_sorted(own, {}, &Chunk::id));
        CHECK(std::ranges::all_of(
            own, [&](const Chunk& chunk) { return placement.lane_of_all(chunk.id) == shard * lanes + lane; }));
        of_lanes += own.size();
      }
      const auto model = placement.of_model(shard);
      CHECK(std::ranges::none_of(model, [](const Chunk& chunk) { return chunk.group == Group::statistics; }));
      of_models += model.size();
    }
    CHECK(of_shards == arena.chunks.size());
    CHECK(of_lanes == arena.chunks.size());
    CHECK(of_models == arena.chunks.size() - 1);
  }
}

TEST_CASE("the shard of a chunk does not depend on the lanes") {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const Arena arena = lay_out(random_parameters(seed));
    const Placement one_lane(arena, 3, 1);
    const Placement four_lanes(arena, 3, 4);
    for (std::size_t i = 0; i < one_lane.size(); ++i) {
      CHECK(one_lane[i].shard == four_lanes[i].shard);
    }
  }
}

TEST_CASE("equal chunks go to the shards in turn") {
  const Arena arena = lay_out({{"large", {12, 1U << 18U}, Group::decay, {}}});
  const Placement placement(arena, 3, 1);
  std::uint32_t full = 0;
  for (const Chunk& chunk : arena.chunks) {
    if (chunk.bytes() == kMaxChunkBytes) {
      CHECK(placement[chunk.id].shard == full++ % 3);
    }
  }
  CHECK(full > 6);
}

TEST_CASE("ResNet-50 on four shards is even to a hundredth") {
  const Arena arena = lay_out(resnet50_parameters());
  const auto [least, most] = std::ranges::minmax(bytes_of_shards(Placement(arena, 4, 2), 4));
  CHECK(most - least < most / 100);
}

TEST_CASE("more shards than chunks leave some without any; none at all are refused") {
  const Arena arena = lay_out({});
  CHECK(Placement(arena, 5, 2).size() == 1);
  CHECK_THROWS_AS(Placement(arena, 0, 1), std::invalid_argument);
  CHECK_THROWS_AS(Placement(arena, 1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace ballast
