// Sums of slots on one thread: what leaves, when, and with which bits.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "common/numeric/vector.h"
#include "tests/unit/worker/training/summed_slots.h"

namespace ballast {
namespace {

using namespace testing;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

TEST_CASE("a vector is finite unless one element is an infinity or a NaN, wherever it stands") {
  for (std::size_t size = 1; size < 70; ++size) {
    std::vector<float> values(size, kLargest);
    values[0] = -0.0F;
    values[size / 2] = std::numeric_limits<float>::denorm_min();
    REQUIRE(all_finite(values));
    for (std::size_t at = 0; at < size; ++at) {
      for (const float value : {kNan, -kNan, std::numeric_limits<float>::signaling_NaN(), kInfinity, -kInfinity}) {
        auto spoilt = values;
        spoilt[at] = value;
        REQUIRE_FALSE(all_finite(spoilt));
      }
    }
  }
  CHECK(all_finite({}));
}

// ---- nothing becomes another

TEST_CASE(
    "ranges leave as the nodes of the tree that they are made of, the last one of each chunk said to be the last") {
  const auto arena = small_arena();
  REQUIRE(arena.chunks.size() == 3);
  for (const Slot slots : {1U, 2U, 7U, 8U, 13U}) {
    auto pool = small_pool(arena, slots);
    for (Slot begin = 0; begin < slots; ++begin) {
      for (Slot end = begin + 1; end <= slots; ++end) {
        for (Slot other = end; other <= slots; ++other) {
          std::vector<SlotRange> ranges = {{begin, end}};
          auto expected = tree::cover({begin, end}, slots);
          if (other < slots) {  // a second range, which may follow the first one without a gap
            ranges.push_back({other, slots});
            std::ranges::copy(tree::cover({other, slots}, slots), std::back_inserter(expected));
          }
          SummedSlots computing(arena, pool, slots, ranges);
          computing.run([] {});
          CHECK(computing.is_whole());
          for (const auto& chunk : arena.chunks) {
            CHECK(computing.nodes().at(chunk.id) == expected);
            CHECK(computing.lasts()[chunk.id] == 1);
          }
          CHECK(computing.ended_with_last());
        }
      }
    }
    CHECK(are_all_free(pool));
  }
}

TEST_CASE("nothing is computed of an empty list, and each slot of overlapping ranges once") {
  const auto arena = small_arena();
  auto pool = small_pool(arena, 8);
  SummedSlots nothing(arena, pool, 8, {});
  nothing.run([] {});
  CHECK(nothing.begun().empty());
  SummedSlots overlapping(arena, pool, 8, {{2, 5}, {4, 7}, {0, 3}});
  overlapping.run([] {});
  CHECK(overlapping.order() == std::vector<Slot>{2, 3, 4, 5, 6, 0, 1});
  CHECK(overlapping.is_whole());
  CHECK(are_all_free(pool));
}

// ---- slots that become others

// Calls it at the moments named, in order.
template <typename Call>
auto at_moments(std::vector<std::size_t> moments, Call call) {
  return [moments = std::move(moments), call, moment = std::size_t{0}, next = std::size_t{0}]() mutable {
    while (next < moments.size() && moments[next] == moment) {
      call(next++);
    }
    ++moment;
  };
}

TEST_CASE("whatever becomes of the slots at whatever moment, those that were begun leave once, with the tree's bits") {
  const auto arena = small_arena();
  constexpr Slot kEleven = 11;
  const std::vector<std::vector<SlotRange>> lists = {
      {}, {{0, 3}}, {{0, 8}}, {{0, 11}}, {{2, 4}}, {{8, 11}, {0, 2}}, {{5, 6}, {3, 4}}, {{4, 8}, {9, 11}}, {{10, 11}}};
  auto pool = small_pool(arena, kEleven);
  const std::size_t moments = kEleven * (arena.chunks.size() + 1) + 1;
  for (const auto& first : {std::vector<SlotRange>{{0, 11}}, {{0, 5}, {7, 11}}, {{6, 11}, {1, 4}}}) {
    for (const auto& second : lists) {
      for (std::size_t moment = 0; moment < moments; ++moment) {
        SummedSlots computing(arena, pool, kEleven, first);
        computing.run(at_moments({moment}, [&](std::size_t) { computing.become(second); }));
        REQUIRE(computing.is_whole());
        if (moment == 0) {
          SlotSet wanted(kEleven);
          for (const auto range : second) {
            wanted.insert(range);
          }
          REQUIRE(computing.begun() == wanted);
        }
      }
    }
  }
  CHECK(are_all_free(pool));
}

TEST_CASE("lists that become others several times, one right after the other and in mid-slot") {
  const auto arena = small_arena();
  std::mt19937 random(11);
  for (int repetition = 0; repetition < 2000; ++repetition) {
    const auto slots = static_cast<Slot>(1 + random() % 33);
    const auto ranges = [&] {
      std::vector<SlotRange> made;
      Slot at = 0;
      while (at < slots && random() % 4 != 0) {
        const auto begin = at + static_cast<Slot>(random() % 3);
        const auto end = begin + 1 + static_cast<Slot>(random() % slots);
        if (begin < slots) {
          made.push_back({begin, std::min(end, slots)});
        }
        at = end;
      }
      if (random() % 2 == 0) {
        std::ranges::reverse(made);
      }
      return made;
    };
    auto pool = small_pool(arena, slots);
    SummedSlots computing(arena, pool, slots, ranges());
    computing.run([&] {
      for (auto calls = random() % 12; calls > 9; --calls) {
        computing.become(ranges());
      }
    });
    REQUIRE(computing.is_whole());
    REQUIRE(are_all_free(pool));
  }
}

TEST_CASE("a slot in hand that is taken back is a node of its own, and the sums before it leave at once") {
  const auto arena = small_arena();
  auto pool = small_pool(arena, 8);
  SummedSlots computing(arena, pool, 8, {{0, 8}});
  const std::size_t in_slot_6 = 6 * (arena.chunks.size() + 1) + 1;  // before its first chunk
  computing.run(at_moments({in_slot_6 + 1}, [&](std::size_t) {      // after it
    CHECK(computing.nodes().empty());
    computing.become({{0, 6}});
    const std::vector<Node> before = {{0, 4}, {4, 6}};
    CHECK(computing.nodes().at(0) == before);
    CHECK(computing.nodes().at(1) == before);
    CHECK(computing.nodes().at(2) == std::vector<Node>{{0, 4}, {4, 6}, {6, 7}});
  }));
  CHECK(computing.begun().count() == 7);
  CHECK(computing.nodes().at(0) == std::vector<Node>{{0, 4}, {4, 6}, {6, 7}});
  CHECK(computing.is_whole());
  CHECK(are_all_free(pool));
}

TEST_CASE("slots after the one in hand that are taken away let go what waited for them, and no more") {
  const auto arena = small_arena();
  auto pool = small_pool(arena, 16);
  SummedSlots computing(arena, pool, 16, {{0, 16}});
  const std::size_t in_slot_5 = 5 * (arena.chunks.size() + 1) + 2;
  computing.run(at_moments({in_slot_5}, [&](std::size_t) {
    computing.become({{0, 7}});
    CHECK(computing.nodes().at(0) == std::vector<Node>{{0, 4}});
  }));
  for (const auto& [chunk, nodes] : computing.nodes()) {
    CHECK(nodes == std::vector<Node>{{0, 4}, {4, 6}, {6, 7}});
    CHECK(computing.lasts()[chunk] == 1);
  }
  CHECK(are_all_free(pool));
}

TEST_CASE("a run that was cut does not get longer again, and is not the last where another follows") {
  const auto arena = small_arena();
  auto pool = small_pool(arena, 8);
  SummedSlots computing(arena, pool, 8, {{0, 8}});
  computing.run(at_moments({2, 3}, [&](std::size_t call) { computing.become({{0, call == 0 ? Slot{3} : Slot{8}}}); }));
  for (const auto& [chunk, nodes] : computing.nodes()) {
    CHECK(nodes == std::vector<Node>{{0, 2}, {2, 3}, {3, 4}, {4, 8}});
    CHECK(computing.lasts()[chunk] == 1);
  }
  CHECK(computing.ended_with_last());
  CHECK(are_all_free(pool));
}

// ---- faults

TEST_CASE("the first slot whose gradient is not finite is told of each sum, however the sums are split") {
  const auto arena = small_arena();
  const auto a = arena.extents[0].offset;
  const auto b_last = arena.extents[1].offset + arena.extents[1].elements - 1;
  const auto bias = arena.extents[2].offset;
  const std::vector<Bad> bads = {{{{5, a}, kNan}},
                                 {{{0, bias}, kInfinity}},
                                 {{{7, b_last}, kInfinity}, {{3, a}, -kInfinity}},
                                 {{{7, b_last}, kNan}, {{5, bias}, kNan}, {{6, bias}, kNan}, {{2, a}, kNan}}};
  auto pool = small_pool(arena, 8);
  std::size_t told = 0;
  for (const auto& bad : bads) {
    for (std::size_t moment = 0; moment < 8 * (arena.chunks.size() + 1); ++moment) {
      for (Slot end = 0; end <= 8; ++end) {
        SummedSlots computing(arena, pool, 8, {{0, 8}}, bad);
        computing.run(at_moments({moment}, [&](std::size_t) { computing.become({{0, end}}); }));
        REQUIRE(computing.is_whole());
        told += computing.faults().size();
      }
    }
  }
  CHECK(told > 1000);
  SummedSlots whole(arena, pool, 8, {{0, 8}}, bads.back());
  whole.run([] {});
  CHECK(whole.faults() == std::map<std::pair<ChunkId, Slot>, Slot>{{{0, 0}, 2}, {{1, 0}, 5}});
  CHECK(are_all_free(pool));
}

TEST_CASE("a sum that overflows without a slot to blame is no slot's fault") {
  const auto arena = small_arena();
  auto pool = small_pool(arena, 4);
  SummedSlots computing(arena, pool, 4, {{0, 4}}, {{{1, 0}, kLargest}, {{0, 0}, kLargest}});
  computing.run([] {});
  CHECK(computing.is_whole());
  CHECK(computing.faults().empty());
}

TEST_CASE("the statistics chunk is no gradient: a loss that is not finite is no fault of it") {
  const auto arena = small_arena();
  auto pool = small_pool(arena, 2);
  const auto loss = arena.statistics().offset;
  for (const std::vector<SlotRange>& ranges : {std::vector<SlotRange>{{0, 2}}, {{1, 2}}}) {
    std::vector<PartialSum> sums;
    SlotSums slots(arena, pool, 2, ranges, [&](ChunkId chunk, const PartialSum& sum, bool /*last*/) {
      sums.push_back(sum);
      CHECK(sum.fault == kNoSlot);
      if (chunk == arena.statistics().id) {
        CHECK(std::isnan(pool.values(sum.arena)[loss]));
      }
      pool.give_back_chunk(sum.arena);
    });
    while (slots.begin_slot()) {
      std::ranges::fill(slots.leaf(), 1.0F);
      slots.leaf()[loss] = kNan;
      for (const auto& chunk : arena.chunks) {
        slots.chunk_ready(chunk.id);
      }
    }
    CHECK(sums.size() == arena.chunks.size());
  }
}

}  // namespace
}  // namespace ballast
