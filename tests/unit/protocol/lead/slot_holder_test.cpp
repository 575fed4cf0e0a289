#include "protocol/lead/slot_holder.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

// Of eight slots the session has 0 to 4; it has computed 0 and has 1 in hand.
struct HolderFixture {
  HolderFixture() {
    open.step = 2;
    open.is_observed = true;
    open.missing = SlotSet::full(8);
    holder.share.begin({0, 4}, true);
    beat(2);
  }
  void beat(Step step) {
    SlotProgress progress;
    progress.step = step;
    progress.computed = {{0, 1}};
    progress.in_hand = 1;
    progress.begun = 1;
    progress.slot_time = 1'000;
    holder.seen.heard(progress, 2, 0, 1'000);
  }

  SlotHolder holder{8};
  OpenStep open{8};
};

}  // namespace

TEST_CASE("what is left to a session is missing, in its share, and not begun") {
  HolderFixture at;
  CHECK(at.holder.next_left(at.open, {0, 4}) == 2);
  CHECK(at.holder.next_left(at.open, {0, 2}) == 2);  // none
  CHECK(at.holder.has_left(at.open));
  at.open.missing.erase({2, 4});
  CHECK_FALSE(at.holder.has_left(at.open));
  at.open.missing = SlotSet::full(8);
  at.beat(1);  // of a step before
  CHECK(at.holder.next_left(at.open, {0, 4}) == 0);
  at.beat(3);  // it has passed this one
  CHECK(at.holder.next_left(at.open, {0, 4}) == 4);
  CHECK_FALSE(at.holder.has_left(at.open));
}

TEST_CASE("a session is awaited while anything of its share or of what it has begun is missing, unless it is a trial") {
  HolderFixture at;
  at.holder.share.begin({}, true);
  CHECK(at.holder.is_awaited(at.open, 1));
  at.open.missing.erase({1, 2});
  CHECK_FALSE(at.holder.is_awaited(at.open, 1));  // slot 0 is computed, and no lane is known to want it
  at.open.wanted.of_anybody = at.open.missing;
  CHECK(at.holder.is_awaited(at.open, 1));  // some lane may
  at.open.wanted = {SlotSet(8), {{0, {2}}}};
  CHECK(at.holder.is_awaited(at.open, 1));  // some does, and another session alone offers it there
  at.open.wanted.offered[0] = {1, 2};
  CHECK_FALSE(at.holder.is_awaited(at.open, 1));  // it waits to be called
  at.open.missing.erase({0, 1});
  CHECK_FALSE(at.holder.is_awaited(at.open, 1));
  at.holder.share.add({7, 8}, true);
  CHECK(at.holder.is_awaited(at.open, 1));
  at.holder.share.make_trial();
  CHECK_FALSE(at.holder.is_awaited(at.open, 1));
  at.holder.suspicion.bring(at.open.step + 1);
  CHECK(at.holder.is_awaited(at.open, 1));  // it is counted on, and takes nothing else meanwhile
  at.open.missing.erase({7, 8});
  CHECK_FALSE(at.holder.is_awaited(at.open, 1));
}

TEST_CASE("what a session has begun is taken out of a set, and nothing of another step") {
  HolderFixture at;
  auto slots = SlotSet::full(8);
  at.holder.erase_begun(at.open, slots);
  CHECK(slots.runs() == std::vector<SlotRange>{{2, 8}});
  at.open.step = 3;
  slots = SlotSet::full(8);
  at.holder.erase_begun(at.open, slots);
  CHECK(slots.count() == 8);
}

TEST_CASE("a session keeps no share while it has no credit, is suspected, or leaves") {
  HolderFixture at;
  CHECK_FALSE(at.holder.keeps_share());
  at.holder.suspicion.bring(at.open.step + 1);
  CHECK(at.holder.keeps_share());
  at.holder.suspicion.hear_nothing(true);
  CHECK_FALSE(at.holder.keeps_share());
  at.holder.suspicion.hear_nothing(false);
  SlotProgress leaving;
  leaving.leaving = true;
  at.holder.seen.heard(leaving, 2, 0, 1'000);
  CHECK_FALSE(at.holder.keeps_share());
}
