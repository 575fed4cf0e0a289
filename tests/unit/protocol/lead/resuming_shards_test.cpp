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
  resuming.take({mark}, false);
  return resuming.why_broken(shards()) == RollbackCause::mark;
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
  resuming.take({{0, 10, 6}}, false);
  auto away = shards();
  away.lanes().erase({0, 0});
  CHECK_FALSE(resuming.why_broken(away));
  CHECK_FALSE(resuming.why_broken(shards()));  // as long as it has not said what lives it had
  resuming.lives_told();
  CHECK(resuming.why_broken(shards()) == RollbackCause::mark);
  CHECK(resuming.why_broken(away) == RollbackCause::mark);  // and stays so
  resuming.rewind();
  CHECK_FALSE(resuming.why_broken(shards()));
}

TEST_CASE("the furthest mark of a life counts") {
  ResumingShards resuming;
  resuming.take({{0, 10, 6}}, false);
  resuming.take({{0, 10, 4}}, false);
  CHECK(resuming.why_broken(shards()) == RollbackCause::mark);
}

TEST_CASE("what is known to be lost otherwise breaks the timeline as well") {
  ResumingShards resuming;
  CHECK_FALSE(resuming.why_broken(shards()));
  resuming.take({}, true);
  CHECK(resuming.why_broken(shards()) == RollbackCause::below_cut);
  resuming.take({}, false);
  CHECK(resuming.why_broken(shards()) == RollbackCause::below_cut);
}

TEST_CASE("of two causes the one found first is told") {
  ResumingShards resuming;
  resuming.take({{0, 10, 6}}, true);
  CHECK(resuming.why_broken(shards()) == RollbackCause::below_cut);
  resuming.rewind();
  resuming.take({{0, 10, 6}}, false);
  CHECK(resuming.why_broken(shards()) == RollbackCause::mark);
  resuming.take({}, true);
  CHECK(resuming.why_broken(shards()) == RollbackCause::mark);
}
