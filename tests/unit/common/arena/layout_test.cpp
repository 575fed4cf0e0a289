#include <doctest/doctest.h>

#include <stdexcept>

#include "common/arena/arena.h"
#include "tests/unit/common/arena/random_parameters.h"

namespace ballast {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

// The chunks tile [0, elements): no gap, no overlap, in order, none empty or larger than allowed.
void check_chunks_tile_the_arena(const Arena& arena) {
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < arena.chunks.size(); ++i) {
    const Chunk& chunk = arena.chunks[i];
    CHECK(chunk.id == i);
    CHECK(chunk.offset == end);
    CHECK(chunk.elements > 0);
    CHECK(chunk.bytes() <= kMiB);
    CHECK(chunk.offset * sizeof(float) % 64 == 0);
    end += chunk.elements;
  }
  CHECK(end == arena.elements);
}

// Every float of every parameter lies in a chunk of the parameter's own group.
void check_groups_are_kept(const Arena& arena) {
  for (const Chunk& chunk : arena.chunks) {
    for (std::size_t i = 0; i < arena.parameters.size(); ++i) {
      const Extent& extent = arena.extents[i];
      const bool overlaps =
          extent.offset < chunk.offset + chunk.elements && chunk.offset < extent.offset + extent.elements;
      if (overlaps) {
        CHECK(arena.parameters[i].group == chunk.group);
      }
    }
  }
}

void check_parameters_follow_each_other(const Arena& arena) {
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < arena.parameters.size(); ++i) {
    CHECK(arena.extents[i].elements == arena.parameters[i].elements());
    CHECK(arena.extents[i].offset * sizeof(float) % 64 == 0);
    CHECK(arena.extents[i].offset >= end);
    CHECK(arena.extents[i].offset < end + 16);  // less than one alignment of padding
    end = arena.extents[i].offset + arena.extents[i].elements;
  }
  CHECK(end <= arena.statistics().offset);
}

TEST_CASE("any list of parameters is laid out by the rules") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const Arena arena = lay_out(random_parameters(seed));
    check_parameters_follow_each_other(arena);
    check_chunks_tile_the_arena(arena);
    check_groups_are_kept(arena);
    CHECK(arena.statistics().group == Group::statistics);
    CHECK(arena.statistics().elements == kStatisticsFloats);
  }
}

TEST_CASE("neighbours of one group share a chunk, a change of group begins one") {
  const Arena arena = lay_out({{"a", {3, 5}, Group::decay, {}},
                               {"b", {2}, Group::decay, {}},
                               {"c", {2}, Group::no_decay, {}},
                               {"d", {7}, Group::decay, {}}});
  REQUIRE(arena.chunks.size() == 4);
  CHECK(arena.chunks[0].elements == 32);  // 15 and 2 floats, each rounded up to 16
  CHECK(arena.chunks[1].group == Group::no_decay);
  CHECK(arena.chunks[2].offset == arena.extents[3].offset);
}

TEST_CASE("a parameter beyond 1 MiB spans several chunks") {
  const Arena arena = lay_out({{"large", {600, 1000}, Group::decay, {}}});
  REQUIRE(arena.chunks.size() == 4);
  CHECK(arena.chunks[0].bytes() == kMiB);
  CHECK(arena.chunks[1].bytes() == kMiB);
  CHECK(arena.chunks[2].elements == 600'000 - 2 * kMiB / sizeof(float));
}

TEST_CASE("no parameters leave the statistics chunk alone") {
  const Arena arena = lay_out({});
  CHECK(arena.chunks.size() == 1);
  CHECK(arena.elements == kStatisticsFloats);
}

TEST_CASE("what cannot be laid out is refused by name") {
  const Parameter fine{"fine", {4}, Group::decay, {}};
  CHECK_THROWS_WITH_AS(lay_out({fine, fine}), doctest::Contains("'fine' is declared twice"), std::invalid_argument);
  CHECK_THROWS_WITH_AS(lay_out({{"hollow", {4, 0}, Group::decay, {}}}), doctest::Contains("'hollow'"),
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(lay_out({{"", {4}, Group::decay, {}}}), doctest::Contains("empty name"), std::invalid_argument);
  // 2^96 elements: the product must not wrap round to something small.
  CHECK_THROWS_WITH_AS(lay_out({{"huge", {4294967295U, 4294967295U, 4294967295U}, Group::decay, {}}}),
                       doctest::Contains("'huge'"), std::invalid_argument);
  CHECK_THROWS_AS(lay_out({{"s", {4}, Group::statistics, {}}}), std::invalid_argument);
}

TEST_CASE("the digest sees names, shapes, groups and nothing else") {
  const std::vector<Parameter> base = {{"a", {3, 5}, Group::decay, {}}, {"b", {2}, Group::no_decay, {}}};
  const std::string digest = layout_digest(lay_out(base));
  CHECK(digest.size() == 64);
  CHECK(digest == layout_digest(lay_out(base)));
  const auto differs = [&](auto change) {
    std::vector<Parameter> changed = base;
    change(changed);
    return layout_digest(lay_out(changed)) != digest;
  };
  CHECK(differs([](auto& p) { p[0].name[0] = 'A'; }));
  CHECK(differs([](auto& p) { p[0].shape = {5, 3}; }));
  CHECK(differs([](auto& p) { p[1].group = Group::state; }));
  CHECK(differs([](auto& p) { p.push_back({"c", {1}, Group::decay, {}}); }));
  CHECK_FALSE(differs([](auto& p) { p[0].initial = {Initial::Kind::constant, 2.0F}; }));
}

}  // namespace
}  // namespace ballast
