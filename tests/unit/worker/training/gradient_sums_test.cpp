#include "worker/training/gradient_sums.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "common/numeric/vector.h"
#include "protocol/tree.h"
#include "tests/unit/worker/training/small_model.h"

namespace ballast {
namespace {

using namespace testing;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

// What a slot writes at an offset of the arena instead of its gradient.
using Bad = std::map<std::pair<Slot, std::uint64_t>, float>;

// Sums a node whose leaves hold slot + 1 in every element; the fault that each chunk ends with.
std::vector<std::optional<Slot>> faults_of(const Arena& arena, Node node, const Bad& bad) {
  GradientPool pool(arena, tree::buffers_needed(node) + 1);
  NodeSum sum(arena, pool, node);
  for (Slot slot = node.begin; slot < node.end; ++slot) {
    REQUIRE(sum.begin_slot());
    for (float& value : sum.leaf()) {
      value = static_cast<float>(slot + 1);
    }
    for (const auto& [where, value] : bad) {
      if (where.first == slot) {
        sum.leaf()[where.second] = value;
      }
    }
    for (const auto& chunk : arena.chunks) {
      sum.chunk_ready(chunk.id);
    }
    sum.end_slot();
  }
  std::vector<std::optional<Slot>> faults;
  for (const auto& chunk : arena.chunks) {
    faults.push_back(sum.fault(chunk.id));
  }
  if (bad.empty()) {
    const auto expected = static_cast<float>((node.end + node.begin + 1) * node.size()) / 2;
    CHECK(pool.values(sum.result())[0] == expected);
  }
  return faults;
}

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

TEST_CASE("a node of finite gradients has no fault") {
  const auto arena = small_arena();
  REQUIRE(arena.chunks.size() == 3);
  for (const Node node : {Node{0, 1}, Node{3, 4}, Node{0, 8}, Node{4, 6}}) {
    CHECK(faults_of(arena, node, {}) == std::vector<std::optional<Slot>>(3));
  }
}

TEST_CASE("the first slot whose gradient is not finite is found, chunk by chunk") {
  const auto arena = small_arena();
  const auto a = arena.extents[0].offset;
  const auto b_last = arena.extents[1].offset + arena.extents[1].elements - 1;
  const auto bias = arena.extents[2].offset;
  using Faults = std::vector<std::optional<Slot>>;
  CHECK(faults_of(arena, {0, 8}, {{{5, a}, kNan}}) == Faults{5, {}, {}});
  CHECK(faults_of(arena, {0, 8}, {{{0, bias}, kInfinity}}) == Faults{{}, 0, {}});
  CHECK(faults_of(arena, {0, 8}, {{{7, b_last}, kInfinity}, {{3, a}, -kInfinity}}) == Faults{3, {}, {}});
  CHECK(faults_of(arena, {4, 8}, {{{7, b_last}, kNan}, {{5, bias}, kNan}, {{6, bias}, kNan}}) == Faults{7, 5, {}});
  CHECK(faults_of(arena, {6, 7}, {{{6, a}, kNan}}) == Faults{6, {}, {}});
  CHECK(faults_of(arena, {6, 7}, {{{5, a}, kNan}}) == Faults{{}, {}, {}});  // another node's
}

TEST_CASE("a sum that overflows without a slot to blame is no slot's fault") {
  const auto arena = small_arena();
  CHECK(faults_of(arena, {0, 4}, {{{1, 0}, kLargest}, {{2, 0}, kLargest}}) == std::vector<std::optional<Slot>>(3));
}

TEST_CASE("the statistics chunk is no gradient: a loss that is not finite is no fault of it") {
  const auto arena = small_arena();
  CHECK(faults_of(arena, {0, 2}, {{{1, arena.statistics().offset}, kNan}}) == std::vector<std::optional<Slot>>(3));
}

}  // namespace
}  // namespace ballast
