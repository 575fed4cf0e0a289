#include "protocol/lead/slot_division.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "protocol/tree.h"

using namespace ballast;

namespace {

Slot longest(Slot slots, std::size_t workers) { return static_cast<Slot>((slots + workers - 1) / workers); }

std::uint32_t nodes(const std::vector<SlotRange>& ranges, Slot slots) {
  std::uint32_t sum = 0;
  for (const auto range : ranges) {
    sum += tree::nodes_in(range, slots);
  }
  return sum;
}

// The nodes of each range.
class Nodes {
 public:
  explicit Nodes(Slot slots) : slots_(slots) {
    for (Slot begin = 0; begin <= slots; ++begin) {
      for (Slot end = begin; end <= slots; ++end) {
        table_.push_back(tree::nodes_in({begin, end}, slots));
      }
    }
  }
  [[nodiscard]] std::uint32_t of(Slot begin, Slot end) const {
    return table_[std::size_t{begin} * (2 * slots_ + 3 - begin) / 2 + (end - begin)];
  }

 private:
  std::size_t slots_;
  std::vector<std::uint32_t> table_;
};

// Of all divisions none of whose ranges is longer than it has to be, wherever their boundaries lie.
std::uint32_t fewest_nodes(const Nodes& nodes, Slot slots, std::size_t workers) {
  constexpr auto kNone = std::numeric_limits<std::uint32_t>::max() / 2;
  std::vector<std::uint32_t> fewest(slots + 1, kNone);  // up to each boundary
  fewest[0] = 0;
  for (std::size_t i = 0; i < workers; ++i) {
    std::vector<std::uint32_t> next(slots + 1, kNone);
    for (Slot begin = 0; begin <= slots; ++begin) {
      for (Slot end = begin; fewest[begin] != kNone && end <= std::min(slots, begin + longest(slots, workers)); ++end) {
        next[end] = std::min(next[end], fewest[begin] + nodes.of(begin, end));
      }
    }
    fewest = std::move(next);
  }
  return fewest[slots];
}

void check(Slot slots, std::size_t workers, std::uint32_t fewest) {
  CAPTURE(slots);
  CAPTURE(workers);
  const auto ranges = divide_slots(slots, workers);
  REQUIRE(ranges.size() == workers);
  Slot next = 0;
  for (const auto range : ranges) {
    REQUIRE(range.begin == next);
    REQUIRE(range.begin <= range.end);
    REQUIRE(range.size() <= longest(slots, workers));
    next = range.end;
  }
  REQUIRE(next == slots);
  REQUIRE(nodes(ranges, slots) == fewest);
}

}  // namespace

TEST_CASE("a division gives out all slots, no range longer than it has to be, with the fewest nodes") {
  for (Slot slots = 1; slots <= 512; slots += slots < 70 ? 1 : 17) {
    const Nodes nodes(slots);
    for (std::size_t workers = 1; workers <= 64; workers += slots < 70 ? 1 : 3) {
      check(slots, workers, fewest_nodes(nodes, slots, workers));
    }
  }
}

TEST_CASE("of the divisions with the fewest nodes it is an even one") {
  CHECK(divide_slots(8, 2) == std::vector<SlotRange>{{0, 4}, {4, 8}});
  CHECK(divide_slots(8, 3) == std::vector<SlotRange>{{0, 2}, {2, 5}, {5, 8}});
  CHECK(divide_slots(12, 4) == std::vector<SlotRange>{{0, 3}, {3, 6}, {6, 9}, {9, 12}});
  CHECK(divide_slots(3, 1) == std::vector<SlotRange>{{0, 3}});
}

TEST_CASE(
    "workers send 2.2 models a step on average where they sent 3.1, and some sit idle where nobody waits for it") {
  double by_worker = 0;
  double even_by_worker = 0;
  int cases = 0;
  for (std::uint32_t workers = 1; workers <= 64; ++workers) {
    for (Slot slots = std::max(8U, workers); slots <= 512; slots += 5, ++cases) {
      by_worker += static_cast<double>(nodes(divide_slots(slots, workers), slots)) / workers;
      for (Slot i = 0; i < workers; ++i) {
        even_by_worker +=
            static_cast<double>(tree::nodes_in({i * slots / workers, (i + 1) * slots / workers}, slots)) / workers;
      }
    }
  }
  CHECK(by_worker / cases == doctest::Approx(2.17).epsilon(0.01));
  CHECK(even_by_worker / cases == doctest::Approx(3.08).epsilon(0.01));
  const auto ranges = divide_slots(9, 8);  // two slots are the longest range either way
  CHECK(std::ranges::count_if(ranges, [](const SlotRange& range) { return range.empty(); }) == 3);
}

TEST_CASE("of many workers and slots the ranges are as long as they have to be") {
  for (const auto& [slots, workers] : {std::pair<Slot, std::size_t>{4096, 1000}, {4095, 1000}, {65536, 3}, {7, 1000}}) {
    CAPTURE(slots);
    Slot next = 0;
    for (const auto range : divide_slots(slots, workers)) {
      REQUIRE(range.begin == next);
      REQUIRE(range.size() <= longest(slots, workers));
      next = range.end;
    }
    CHECK(next == slots);
  }
}
