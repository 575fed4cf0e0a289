// What is kept for readers of weights, and who has to go so that updates go on.
#include "protocol/lane/weights_readers.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace ballast;

namespace {

constexpr Micros kPatienceWithReaders = 1'000;
constexpr ChunkId kRead = 3;
constexpr ChunkId kReadOther = 4;

bool all_are_good(PayerId /*payer*/) { return true; }

WeightsReaders::Reader reader(SessionId session) { return {session, session * 10, session * 100}; }

// One that has looked at the time.
WeightsReaders readers(std::uint64_t set_aside) {
  WeightsReaders readers(set_aside, kPatienceWithReaders);
  readers.overdue(1'000'000, all_are_good);
  return readers;
}

}  // namespace

TEST_CASE("the two newest versions cost nothing, whoever reads them") {
  auto weights = readers(0);
  weights.sends(reader(1), kRead, 100, false, false);
  CHECK(weights.updates(kRead));
  weights.sends(reader(2), kRead, 100, false, false);
  CHECK(weights.kept_bytes() == 0);
}

TEST_CASE("a version that is read beyond the two is kept once, however many read it, until the last lets go") {
  auto weights = readers(100);
  const auto first = weights.sends(reader(1), kRead, 100, false, false);
  const auto second = weights.sends(reader(2), kRead, 100, false, false);
  CHECK(weights.updates(kRead));
  CHECK(weights.updates(kRead));
  CHECK(weights.kept_bytes() == 100);
  CHECK(weights.updates(kRead));  // what is newer nobody reads
  CHECK(weights.released(first)->reader == reader(1));
  CHECK(weights.kept_bytes() == 100);
  CHECK(weights.released(second)->bytes == 100);
  CHECK(weights.kept_bytes() == 0);
  CHECK_FALSE(weights.released(second));
}

TEST_CASE("the older of the two versions is kept from the next update on") {
  auto weights = readers(100);
  CHECK(weights.updates(kRead));
  const auto older = weights.sends(reader(1), kRead, 100, true, false);
  CHECK(weights.kept_bytes() == 0);
  CHECK(weights.updates(kRead));
  CHECK(weights.kept_bytes() == 100);
  weights.released(older);
  CHECK(weights.kept_bytes() == 0);
}

TEST_CASE("an average that is read is kept from the next update on") {
  auto weights = readers(100);
  const auto average = weights.sends(reader(1), kRead, 100, false, true);
  CHECK(weights.updates(kRead));
  CHECK(weights.kept_bytes() == 100);
  weights.released(average);
  CHECK(weights.kept_bytes() == 0);
}

TEST_CASE("an update waits where there is no room for what it would keep, and goes on when it is read") {
  auto weights = readers(100);
  const auto kept = weights.sends(reader(1), kReadOther, 100, false, false);
  weights.updates(kReadOther);
  CHECK(weights.updates(kReadOther));
  weights.sends(reader(2), kRead, 50, false, false);
  CHECK(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  CHECK(weights.waiting() == std::set<ChunkId>{kRead});
  CHECK(weights.counters().waits == 1);

  SUBCASE("by its readers") { weights.released(kept); }
  SUBCASE("or there is more room") { weights.may_keep(50); }
  CHECK(weights.updates(kRead));
  CHECK(weights.waiting().empty());
  CHECK(weights.waits_since() == 0);
}

TEST_CASE("what is kept beyond what is set aside takes other memory") {
  auto weights = readers(60);
  weights.may_keep(40);
  weights.sends(reader(1), kRead, 100, false, false);
  CHECK(weights.updates(kRead));
  CHECK(weights.updates(kRead));
  CHECK(weights.beyond_set_aside() == 40);
}

TEST_CASE("who reads what is kept has to go when an update has waited for long, and nobody else") {
  auto weights = readers(100);
  weights.sends(reader(1), kReadOther, 100, false, false);
  weights.updates(kReadOther);
  weights.updates(kReadOther);
  weights.sends(reader(2), kRead, 50, false, false);
  weights.updates(kRead);
  CHECK_FALSE(weights.updates(kRead));
  CHECK(weights.overdue(1'000'000 + kPatienceWithReaders - 1, all_are_good).empty());
  const auto overdue = weights.overdue(1'000'000 + kPatienceWithReaders, all_are_good);
  CHECK(overdue == std::vector{WeightsReaders::Overdue{reader(1), true}});
  CHECK(weights.overdue(1'000'000 + 2 * kPatienceWithReaders, all_are_good).empty());  // told once
  CHECK(weights.counters().cut == 1);
}

TEST_CASE("who is out of good standing is not waited for") {
  auto weights = readers(100);
  for (const SessionId session : {1, 2}) {
    weights.sends(reader(session), kRead, 100, false, false);
  }
  weights.updates(kRead);
  weights.sends(reader(3), kRead, 100, false, false);
  weights.updates(kRead);
  const auto is_good = [](PayerId payer) { return payer == 200; };
  CHECK(weights.overdue(1'000'001, is_good).empty());  // nothing waits
  CHECK_FALSE(weights.updates(kRead));
  CHECK(weights.overdue(1'000'002, is_good) == std::vector{WeightsReaders::Overdue{reader(1), true}});
}

TEST_CASE("what is read of another timeline is not counted, but not read for long") {
  auto weights = readers(100);
  const auto number = weights.sends(reader(1), kRead, 100, false, false);
  weights.updates(kRead);
  weights.updates(kRead);
  weights.begin();
  CHECK(weights.kept_bytes() == 0);
  CHECK(weights.overdue(1'000'000 + kPatienceWithReaders - 1, all_are_good).empty());
  SUBCASE("unless it is read") { weights.released(number); }
  const auto overdue = weights.overdue(1'000'000 + kPatienceWithReaders, all_are_good);
  REQUIRE(overdue.size() == (weights.released(number) ? 1 : 0));
  CHECK((overdue.empty() || !overdue.front().holds_up));
}
