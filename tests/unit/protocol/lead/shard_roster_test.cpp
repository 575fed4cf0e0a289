#include "protocol/lead/shard_roster.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr LearntDeadline::Bounds kShardSilence{100, 300, 1'000};

// A job of two shards with two lanes each, whose newest snapshot is of step 10.
Ledger ledger() {
  Ledger ledger;
  ledger.timeline = 1;
  ledger.incarnations = {11, 21};
  ledger.databases = {{1, 1}, {2, 1}};
  ledger.complete = {{1, 10}};
  return ledger;
}

ShardRoster shard_roster(const Ledger& of = {}) { return {2, 2, kShardSilence, of}; }

ShardHello hello(LaneId lane, Incarnation incarnation, DatabaseLife database, Timeline timeline = 0) {
  ShardHello hello;
  hello.lane = lane;
  hello.incarnation = incarnation;
  hello.database = database;
  hello.address = "tcp://10.0.0." + std::to_string(lane.shard) + ":7";
  hello.timeline = timeline;
  hello.held = {{1, 10}};
  return hello;
}

}  // namespace

TEST_CASE("all are there when each lane of each shard has come") {
  auto shards = shard_roster();
  CHECK(shards.who_has_not_come() == "shard 0 and 1 more to come");
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
      CHECK_FALSE(shards.all_there());
      CHECK_FALSE(shards.all([](const LeadLane&) { return true; }));
      shards.admit(hello({shard, lane}, 10 * shard + 11, {shard + 1, 1}), 0);
    }
  }
  CHECK(shards.all_there());
  CHECK(shards.who_has_not_come().empty());
  CHECK(shards.all([](const LeadLane& lane) { return !lane.address.empty(); }));
  shards.lanes().at({1, 0}).left = true;
  CHECK_FALSE(shards.all([](const LeadLane& lane) { return !lane.left; }));
}

TEST_CASE("another life of a shard takes the place of all lanes of the one before") {
  auto shards = shard_roster();
  shards.admit(hello({0, 0}, 11, {1, 1}), 0);
  shards.admit(hello({0, 1}, 11, {1, 1}), 0);
  shards.admit(hello({0, 0}, 12, {1, 2}), 10);
  CHECK(shards.lanes().size() == 1);
  CHECK(shards.heard({0, 0}, 11, 20) == nullptr);
  REQUIRE(shards.heard({0, 0}, 12, 20) != nullptr);
  CHECK(shards.heard({0, 1}, 12, 20) == nullptr);
  CHECK(shards.present(0)->incarnation == 12);
}

TEST_CASE("a life of another database is not taken while the present one is heard of") {
  auto shards = shard_roster(ledger());
  shards.begin(0);
  shards.admit(hello({1, 0}, 21, {2, 1}, 1), 0);
  const auto other = hello({1, 0}, 99, {7, 1}, 0);
  CHECK(shards.why_not_taken(other, ledger(), 10)
            .find("the one at tcp://10.0.0.1:7 (database 0000000000000002, life 1)"
                  " is heard of") != std::string::npos);
  CHECK(shards.why_not_taken(other, ledger(), 1'000).empty());
  CHECK(shards.why_not_taken(hello({1, 0}, 22, {2, 2}, 1), ledger(), 10).empty());  // a later life of the same
}

TEST_CASE("a database that lacks the base is not taken, and is told which snapshot that is") {
  auto shards = shard_roster(ledger());
  shards.begin(0);
  auto empty = hello({1, 0}, 22, {2, 2}, 0);
  empty.held.clear();
  CHECK(shards.why_not_taken(empty, ledger(), 10).find("lacks the snapshot of step 10 (timeline 1)") !=
        std::string::npos);
  Ledger lost;  // the lead's own database
  CHECK(shard_roster().why_not_taken(hello({1, 0}, 22, {2, 2}, 3), lost, 10).find("holds timeline 3 of this job") !=
        std::string::npos);
}

// The next timeline is counted from the furthest that any shard knows of.
TEST_CASE("a shard that knows of timelines far beyond the ledger is not taken, and is told what to do") {
  constexpr Timeline kMost = 65'536;
  auto shards = shard_roster(ledger());
  CHECK(shards.why_not_taken(hello({1, 0}, 21, {2, 1}, 1 + kMost), ledger(), 0).empty());
  for (const auto timeline : {Timeline{2} + kMost, (Timeline{1} << 48U) - 1}) {
    const auto why = shards.why_not_taken(hello({1, 0}, 21, {2, 1}, timeline), ledger(), 0);
    for (const auto& word : {std::to_string(timeline), std::string("shard 0's ledger is at 1"), std::string("65536"),
                             std::string("ballast restore"), std::string("tcp://10.0.0.1:7")}) {
      CHECK_MESSAGE(why.find(word) != std::string::npos, why, " lacks ", word);
    }
  }
}

TEST_CASE("who is turned away is known while it is heard of, unless an earlier life of the present one said it") {
  auto shards = shard_roster();
  shards.admit(hello({0, 0}, 12, {1, 2}), 0);
  shards.turn_away(hello({0, 0}, 11, {1, 1}), "too old", 5);
  CHECK(shards.turned_away().empty());
  shards.turn_away(hello({0, 0}, 99, {7, 1}), "another one", 5);
  shards.turn_away(hello({0, 1}, 99, {7, 1}), "another one", 9);
  REQUIRE(shards.turned_away().contains(0));
  CHECK(shards.turned_away().at(0).since == 5);
  CHECK(shards.turned_away().at(0).heard_at == 9);
  shards.forget_silent_turned_away(309);
  CHECK(shards.turned_away().contains(0));
  shards.forget_silent_turned_away(310);
  CHECK(shards.turned_away().empty());
}

TEST_CASE("of those that are silent for too long, the one for longest is named") {
  auto shards = shard_roster();
  shards.admit(hello({0, 0}, 11, {1, 1}), 0);
  shards.admit(hello({0, 1}, 11, {1, 1}), 50);
  shards.admit(hello({1, 0}, 21, {2, 1}), 60);
  shards.admit(hello({1, 1}, 21, {2, 1}), 60);
  CHECK(shards.longest_silent(300, 0, 7).who.empty());
  CHECK(shards.longest_silent(400, 0, 7).span == 400);
  CHECK(shards.longest_silent(400, 0, 7).who == "shard 0 (lane 0), not heard of for 0 ms, at step 7");
  auto slept = shards;
  slept.forgive(200);
  CHECK(slept.longest_silent(400, 0, 7).who.empty());
  shards.turn_away(hello({0, 0}, 99, {7, 1}), "another one", 390);
  CHECK(shards.longest_silent(400, 0, 7).who == "another one");
  const auto none = shard_roster();
  CHECK(none.longest_silent(100, 0, 0).who.empty());  // who has not come has a shorter time
  CHECK(none.longest_silent(101, 0, 0).span == 101);
}

TEST_CASE("a lane that has not come back with its shard is silent since it was last heard of, in whichever life") {
  auto shards = shard_roster();
  for (const LaneId lane : {LaneId{0, 0}, LaneId{0, 1}}) {
    shards.admit(hello(lane, 11, {1, 1}), 0);
  }
  for (const LaneId lane : {LaneId{1, 0}, LaneId{1, 1}}) {
    shards.admit(hello(lane, 21, {2, 1}), 0);
    REQUIRE(shards.heard(lane, 21, 10'050) != nullptr);
  }
  REQUIRE(shards.heard({0, 0}, 11, 10'000) != nullptr);
  shards.admit(hello({0, 1}, 12, {1, 2}), 10'050);
  CHECK(shards.longest_silent(10'060, 0, 7).who.empty());
  CHECK(shards.longest_silent(10'201, 0, 7).span == 201);
  auto slept = shards;
  slept.forgive(150);
  CHECK(slept.longest_silent(10'201, 0, 7).who.empty());
  CHECK(shards.longest_silent(10'301, 10'100, 7).span == 201);  // it is waited for since then
  shards.admit(hello({0, 1}, 13, {1, 3}), 10'290);
  CHECK(shards.longest_silent(10'301, 0, 7).span == 301);  // another life of the other one is no word of this one
  shards.admit(hello({0, 0}, 13, {1, 3}), 10'295);
  CHECK(shards.longest_silent(10'301, 0, 7).who.empty());
}
