#include "protocol/lead/step_share.h"

#include <doctest/doctest.h>

using namespace ballast;

using ShareRanges = std::vector<SlotRange>;

TEST_CASE("a share begins as the standing range, of which no order need tell") {
  StepShare share;
  share.begin({4, 8}, true);
  CHECK(share.ranges() == ShareRanges{{4, 8}});
  CHECK_FALSE(share.is_told());
  share.begin({}, true);
  CHECK(share.empty());
}

TEST_CASE("what is withdrawn is cut out of each range, and told") {
  StepShare share;
  share.begin({0, 8}, true);
  share.add({12, 16}, false);
  CHECK(share.withdraw({6, 14}));
  CHECK(share.ranges() == ShareRanges{{0, 6}, {14, 16}});
  CHECK(share.withdraw({2, 3}));
  CHECK(share.ranges() == ShareRanges{{0, 2}, {3, 6}, {14, 16}});
  StepShare other;
  other.begin({0, 4}, true);
  CHECK_FALSE(other.withdraw({4, 9}));
  CHECK_FALSE(other.is_told());
  CHECK(other.withdraw({0, 4}));
  CHECK(other.empty());
  CHECK(other.is_told());
}

TEST_CASE("a range that is added comes behind the others, or instead of them, and makes the share no trial") {
  StepShare share;
  share.begin({0, 2}, true);
  share.add({7, 8}, true);
  share.make_trial();
  CHECK(share.ranges() == ShareRanges{{7, 8}});
  CHECK(share.is_trial());
  share.add({5, 6}, false);
  CHECK(share.ranges() == ShareRanges{{7, 8}, {5, 6}});
  CHECK_FALSE(share.is_trial());
  CHECK(share.had_trial());
  share.begin({0, 2}, true);
  CHECK_FALSE(share.had_trial());
}

TEST_CASE("a session that was told of another share is told until it has come to the next step") {
  StepShare share;
  share.begin({0, 2}, true);
  share.add({7, 8}, false);
  share.begin({0, 2}, false);
  CHECK(share.is_told());
  share.begin({0, 2}, true);
  CHECK_FALSE(share.is_told());
}
