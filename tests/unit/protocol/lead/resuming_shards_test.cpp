#include "protocol/lead/resuming_shards.h"

#include <doctest/doctest.h>

#include "tests/unit/protocol/lead/reports.h"

using namespace ballast;
using namespace ballast::reports;

namespace {

// Shard 0 has come back twice: with 5, then with 9 of its journal.
ShardRoster shards() {
  auto shards = roster({at_item(0, 0), at_item(0, 0)});
  shards.lanes().at({0, 0}).lives = {{10, 0}, {11, 5}, {12, 9}};
  return shards;
}

bool is_broken(const JournalMark& mark) {
  ResumingShards resuming;
  resuming.take({mark});
  return resuming.is_broken(shards());
}

}  // namespace

TEST_CASE("what was built upon is lost if a later life began with less") {
  CHECK_FALSE(is_broken({0, 10, 5}));
  CHECK(is_broken({0, 10, 6}));
  CHECK_FALSE(is_broken({0, 11, 9}));
  CHECK(is_broken({0, 11, 10}));
  CHECK_FALSE(is_broken({0, 12, 1'000}));
}

TEST_CASE("of a life that the shard does not know nothing is left") { CHECK(is_broken({0, 13, 0})); }

TEST_CASE("a shard that is away is asked when it is back") {
  ResumingShards resuming;
  resuming.take({{0, 10, 6}});
  auto away = shards();
  away.lanes().erase({0, 0});
  CHECK_FALSE(resuming.is_broken(away));
  CHECK_FALSE(resuming.is_broken(shards()));  // as long as it has not said what lives it had
  resuming.lives_told();
  CHECK(resuming.is_broken(shards()));
  CHECK(resuming.is_broken(away));  // and stays so
  resuming.rewind();
  CHECK_FALSE(resuming.is_broken(shards()));
}

TEST_CASE("the furthest mark of a life counts") {
  ResumingShards resuming;
  resuming.take({{0, 10, 6}});
  resuming.take({{0, 10, 4}});
  CHECK(resuming.is_broken(shards()));
}
