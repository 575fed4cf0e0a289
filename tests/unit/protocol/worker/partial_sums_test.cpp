#include "protocol/worker/partial_sums.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>

#include "protocol/tree.h"
#include "protocol/worker/slot_list.h"

using namespace ballast;

namespace {

// A node's value in words: who joins in another order gets other words.
std::string words_of(Node node) {
  if (node.size() == 1) {
    return std::to_string(node.begin);
  }
  const auto split = tree::split(node);
  return "(" + words_of({node.begin, split}) + "+" + words_of({split, node.end}) + ")";
}

// Sums as words; all that has left must be nodes with their own value, each slot in one of them.
class SymbolicSums {
 public:
  explicit SymbolicSums(Slot slots) : slots_(slots), sums_(slots), left_(slots) {}

  void add(Slot slot, Slot end) {
    values_.push_back(std::to_string(slot));
    sums_.add(
        {{slot, slot + 1}, static_cast<std::uint32_t>(values_.size() - 1)}, end,
        [&](const PartialSum& into, const PartialSum& with) {
          values_[into.arena] = "(" + values_[into.arena] + "+" + values_[with.arena] + ")";
        },
        [&](const PartialSum& sum) { leave(sum); });
    // The slot in hand comes on top of those that are held.
    CHECK(sums_.sums().size() <= std::bit_width(slots_ - 1U));
  }
  void settle(Slot end) {
    sums_.settle(end, [&](const PartialSum& sum) { leave(sum); });
  }

  [[nodiscard]] const PartialSums& sums() const { return sums_; }
  [[nodiscard]] const SlotSet& left() const { return left_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }

 private:
  void leave(const PartialSum& sum) {
    CAPTURE(sum.node.begin);
    CAPTURE(sum.node.end);
    REQUIRE(tree::is_node(sum.node, slots_));
    CHECK(values_[sum.arena] == words_of(sum.node));
    CHECK_FALSE(left_.contains_some_of(sum.node));
    left_.insert(sum.node);
    nodes_.push_back(sum.node);
  }

  Slot slots_;
  PartialSums sums_;
  std::vector<std::string> values_;  // by arena
  SlotSet left_;
  std::vector<Node> nodes_;
};

std::vector<SlotRange> drawn_ranges(std::mt19937& random, Slot slots) {
  std::vector<SlotRange> ranges;
  for (Slot begin = random() % slots; begin < slots;) {
    const auto end = std::min<Slot>(begin + 1 + random() % slots, slots);
    ranges.push_back({begin, end});
    begin = end + random() % 3;
  }
  std::ranges::shuffle(ranges, random);
  return ranges;
}

}  // namespace

TEST_CASE("a run leaves as the largest nodes that it is made of") {
  for (Slot slots = 1; slots <= 20; ++slots) {
    for (Slot begin = 0; begin < slots; ++begin) {
      for (Slot end = begin + 1; end <= slots; ++end) {
        SymbolicSums sums(slots);
        for (Slot slot = begin; slot < end; ++slot) {
          sums.add(slot, end);
        }
        CHECK(sums.sums().sums().empty());
        CHECK(sums.nodes() == tree::cover({begin, end}, slots));
      }
    }
  }
}

TEST_CASE("what cannot be joined any more leaves at once") {
  SymbolicSums sums(8);
  sums.add(0, 6);
  sums.add(1, 6);
  sums.add(2, 6);
  CHECK(sums.nodes().empty());
  sums.settle(4);
  CHECK(sums.nodes().empty());  // 3 is still to come
  sums.settle(3);
  CHECK(sums.nodes() == std::vector<Node>{{0, 2}, {2, 3}});
  CHECK(sums.sums().sums().empty());
}

TEST_CASE("a slot that is taken back while it is computed is a node of its own, and the sums before it leave at once") {
  SymbolicSums sums(8);
  sums.add(0, 8);
  sums.add(1, 8);
  sums.add(2, 8);
  sums.settle(3);  // slot 3 is in hand
  CHECK(sums.nodes() == std::vector<Node>{{0, 2}, {2, 3}});
  sums.add(3, 3);
  CHECK(sums.nodes() == std::vector<Node>{{0, 2}, {2, 3}, {3, 4}});
}

TEST_CASE("a left sibling that has left is not waited for") {
  SymbolicSums sums(8);
  sums.add(0, 1);
  sums.add(1, 8);  // the run has become longer
  sums.add(2, 8);
  sums.add(3, 8);
  CHECK(sums.nodes() == std::vector<Node>{{0, 1}, {1, 2}, {2, 4}});
}

TEST_CASE("sums are not joined across a gap") {
  SymbolicSums sums(8);
  sums.add(0, 1);
  sums.add(3, 4);
  sums.add(6, 8);
  sums.add(7, 8);
  CHECK(sums.nodes() == std::vector<Node>{{0, 1}, {3, 4}, {6, 8}});
}

TEST_CASE("the faults and places of sums are the caller's, whose left one goes on") {
  PartialSums sums(2);
  std::vector<PartialSum> left;
  const auto leave = [&](const PartialSum& sum) { left.push_back(sum); };
  const auto join = [](PartialSum& into, const PartialSum& with) { into.fault = std::min(into.fault, with.fault); };
  sums.add({{0, 1}, 7, kNoSlot}, 2, join, leave);
  sums.add({{1, 2}, 9, 1}, 2, join, leave);
  CHECK(left == std::vector<PartialSum>{{{0, 2}, 7, 1}});
}

TEST_CASE("whatever becomes of a computation's slots, each leaves once, in nodes of the tree") {
  std::mt19937 random(7);
  for (int round = 0; round < 4'000; ++round) {
    const Slot slots = 1 + random() % 33;
    CAPTURE(round);
    SymbolicSums sums(slots);
    SlotList list(slots, drawn_ranges(random, slots));
    SlotSet taken(slots);
    Slot end = 0;
    auto in_hand = kNoSlot;
    // As a shell does it: an end that has been told gets no later, and a run that is over is settled.
    while (const auto next = list.take()) {
      if (in_hand != kNoSlot && *next != in_hand + 1) {
        sums.settle(std::min(end, in_hand + 1));
      }
      if (in_hand == kNoSlot || *next != in_hand + 1 || *next >= end) {
        end = list.run_end(*next);
      }
      in_hand = *next;
      CHECK_FALSE(taken.contains(in_hand));
      taken.insert({in_hand, in_hand + 1});
      for (auto changes = random() % 3; changes > 0; --changes) {
        auto ranges = drawn_ranges(random, slots);
        list.become(random() % 8 == 0 ? std::vector<SlotRange>{} : ranges);
        end = std::min(end, list.run_end(in_hand));
        sums.settle(end);
        CHECK((end > in_hand || sums.sums().sums().empty()));
      }
      sums.add(in_hand, end);
    }
    CHECK(sums.sums().sums().empty());
    CHECK(sums.left() == taken);
  }
}
