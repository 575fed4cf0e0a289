#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "common/arena/arena.h"
#include "common/arena/model_parameters.h"
#include "tests/unit/arena/random_parameters.h"

namespace ballast {
namespace {

std::vector<std::uint64_t> bytes_of_shards(const Arena& arena, const std::vector<Owner>& owners, std::uint32_t shards) {
  std::vector<std::uint64_t> bytes(shards);
  for (const Chunk& chunk : arena.chunks) {
    bytes[owners[chunk.id].shard] += chunk.bytes();
  }
  return bytes;
}

std::vector<std::uint64_t> bytes_of_lanes(const Arena& arena, const std::vector<Owner>& owners, std::uint32_t shard,
                                          std::uint32_t lanes) {
  std::vector<std::uint64_t> bytes(lanes);
  for (const Chunk& chunk : arena.chunks) {
    if (owners[chunk.id].shard == shard) {
      bytes[owners[chunk.id].lane] += chunk.bytes();
    }
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
    const std::vector<Owner> owners = place(arena, shards, lanes);
    REQUIRE(owners.size() == arena.chunks.size());
    check_balanced(bytes_of_shards(arena, owners, shards));
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      check_balanced(bytes_of_lanes(arena, owners, shard, lanes));
    }
  }
}

TEST_CASE("the shard of a chunk does not depend on the lanes") {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const Arena arena = lay_out(random_parameters(seed));
    const std::vector<Owner> one_lane = place(arena, 3, 1);
    const std::vector<Owner> four_lanes = place(arena, 3, 4);
    for (std::size_t i = 0; i < one_lane.size(); ++i) {
      CHECK(one_lane[i].shard == four_lanes[i].shard);
    }
  }
}

TEST_CASE("equal chunks go to the shards in turn") {
  std::vector<Parameter> parameters(6);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] = {numbered_name(i), {1024}, i % 2 == 0 ? Group::decay : Group::no_decay, {}};
  }
  const std::vector<Owner> owners = place(lay_out(parameters), 3, 1);
  for (std::uint32_t i = 0; i < 6; ++i) {
    CHECK(owners[i].shard == i % 3);
  }
}

TEST_CASE("ResNet-50 on four shards is even to a hundredth") {
  ModelSpec model;
  model.name = "emulated";
  model.preset = "resnet50";
  const Arena arena = lay_out(declare_parameters(model, {}));
  const auto [least, most] = std::ranges::minmax(bytes_of_shards(arena, place(arena, 4, 2), 4));
  CHECK(most - least < most / 100);
}

TEST_CASE("more shards than chunks leave some without any; none at all are refused") {
  const Arena arena = lay_out({});
  CHECK(place(arena, 5, 2).size() == 1);
  CHECK_THROWS_AS(place(arena, 0, 1), std::invalid_argument);
  CHECK_THROWS_AS(place(arena, 1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace ballast
