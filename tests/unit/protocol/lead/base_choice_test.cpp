#include "protocol/lead/base_choice.h"

#include <doctest/doctest.h>

#include "tests/unit/protocol/lead/lead_fixture.h"

using namespace ballast;
using namespace ballast::two_shards;

namespace {

constexpr RunId kRun = 77;
constexpr LearntDeadline::Bounds kSilence{100, 300, 1'000};

// A job whose newest snapshot is of step 30, and whose newest copy of step 20.
Ledger copied_ledger() {
  Ledger ledger;
  ledger.timeline = 1;
  ledger.complete = {{1, 10}, {1, 20}, {1, 30}};
  ledger.best = SnapshotId{1, 10};
  ledger.copies = {kRun, {1, 30}, {1, 20}, 5, 1};
  return ledger;
}

ShardHello hello_with(std::uint32_t shard, std::vector<SnapshotId> held, std::vector<SnapshotId> copied = {},
                      std::vector<SnapshotId> lost = {}) {
  ShardHello hello;
  hello.lane = {shard, 0};
  hello.incarnation = 11 + shard;
  hello.database = {shard + 1, 1};
  hello.held = std::move(held);
  hello.run = kRun;
  hello.copied = std::move(copied);
  hello.lost = std::move(lost);
  return hello;
}

ShardRoster::Lanes lanes_of(const std::vector<ShardHello>& hellos) {
  ShardRoster shards(2, 1, kSilence, {});
  for (const auto& hello : hellos) {
    shards.admit(hello, 0);
  }
  return shards.lanes();
}

const std::vector<SnapshotId> kAllOfThem = {{1, 10}, {1, 20}, {1, 30}};

}  // namespace

TEST_CASE("the base is the newest complete snapshot if all hold it, or if the job does not name its run") {
  CHECK(choose_base(copied_ledger(), lanes_of({hello_with(0, kAllOfThem), hello_with(1, kAllOfThem, {{1, 20}})}), 0) ==
        SnapshotId{1, 30});
  auto unnamed = hello_with(1, {}, {{1, 20}});  // which rule 5 of who is a shard does not let in
  unnamed.run = 0;
  auto other = hello_with(0, kAllOfThem);
  other.run = 78;
  CHECK(choose_base(copied_ledger(), lanes_of({other, unnamed}), 0) == SnapshotId{1, 30});
  CHECK(choose_base(copied_ledger(), lanes_of({hello_with(0, kAllOfThem), hello_with(1, {})}), 0) == std::nullopt);
}

TEST_CASE("a shard that has lost its disk takes all back to the newest whole set of copies") {
  const auto all = lanes_of({hello_with(0, kAllOfThem), hello_with(1, {}, {{1, 10}, {1, 20}})});
  CHECK(choose_base(copied_ledger(), all, 0) == SnapshotId{1, 20});
  auto ledger = copied_ledger();
  go_back_to(ledger, {1, 20}, all);
  CHECK(ledger.complete == std::vector<SnapshotId>{{1, 20}});  // all hold no older one
  CHECK_FALSE(ledger.best);
  CHECK(ledger.copies == CopyState{kRun, {}, {1, 20}, 5, 1});
  CHECK(ledger.named_before == SnapshotId{1, 30});  // an upload of it may still appear
}

TEST_CASE("a set of which a part is damaged is passed over, by whoever's part it is, also where others hold no older") {
  const std::vector<SnapshotId> sets = {{1, 5}, {1, 20}};
  auto ledger = copied_ledger();
  auto all = lanes_of({hello_with(0, kAllOfThem), hello_with(1, {}, sets, {{1, 20}})});
  CHECK(choose_base(ledger, all, 0) == SnapshotId{1, 5});
  go_back_to(ledger, {1, 5}, all);
  CHECK(ledger.complete == std::vector<SnapshotId>{{1, 5}});
  CHECK(ledger.copies.complete == SnapshotId{1, 5});
  all = lanes_of({hello_with(0, {{1, 20}}, {}, {{1, 5}}), hello_with(1, {}, sets, {{1, 20}})});
  CHECK(choose_base(copied_ledger(), all, 0) == std::nullopt);
}

TEST_CASE("an older snapshot that all hold is as good, and never the initial weights") {
  auto all = lanes_of({hello_with(0, kAllOfThem), hello_with(1, {{0, 0}, {1, 10}}, {{1, 20}}, {{1, 20}})});
  CHECK(choose_base(copied_ledger(), all, 0) == SnapshotId{1, 10});
  auto ledger = copied_ledger();
  ledger.complete = {{0, 0}, {1, 20}, {1, 30}};
  all = lanes_of({hello_with(0, {{0, 0}, {1, 20}, {1, 30}}), hello_with(1, {{0, 0}}, {{1, 20}}, {{1, 20}})});
  CHECK(choose_base(ledger, all, 0) == std::nullopt);
}

TEST_CASE("what the lead has no statistics of is no base") {
  const auto all = lanes_of({hello_with(0, kAllOfThem), hello_with(1, {}, {{1, 20}})});
  CHECK(choose_base(copied_ledger(), all, 20) == SnapshotId{1, 20});
  CHECK(choose_base(copied_ledger(), all, 21) == std::nullopt);
}

TEST_CASE("a set counts only if this run has copied under the name, and has named nothing older") {
  const auto ledger = copied_ledger();
  CHECK(may_go_on_from_copy(ledger, kRun, {1, 20}));
  CHECK(may_go_on_from_copy(ledger, kRun, {1, 30}));  // it may be whole before the lead has heard of it
  CHECK_FALSE(may_go_on_from_copy(ledger, kRun, {1, 40}));
  CHECK_FALSE(may_go_on_from_copy(ledger, kRun, {0, 0}));
  CHECK_FALSE(may_go_on_from_copy(ledger, 78, {1, 20}));
  auto none = ledger;
  none.copies.complete = {};
  CHECK_FALSE(may_go_on_from_copy(none, kRun, {1, 20}));
  none.copies = {0, {}, {1, 20}, 5, 1};
  CHECK_FALSE(may_go_on_from_copy(none, 0, {1, 20}));
}

TEST_CASE("a shard with an empty disk is taken when there is a copy for it, and told what is missing before") {
  ShardRoster shards(2, 1, kSilence, {});
  const auto ledger = copied_ledger();
  const auto why = [&](const ShardHello& hello, const Ledger& of) { return shards.why_not_taken(hello, of, 10); };
  CHECK(why(hello_with(1, {}, {{1, 20}}), ledger).empty());
  CHECK(why(hello_with(1, {{1, 10}}), ledger).empty());  // an older state of the disk
  CHECK(why(hello_with(1, {{0, 0}}), ledger).find("No copy has been found yet") != std::string::npos);
  CHECK(why(hello_with(1, {}, {{1, 20}}, {{1, 20}}), ledger).find("lacks the snapshot of step 30") !=
        std::string::npos);
  auto unreachable = hello_with(1, {});
  unreachable.copies_trouble = "s3://b: no answer";
  CHECK(why(unreachable, ledger).find("cannot be looked at: s3://b: no answer") != std::string::npos);
  auto none = ledger;
  none.copies.complete = {};
  CHECK(why(hello_with(1, {}, {{1, 20}}), none).find("There is no complete copy of this run") != std::string::npos);
  auto unnamed = hello_with(1, {{1, 10}}, {{1, 20}});
  unnamed.run = 0;
  CHECK(why(unnamed, ledger).ends_with("(ballast restore)"));
}

TEST_CASE("a disk that is lost, and then its copy's damage, take the job back twice; then it waits, and ends") {
  auto again = config();
  again.copies = CopyRules{5, 1'000'000'000, true};
  again.run = kRun;
  auto ledger = copied_ledger();
  ledger.base = {1, 20};
  ledger.incarnations = {1, 1};
  ledger.databases = {{100, 1}, {101, 1}};
  ledger.copies_in = 5;
  again.memory.ledger = ledger;
  for (Step step = 0; step < 30; ++step) {
    again.memory.statistics.push_back({step, 1, 1, 1});
  }
  again.memory.statistics_next = 30;
  Fixture fixture(again);
  fixture.incarnations = {2, 9};
  auto whole = fixture.hello_of(0, 1, 0);
  whole.run = kRun;
  fixture.lane(0, whole);
  fixture.now += 60'000'000;
  fixture.lead.step(lead::Tick{fixture.now});  // it sleeps; who is silent is forgiven
  auto empty = hello_with(1, {}, {{1, 5}, {1, 20}});
  empty.shards = 2;
  empty.lanes = 1;
  empty.incarnation = 9;
  empty.database = {999, 1};
  empty.spec_digest = "spec";
  empty.layout_digest = "layout";
  const auto find_base = [&](const lead::Actions& actions) {
    const auto* write = find<lead::WriteLedger>(actions);
    return write == nullptr ? std::nullopt : std::optional(write->change.ledger.base);
  };
  for (int i = 0; i < 60; ++i) {  // the one before is silent until it may be another
    fixture.now += 500'000;
    fixture.lead.step(lead::Tick{fixture.now});
    fixture.lane(0, whole);
    fixture.written();
  }
  fixture.settle();
  auto actions = fixture.lane(1, empty);
  CHECK(find_base(actions) == SnapshotId{1, 20});
  auto confirms = to_lanes<Confirm>(fixture.written());
  REQUIRE(confirms.size() == 2);
  CHECK(confirms[1] == Confirm{9, 2, {1, 20}, false, 20});
  empty.lost = {{1, 20}};
  actions = fixture.lane(1, empty);
  CHECK(find_base(actions) == SnapshotId{1, 5});
  fixture.written();
  CHECK(fixture.lead.ledger().timeline == 3);
  CHECK(fixture.lead.ledger().complete == std::vector<SnapshotId>{{1, 5}});
  CHECK(fixture.lead.ledger().rollbacks.total() == 1);  // nobody has trained in the second
  empty.lost = {{1, 5}, {1, 20}};
  CHECK(find_base(fixture.lane(1, empty)) == std::nullopt);
  fixture.now += 20'000;
  fixture.lead.step(lead::Tick{fixture.now});
  CHECK(fixture.lead.status().waits_for.find("shard 1 (database 00000000000003e7, life 1), which has lost its part of "
                                             "step 5") != std::string::npos);
  empty.lost = {{1, 20}};  // another copy of it was put in the place
  CHECK(find_base(fixture.lane(1, empty)) == SnapshotId{1, 5});
}

TEST_CASE("shards that have no base in common are waited for from then on, not from when the first of them came") {
  auto again = config();
  again.copies = CopyRules{5, 1'000'000'000, true};
  again.run = kRun;
  again.memory.ledger = copied_ledger();
  again.memory.ledger.base = {1, 20};
  again.memory.ledger.incarnations = {1, 1};
  again.memory.ledger.databases = {{100, 1}, {101, 1}};
  again.memory.ledger.copies_in = 5;
  again.memory.statistics_next = 30;
  Fixture fixture(again);
  fixture.incarnations = {2, 9};
  const auto empty = [&](std::uint32_t shard, SnapshotId found, SnapshotId lost) {
    auto hello = hello_with(shard, {}, {found});
    hello.lost = {lost};
    hello.shards = 2;
    hello.lanes = 1;
    hello.incarnation = fixture.incarnations[shard];
    hello.database = {900 + shard, 1};
    hello.spec_digest = "spec";
    hello.layout_digest = "layout";
    return hello;
  };
  const auto live = [&](Micros until) {
    while (fixture.now < until) {
      fixture.now += 500'000;
      fixture.lead.step(lead::Tick{fixture.now});
      fixture.lane(0, empty(0, {1, 5}, {1, 20}));
    }
  };
  const auto begun = fixture.now;
  live(begun + again.patience - 1'000'000);
  REQUIRE(fixture.lead.phase() == Lead::Phase::assembling);
  fixture.lane(1, empty(1, {1, 20}, {1, 5}));
  for (int i = 0; i < 10; ++i) {
    live(fixture.now + 500'000);
    fixture.lane(1, empty(1, {1, 20}, {1, 5}));
  }
  CHECK(fixture.lead.phase() == Lead::Phase::assembling);
  CHECK(fixture.lead.status().waits_for.find("which has lost its part") != std::string::npos);
}
