#include "protocol/worker/slot_list.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

using SlotRanges = std::vector<SlotRange>;

std::vector<Slot> taken_from(SlotList list) {
  std::vector<Slot> taken;
  while (const auto slot = list.take()) {
    taken.push_back(*slot);
  }
  return taken;
}

}  // namespace

TEST_CASE("slots are taken range after range, in the order of the ranges") {
  CHECK(taken_from({8, {{4, 6}, {0, 2}}}) == std::vector<Slot>{4, 5, 0, 1});
  CHECK(taken_from({8, {}}).empty());
}

TEST_CASE("the next slot is told before it is taken, and is not taken by that") {
  SlotList list(4, {{1, 3}});
  CHECK(list.next() == 1);
  CHECK(list.next() == 1);
  CHECK(list.take() == 1);
  CHECK(list.next() == 2);
}

TEST_CASE("what was taken stays taken, whatever the list becomes") {
  SlotList list(8, {{0, 4}});
  list.take();
  list.take();
  list.become({{0, 2}, {6, 8}});
  CHECK(taken_from(list) == std::vector<Slot>{6, 7});
  list.become({{0, 3}});
  CHECK(taken_from(list) == std::vector<Slot>{2});
  list.become({});
  CHECK_FALSE(list.next().has_value());
  list.become({{0, 1}});
  CHECK_FALSE(list.next().has_value());
}

TEST_CASE("a run ends with its range, or before a slot that was taken before") {
  SlotList list(8, {{0, 4}, {4, 8}});
  list.take();
  CHECK(list.run_end(0) == 4);  // the next range is another run
  list.become({{6, 8}, {0, 8}});
  list.take();  // 6
  CHECK(list.run_end(6) == 8);
  list.become({{0, 8}});
  CHECK(list.take() == 1);
  CHECK(list.run_end(1) == 6);
}

TEST_CASE("the run of a slot that is on the list no more ends before it") {
  SlotList list(8, {{0, 4}});
  list.take();
  list.take();
  list.become({{0, 1}, {2, 4}});
  CHECK(list.run_end(1) == 1);
}

TEST_CASE("how many slots are ahead follows what was taken and what the list has become") {
  SlotList list(8, {{0, 2}, {5, 6}});
  CHECK(list.ahead() == 3);
  list.take();
  list.take();
  CHECK(list.ahead() == 1);
  list.take();
  CHECK(list.ahead() == 0);
  list.become({{0, 2}, {5, 8}});
  CHECK(list.ahead() == 2);
  list.become({{0, 4}, {5, 8}});
  CHECK(list.ahead() == 4);
  list.become({});
  CHECK(list.ahead() == 0);
}
