#include "protocol/tree.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tests/unit/protocol/lane/direct_tree.h"

using namespace ballast;

namespace {

constexpr Slot kMost = 40;

bool is_in(const std::vector<Node>& nodes, Node node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace

TEST_CASE("a node of the tree is what the definition says") {
  for (Slot slots = 1; slots <= kMost; ++slots) {
    const auto all = direct::nodes(slots);
    for (Slot begin = 0; begin <= slots + 1; ++begin) {
      for (Slot end = 0; end <= slots + 2; ++end) {
        CAPTURE(slots);
        CAPTURE(begin);
        CAPTURE(end);
        REQUIRE(tree::is_node({begin, end}, slots) == is_in(all, {begin, end}));
      }
    }
  }
}

TEST_CASE("a node's family is what the definition says") {
  for (Slot slots = 1; slots <= kMost; ++slots) {
    CHECK_FALSE(tree::family({0, slots}, slots).has_value());
    CHECK(tree::sibling_end({0, slots}, slots) == 0);
    for (const auto parent : direct::nodes(slots)) {
      if (parent.size() == 1) {
        continue;
      }
      const Slot middle = parent.begin + direct::left_size(parent.size());
      CHECK(tree::split(parent) == middle);
      const auto left = tree::family({parent.begin, middle}, slots);
      const auto right = tree::family({middle, parent.end}, slots);
      REQUIRE(left.has_value());
      REQUIRE(right.has_value());
      CHECK(left->parent == parent);
      CHECK(left->sibling == Node{middle, parent.end});
      CHECK(left->is_left);
      CHECK(right->parent == parent);
      CHECK(right->sibling == Node{parent.begin, middle});
      CHECK_FALSE(right->is_left);
      CHECK(tree::sibling_end({parent.begin, middle}, slots) == parent.end);
      CHECK(tree::sibling_end({middle, parent.end}, slots) == 0);
    }
  }
}

TEST_CASE("a walk from first node to first node is the cover") {
  for (Slot slots = 1; slots <= 3 * kMost; ++slots) {
    for (Slot begin = 0; begin < slots; ++begin) {
      for (Slot end = begin + 1; end <= slots; ++end) {
        std::vector<Node> walked;
        for (SlotRange rest{begin, end}; !rest.empty(); rest.begin = walked.back().end) {
          walked.push_back(tree::first_node(rest, slots));
        }
        REQUIRE(walked == tree::cover({begin, end}, slots));
      }
    }
  }
  constexpr auto kMostSlots = std::numeric_limits<Slot>::max();
  CHECK(tree::first_node({0, kMostSlots}, kMostSlots) == Node{0, kMostSlots});
  CHECK(tree::first_node({0, kMostSlots - 1}, kMostSlots) == Node{0, Slot{1} << 31});
  CHECK(tree::first_node({Slot{1} << 31, kMostSlots}, kMostSlots) == Node{Slot{1} << 31, kMostSlots});
}

TEST_CASE("the nodes of a range are counted without naming them") {
  for (Slot slots = 1; slots <= 3 * kMost; ++slots) {
    for (Slot begin = 0; begin <= slots; ++begin) {
      for (Slot end = 0; end <= slots; ++end) {
        REQUIRE(tree::nodes_in({begin, end}, slots) == tree::cover({begin, end}, slots).size());
      }
    }
  }
}

TEST_CASE("a cover is the nodes inside the range that no larger one inside it contains") {
  for (Slot slots = 1; slots <= kMost; ++slots) {
    const auto all = direct::nodes(slots);
    for (Slot begin = 0; begin <= slots; ++begin) {
      for (Slot end = begin; end <= slots; ++end) {
        const SlotRange range{begin, end};
        std::vector<Node> expected;
        for (const auto node : all) {
          const auto outer = std::count_if(all.begin(), all.end(), [&](Node other) {
            return other != node && other.contains(node) && range.contains(other);
          });
          if (range.contains(node) && outer == 0 && !range.empty()) {
            expected.push_back(node);
          }
        }
        std::sort(expected.begin(), expected.end());
        CAPTURE(slots);
        CAPTURE(begin);
        CAPTURE(end);
        REQUIRE(tree::cover(range, slots) == expected);
      }
    }
  }
}

TEST_CASE("a cover has no more than about two nodes to a level") {
  const auto cover = tree::cover({1, 4095}, 4096);
  CHECK(cover.size() == 22);
}

TEST_CASE("the sums completed by a slot are the nodes that end with it") {
  for (Slot slots = 1; slots <= kMost; ++slots) {
    for (const auto node : direct::nodes(slots)) {
      std::vector<Node> inside;
      direct::collect(node.begin, node.size(), inside);
      for (Slot slot = node.begin; slot < node.end; ++slot) {
        const auto ending = std::count_if(inside.begin(), inside.end(),
                                          [&](Node each) { return each.size() > 1 && each.end == slot + 1; });
        REQUIRE(tree::sums_completed_by(slot, node) == static_cast<Slot>(ending));
      }
    }
  }
}

TEST_CASE("a binary counter of buffers yields the node's sum and never needs more buffers than said") {
  for (Slot slots = 1; slots <= kMost; ++slots) {
    for (const auto node : direct::nodes(slots)) {
      std::vector<std::string> buffers;
      std::size_t most = 0;
      for (Slot slot = node.begin; slot < node.end; ++slot) {
        buffers.push_back(std::to_string(slot));
        most = std::max(most, buffers.size());
        for (auto sums = tree::sums_completed_by(slot, node); sums > 0; --sums) {
          REQUIRE(buffers.size() >= 2);
          const auto right = buffers.back();
          buffers.pop_back();
          buffers.back() = "(" + buffers.back() + "+" + right + ")";
        }
      }
      REQUIRE(buffers.size() == 1);
      CHECK(buffers.front() == direct::sum_text(node));
      CHECK(tree::buffers_needed(node) == most);
    }
  }
}
