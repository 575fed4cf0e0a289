#include "protocol/worker/buffer_shortage.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

// Of two chunks; all sums of the nodes are final.
BufferShortage finished(const std::vector<Node>& nodes) {
  BufferShortage shortage(16, 2);
  shortage.begin(1, 3);
  for (const auto node : nodes) {
    shortage.left(node);
    shortage.left(node);
  }
  return shortage;
}

constexpr Micros kBefore = 100;

}  // namespace

TEST_CASE("of what waits the node with the fewest slots is given up, and of several the last") {
  const auto shortage = finished({{0, 4}, {4, 6}, {8, 10}, {12, 16}});
  const std::vector<KeptNode> kept{{{0, 4}}, {{4, 6}}, {{8, 10}}, {{12, 16}}};
  CHECK(shortage.choose(kept, kBefore) == Node{8, 10});
  CHECK(shortage.choose({kept[0], kept[1], kept[3]}, kBefore) == Node{4, 6});
  CHECK_FALSE(shortage.choose({}, kBefore));
}

TEST_CASE("what was sent, or was offered a moment ago, is not given up") {
  const auto shortage = finished({{0, 4}, {4, 6}, {8, 10}});
  CHECK(shortage.choose({{{0, 4}}, {{4, 6}, true}, {{8, 10}, false, kBefore + 1}}, kBefore) == Node{0, 4});
  CHECK(shortage.choose({{{0, 4}}, {{8, 10}, false, kBefore}}, kBefore) == Node{8, 10});
}

TEST_CASE("what a chunk's sum is still to come of is not given up: its buffer would not be free") {
  auto shortage = finished({{0, 4}});
  shortage.left({4, 5});
  CHECK(shortage.choose({{{0, 4}}, {{4, 5}}}, kBefore) == Node{0, 4});
  shortage.left({4, 5});
  CHECK(shortage.choose({{{0, 4}}, {{4, 5}}}, kBefore) == Node{4, 5});
  shortage.give_up({4, 5});
  CHECK(shortage.choose({{{0, 4}}, {{4, 5}}}, kBefore) == Node{0, 4});  // it is to be computed again
}

TEST_CASE("nodes of which one chunk has the halves and another the whole are given up together, or not at all") {
  BufferShortage shortage(16, 2);
  shortage.begin(1, 3);
  shortage.left({0, 2});
  shortage.left({0, 1});
  CHECK_FALSE(shortage.choose({{{0, 1}}, {{0, 2}}}, kBefore));  // of slot 1 a chunk is still to come
  shortage.left({1, 2});
  CHECK(shortage.choose({{{0, 1}}, {{0, 2}}, {{1, 2}}}, kBefore) == Node{0, 2});
  CHECK_FALSE(shortage.choose({{{0, 1}}, {{0, 2}}, {{1, 2}, true}}, kBefore));
  CHECK_FALSE(shortage.choose({{{0, 1}}, {{0, 2}}, {{1, 2}, false, kBefore + 1}}, kBefore));
}

TEST_CASE("of another step nothing is finished") {
  auto shortage = finished({{0, 4}});
  shortage.begin(1, 3);  // it goes on
  CHECK(shortage.choose({{{0, 4}}}, kBefore));
  shortage.begin(2, 3);
  CHECK_FALSE(shortage.choose({{{0, 4}}}, kBefore));
}
