// The lead's side towards processes that say they are a shard: which of them it takes.
#include <doctest/doctest.h>

#include "tests/unit/protocol/lead/lead_fixture.h"

using namespace ballast;
using namespace ballast::two_shards;

namespace {

// A second server for shard 1, with an empty database.
lead::Actions intrude(Fixture& fixture, Incarnation incarnation = 77) {
  const Message hello =
      ShardHello{{1, 0}, 2, 1, incarnation, {999, 1}, "spec", "layout", "", "tcp://there", 0, 0, {{}}};
  return fixture.lead.step(lead::FromLane{{1, 0}, incarnation, &hello});
}

void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const auto* word : words) {
    CHECK_MESSAGE(text.find(word) != std::string::npos, "\"", text, "\" lacks ", word);
  }
}

void pass(Fixture& fixture, Micros span, bool shards_speak, Step open) {
  for (Micros passed = 0; passed < span; passed += 100 * kMilli) {
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
    fixture.lane(0, fixture.state(0, open));
    if (shards_speak) {
      fixture.lane(1, fixture.state(1, open));
    }
  }
}

}  // namespace

TEST_CASE("a second server for a shard is turned away as long as the first is heard of, and told why") {
  Fixture fixture(config());
  fixture.train();
  for (int i = 0; i < 100; ++i) {
    pass(fixture, 200 * kMilli, true, 0);
    const auto actions = intrude(fixture);
    REQUIRE(to_lanes<Refused>(actions).size() == 1);
    CHECK(to_lanes<Refused>(actions)[0].code == RefusalCode::not_taken);
    CHECK(find<lead::WriteLedger>(actions) == nullptr);
  }
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  CHECK(fixture.lead.status().timeline == 1);
  CHECK(fixture.lead.status().waits_for.empty());
  expect_words(fixture.lead.status().trouble,
               {"shard 1", "tcp://there", "00000000000003e7", "tcp://here", "0000000000000065", "--shard"});
  pass(fixture, 6'000 * kMilli, true, 0);
  CHECK(fixture.lead.status().trouble.empty());
}

TEST_CASE("a hello of a timeline that never was neither ends the job nor begins a timeline") {
  Fixture fixture(config());
  fixture.train();
  auto hello = fixture.hello_of(1, (Timeline{1} << 48U) - 1, 0);
  const auto actions = fixture.lane(1, hello);
  REQUIRE(to_lanes<Refused>(actions).size() == 1);
  CHECK(to_lanes<Refused>(actions)[0].code == RefusalCode::not_taken);  // it asks again, and goes on
  expect_words(to_lanes<Refused>(actions)[0].text, {"281474976710655", "ballast restore"});
  CHECK(fixture.lead.timeline() == 1);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  expect_words(fixture.lead.status().trouble, {"shard 1", "281474976710655"});
  hello = fixture.hello_of(1, 1, 41);
  const auto refused = to_lanes<Refused>(fixture.lane(1, hello));
  REQUIRE(refused.size() == 1);
  expect_words(refused[0].text, {"step 41", "40 steps"});
  CHECK(fixture.lead.timeline() == 1);
}

TEST_CASE("another database takes a shard's place once the first is silent, if it has what the job goes on from") {
  for (const bool has_it : {true, false}) {
    Fixture fixture(config());
    fixture.train();
    fixture.reports(10);
    if (!has_it) {
      fixture.held = {{1, 10}};
      fixture.reports(10);
      fixture.written();
      REQUIRE(fixture.lead.ledger().complete.back() == SnapshotId{1, 10});
    }
    fixture.lane(1, fixture.state(1, 10));
    intrude(fixture);
    pass(fixture, 5'500 * kMilli, false, 10);
    intrude(fixture);
    fixture.settle();
    CHECK(fixture.lead.ledger().timeline == (has_it ? 2 : 1));
    if (has_it) {
      CHECK(fixture.lead.ledger().incarnations[1] == 77);
      continue;
    }
    pass(fixture, 100 * kMilli, false, 10);
    expect_words(fixture.lead.status().waits_for,
                 {"shard 1", "tcp://there", "lacks the snapshot of step 10", "ballast restore"});
    fixture.incarnations[1] = 2;  // the right one comes
    const auto actions = fixture.hello(1, 1);
    REQUIRE(find<lead::WriteLedger>(actions) != nullptr);
    CHECK(find<lead::WriteLedger>(actions)->change.ledger.databases[1] == DatabaseLife{101, 2});
    pass(fixture, 100 * kMilli, false, 10);
    CHECK(fixture.lead.status().waits_for.empty());
  }
}

TEST_CASE("a lead that was started again waits for the lives in its ledger before it takes another database") {
  Fixture before(config());
  before.train();
  Fixture fixture(started_again(before.lead.ledger()));
  fixture.hello(0, 1);
  CHECK(to_lanes<Refused>(intrude(fixture)).at(0).code == RefusalCode::not_taken);
  fixture.hello(1, 1);
  CHECK(fixture.lead.phase() == Lead::Phase::confirming);
  CHECK(fixture.lead.status().timeline == 1);
}

TEST_CASE(
    "a server without the base is told so by a lead that has heard of no other, and in the end that it was never "
    "taken") {
  Fixture before(config());
  before.train();
  before.held = {{1, 10}};
  before.reports(10);
  before.written();
  Fixture fixture(started_again(before.lead.ledger()));
  const auto refusals = to_lanes<Refused>(intrude(fixture));
  REQUIRE(refusals.size() == 1);
  expect_words(refusals[0].text, {"lacks the snapshot of step 10", "ballast restore"});
  fixture.client(Control::Command::stop);
  REQUIRE(fixture.lead.phase() == Lead::Phase::stopped);
  const auto endings = to_lanes<Finish>(intrude(fixture));
  REQUIRE(endings.size() == 1);
  CHECK(endings[0].ending == Ending::failed);
  expect_words(endings[0].failure, {"never taken for shard 1", "00000000000003e7", "0000000000000065"});
  CHECK(to_lanes<Finish>(fixture.hello(1, 1)).at(0).ending == Ending::stopped);
}

TEST_CASE("a lead names whom a job waits for that has not begun") {
  Fixture fixture(config());
  fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
  CHECK(fixture.lead.status().waits_for == "shard 0 and 1 more to come");
  fixture.hello(0);
  for (int i = 0; i < 10'000; ++i) {
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
  }
  CHECK(fixture.lead.status().waits_for == "shard 1 to come");
  CHECK(fixture.lead.phase() == Lead::Phase::assembling);
  fixture.hello(1);
  fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
  CHECK(fixture.lead.status().waits_for.empty());
}

TEST_CASE("a later life of the same database is taken at once, by a lead that was started again as well") {
  Fixture before(config());
  before.train();
  Fixture fixture(started_again(before.lead.ledger()));
  fixture.incarnations = {2, 2};
  fixture.hello(0, 1);
  const auto actions = fixture.hello(1, 1);
  REQUIRE(find<lead::WriteLedger>(actions) != nullptr);
  CHECK(find<lead::WriteLedger>(actions)->change.ledger.incarnations == std::vector<Incarnation>{2, 2});
}

TEST_CASE("a server without the job's end is not told to record it") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(40);
  fixture.written();
  fixture.held = {{1, 40}};
  fixture.reports(40);
  fixture.written();
  fixture.written();
  REQUIRE(fixture.lead.phase() == Lead::Phase::finished);
  const auto finish = to_lanes<Finish>(intrude(fixture));
  REQUIRE(finish.size() == 1);
  CHECK(finish[0].ending == Ending::failed);
  expect_words(finish[0].failure, {"finished at step 40", "00000000000003e7"});
  fixture.incarnations[1] = 2;
  CHECK(to_lanes<Finish>(fixture.hello(1, 1)).at(0).ending == Ending::finished);
  auto late = fixture.hello_of(0, 1, 0);  // said before shard 0 had the end
  late.held = {{}};
  CHECK(to_lanes<Finish>(fixture.lane(0, late)).at(0).ending == Ending::finished);
}

TEST_CASE("a shard that comes back while the end is being made durable begins no timeline") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(40);
  fixture.written();
  fixture.held = {{1, 40}};
  fixture.reports(40);
  REQUIRE(fixture.lead.phase() == Lead::Phase::concluding);
  fixture.incarnations[1] = 2;
  fixture.hello(1, 1);
  lead::Actions actions;
  for (int i = 0; i < 3 && to_lanes<Finish>(actions).empty(); ++i) {
    actions = fixture.written();
  }
  CHECK(to_lanes<Finish>(actions).size() == 2);
  CHECK(fixture.lead.ledger().timeline == 1);
  CHECK(fixture.lead.phase() == Lead::Phase::finished);
}

TEST_CASE("each life of the lead numbers its orders anew, and names itself") {
  Fixture before(config());
  before.train();
  const auto first_order = [&](std::uint64_t life) {
    auto again = started_again(before.lead.ledger());
    again.life = life;
    Fixture fixture(again);
    fixture.train();
    return fixture.order.order;
  };
  CHECK(before.order.order == LeadNumber{1, 1});
  CHECK(first_order(2) == LeadNumber{2, 1});
}
