#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "common/arena/arena.h"
#include "common/arena/resnet50.h"
#include "tests/unit/common/arena/random_parameters.h"

namespace ballast {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

// The chunks tile [0, elements): no gap, no overlap, none empty or larger than allowed, the statistics chunk last.
void check_chunks_tile_the_arena(const Arena& arena) {
  for (std::size_t i = 0; i < arena.chunks.size(); ++i) {
    CHECK(arena.chunks[i].id == i);
  }
  CHECK(arena.statistics().offset + arena.statistics().elements == arena.elements);
  auto chunks = arena.chunks;
  std::ranges::sort(chunks, {}, &Chunk::offset);
  std::uint64_t end = 0;
  for (const Chunk& chunk : chunks) {
    CHECK(chunk.offset == end);
    CHECK(chunk.elements > 0);
    CHECK(chunk.bytes() <= kMiB);
    CHECK(chunk.offset * sizeof(float) % 64 == 0);
    end += chunk.elements;
  }
  CHECK(end == arena.elements);
}

// The first parameter that has elements in the chunk, looked for one by one.
std::size_t first_parameter(const Arena& arena, const Chunk& chunk) {
  std::size_t parameter = 0;
  const auto lies_in = [&](const Extent& extent) {
    return extent.offset < chunk.offset + chunk.elements && chunk.offset < extent.offset + extent.elements;
  };
  while (!lies_in(arena.extents.at(parameter))) {
    ++parameter;
  }
  return parameter;
}

void check_chunks_go_over_the_network(const Arena& arena) {
  for (std::size_t i = 1; i + 1 < arena.chunks.size(); ++i) {
    const auto before = first_parameter(arena, arena.chunks[i - 1]);
    const auto here = first_parameter(arena, arena.chunks[i]);
    CHECK((before < here || (before == here && arena.chunks[i - 1].offset < arena.chunks[i].offset)));
  }
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

// By group, and within it in the model's order.
void check_parameters_follow_each_other(const Arena& arena) {
  std::vector<std::uint32_t> expected;
  for (const Group group : {Group::decay, Group::no_decay, Group::state}) {
    for (std::uint32_t i = 0; i < arena.parameters.size(); ++i) {
      if (arena.parameters[i].group == group) {
        expected.push_back(i);
      }
    }
  }
  CHECK(arena.by_offset == expected);
  std::uint64_t end = 0;
  for (const auto i : expected) {
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
    check_chunks_go_over_the_network(arena);
    check_groups_are_kept(arena);
    CHECK(arena.statistics().group == Group::statistics);
    CHECK(arena.statistics().elements == kStatisticsFloats);
  }
}

TEST_CASE("the parameters of a group share chunks, whatever stands between them in the model") {
  const Arena arena = lay_out({{"a", {3, 5}, Group::decay, {}},
                               {"b", {2}, Group::decay, {}},
                               {"c", {2}, Group::no_decay, {}},
                               {"d", {7}, Group::decay, {}}});
  REQUIRE(arena.chunks.size() == 3);
  CHECK(arena.chunks[0].elements == 48);  // 15, 2 and 7 floats, each rounded up to 16
  CHECK(arena.chunks[1].group == Group::no_decay);
  CHECK(arena.extents[3].offset == 32);
  CHECK(arena.extents[2].offset == 48);
}

TEST_CASE("a chunk's number is that of the first layer that needs it") {
  // Of state, of no_decay and of decay: as they lie in the arena it is the other way round.
  const Arena arena = lay_out(
      {{"mean", {4}, Group::state, {}}, {"bias", {4}, Group::no_decay, {}}, {"weight", {4, 4}, Group::decay, {}}});
  REQUIRE(arena.chunks.size() == 4);
  CHECK(arena.chunks[0].group == Group::state);
  CHECK(arena.chunks[1].group == Group::no_decay);
  CHECK(arena.chunks[2].group == Group::decay);
  CHECK(arena.chunks[2].offset == 0);
}

TEST_CASE("a group is cut into chunks that grow from a quarter of its beginning to 1 MiB") {
  const Arena arena = lay_out({{"large", {10, 1U << 18U}, Group::decay, {}}});
  REQUIRE(arena.chunks.size() > 10);
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i + 1 < arena.chunks.size(); ++i) {
    const Chunk& chunk = arena.chunks[i];
    CHECK(chunk.bytes() >= kMiB / 16);
    if (begin >= 3 * kMiB) {
      CHECK(chunk.bytes() == kMiB);
    } else if (begin > 0) {
      CHECK((i == 1 || chunk.bytes() >= arena.chunks[i - 1].bytes()));
      CHECK(chunk.bytes() <= std::max((begin + chunk.bytes()) / 4 + 64, kMiB / 16));
    }
    begin += chunk.bytes();
  }
  CHECK(begin == 10 * kMiB);
}

TEST_CASE("a group of less than 128 KiB is one chunk, and one of 128 KiB two") {
  CHECK(lay_out({{"small", {(1U << 15U) - 16}, Group::decay, {}}}).chunks.size() == 2);
  CHECK(lay_out({{"small", {1U << 15U}, Group::decay, {}}}).chunks.size() == 3);
}

TEST_CASE("ResNet-50 has about a hundred chunks") {
  const auto chunks = lay_out(resnet50_parameters()).chunks.size();
  CHECK(chunks > 100);
  CHECK(chunks < 115);
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
