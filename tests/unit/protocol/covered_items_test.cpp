#include "protocol/covered_items.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace ballast;

TEST_CASE("items join into ranges, in whatever order they come") {
  CoveredItems items(4);
  CHECK(items.floor() == 4);
  items.insert(6);
  items.insert(8);
  CHECK(items.floor() == 4);
  CHECK(items.ranges() == std::vector<ItemRange>{{0, 4}, {6, 7}, {8, 9}});
  CHECK(items.ceiling() == 9);
  CHECK(items.next_missing(6) == 7);
  items.insert(7);
  items.insert({4, 6});
  CHECK(items.ranges() == std::vector<ItemRange>{{0, 9}});
  CHECK(items.floor() == 9);
}

TEST_CASE("an empty range adds nothing, and one inside another changes nothing") {
  CoveredItems items({{2, 9}});
  items.insert({5, 5});
  items.insert({3, 7});
  CHECK(items.ranges() == std::vector<ItemRange>{{2, 9}});
  CHECK(items.floor() == 0);
  CHECK(items.contains(2));
  CHECK_FALSE(items.contains(9));
}

TEST_CASE("the lowest ranges are told first") {
  const CoveredItems items({{8, 9}, {0, 2}, {4, 5}});
  CHECK(items.ranges(2) == std::vector<ItemRange>{{0, 2}, {4, 5}});
}

TEST_CASE("insertion and difference are those of sets") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    CoveredItems left;
    CoveredItems right;
    std::set<ItemId> left_set;
    std::set<ItemId> right_set;
    for (int i = 0; i < 12; ++i) {
      const ItemId begin = random() % 40;
      const ItemRange range{begin, begin + random() % 6};
      const bool to_left = random() % 2 == 0;
      (to_left ? left : right).insert(range);
      for (ItemId item = range.begin; item < range.end; ++item) {
        (to_left ? left_set : right_set).insert(item);
      }
    }
    CoveredItems fewer = left;
    fewer.erase(right);
    const CoveredItems rest(left.without(right));
    CHECK(left.contains_all_of(right) == std::ranges::includes(left_set, right_set));
    for (ItemId item = 0; item < 50; ++item) {
      CHECK(rest.contains(item) == (left_set.contains(item) && !right_set.contains(item)));
      CHECK(left.contains(item) == left_set.contains(item));
    }
    CHECK(fewer == rest);
    fewer.insert(right);
    CHECK(fewer.contains_all_of(left));
    CHECK(CoveredItems(fewer.without(left)) == CoveredItems(right.without(left)));
    CHECK(CoveredItems(fewer.ranges()) == fewer);
    CHECK(CoveredItems(left.ranges()) == left);
  }
}

TEST_CASE("an item is shared when all sets have it") {
  SharedItems items(4, 2);
  items.cover(5);
  items.cover(4);
  CHECK(items.by_all().floor() == 4);
  items.cover(5);
  CHECK(items.by_all().contains(5));
  CHECK(items.by_all().floor() == 4);
  items.cover(4);
  CHECK(items.by_all().floor() == 6);
}
