#include "protocol/lead/copy_course.h"

#include <doctest/doctest.h>

#include "tests/unit/protocol/lead/lead_fixture.h"

namespace ballast {
namespace {

constexpr Micros kCopyPatience = 10'000'000;

// A course with two shards, whose reports the test writes.
struct CopyOfRun {
  CopyCourse course{77, 5, CopyRules{5, kCopyPatience}};
  Ledger ledger;
  std::vector<CopyPart> parts = {{0, {}, {}}, {1, {}, {}}};

  CopyOfRun() {
    ledger.timeline = 1;
    ledger.complete = {{0, 0}};
  }
  bool complete(SnapshotId id) {
    ledger.complete.push_back(id);
    return course.follow(ledger, parts);
  }
  bool copied(std::uint32_t shard, SnapshotId id) {
    parts[shard].progress = {ledger.copies.run, id, 100, 0, true, false};
    return course.follow(ledger, parts);
  }
  [[nodiscard]] bool awaits() const { return course.awaits(ledger, ledger.complete.back(), parts); }
};

TEST_CASE("one snapshot is named at a time, and the newest after it") {
  CopyOfRun at;
  CHECK(at.course.follow(at.ledger, at.parts));  // the run's id, and where its copies are
  CHECK(at.ledger.copies == CopyState{77, {}, {}, 5, 1});
  CHECK_FALSE(at.course.follow(at.ledger, at.parts));
  CHECK_FALSE(at.awaits());  // any run can make the initial weights again
  CHECK(at.complete({1, 10}));
  CHECK(at.ledger.copies == CopyState{77, {1, 10}, {}, 5, 1});
  CHECK_FALSE(at.complete({1, 20}));
  CHECK_FALSE(at.complete({1, 30}));
  CHECK(at.awaits());
  CHECK_FALSE(at.copied(1, {1, 10}));
  CHECK(at.copied(0, {1, 10}));
  CHECK(at.ledger.copies == CopyState{77, {1, 30}, {1, 10}, 5, 1});
  CHECK_FALSE(at.copied(0, {1, 30}));
  CHECK(at.copied(1, {1, 30}));
  CHECK(at.ledger.copies == CopyState{77, {}, {1, 30}, 5, 1});
  CHECK_FALSE(at.awaits());
}

TEST_CASE("a shard that is away, or started again, has copied what it says and nothing else") {
  CopyOfRun at;
  at.complete({1, 10});
  at.copied(0, {1, 10});
  at.parts[0].progress = {};  // another life
  CHECK_FALSE(at.copied(1, {1, 10}));
  CHECK_FALSE(at.copied(0, {1, 5}));
  CHECK(at.copied(0, {1, 10}));
  CHECK(at.ledger.copies.complete == SnapshotId{1, 10});
}

TEST_CASE("what is named stays so across a rollback and another life of the lead") {
  CopyOfRun at;
  at.complete({1, 10});
  at.complete({1, 20});
  at.ledger.timeline = 2;
  at.ledger.base = {1, 20};
  CopyOfRun again;
  again.ledger = at.ledger;
  CHECK_FALSE(again.course.follow(again.ledger, again.parts));
  again.copied(0, {1, 10});
  again.copied(1, {1, 10});
  CHECK(again.ledger.copies == CopyState{77, {1, 20}, {1, 10}, 5, 1});
}

TEST_CASE("patience with a snapshot ends in a newer one, is told, and is told no more when one is copied") {
  CopyOfRun at;
  at.complete({1, 10});
  at.parts[1] = {1, {77, {1, 10}, 0, 4, false, false}, "the place is full"};
  at.copied(0, {1, 10});
  at.course.wait(2 * kCopyPatience);  // most of it before it was named
  at.course.wait(kCopyPatience);
  CHECK_FALSE(at.course.follow(at.ledger, at.parts));
  CHECK(at.course.trouble().empty());
  at.course.wait(1);
  CHECK_FALSE(at.course.follow(at.ledger, at.parts));  // there is no newer one
  CHECK(at.course.trouble() ==
        "the snapshot of step 10 was not copied within 10 s (durability.copy_patience) by shard 1 (the place is full); "
        "there is no complete copy yet");
  CHECK(at.complete({1, 20}));
  CHECK(at.ledger.copies == CopyState{77, {1, 20}, {}, 5, 1});
  CHECK_FALSE(at.course.trouble().empty());
  at.copied(0, {1, 20});
  at.copied(1, {1, 20});
  CHECK(at.course.trouble().empty());
  at.complete({1, 30});
  at.course.wait(1);
  at.course.wait(kCopyPatience + 1);  // each has a patience of its own
  at.course.follow(at.ledger, at.parts);
  CHECK(at.course.trouble().find("; no complete copy since step 20") != std::string::npos);
}

TEST_CASE("copies in another place say nothing of this one, and a job that keeps none keeps no snapshot for them") {
  CopyOfRun at;
  at.complete({1, 10});
  at.copied(0, {1, 10});
  at.copied(1, {1, 10});
  CopyOfRun elsewhere;
  elsewhere.course = CopyCourse(78, 6, CopyRules{6, kCopyPatience});
  elsewhere.ledger = at.ledger;
  CHECK(elsewhere.course.follow(elsewhere.ledger, elsewhere.parts));
  CHECK(elsewhere.ledger.copies == CopyState{77, {1, 10}, {}, 6, 2});
  CopyOfRun nowhere;
  nowhere.course = CopyCourse(79, 7, std::nullopt);
  nowhere.ledger = at.ledger;
  CHECK(nowhere.course.follow(nowhere.ledger, {}));
  CHECK(nowhere.ledger.copies == CopyState{77, {}, {}, 5, 1});
  CHECK_FALSE(nowhere.awaits());
}

TEST_CASE("a life whose run's name is another's copies all anew under a name of its own") {
  CopyOfRun at;
  at.complete({1, 10});
  at.copied(0, {1, 10});
  at.copied(1, {1, 10});
  at.complete({1, 20});
  REQUIRE(at.ledger.copies == CopyState{77, {1, 20}, {1, 10}, 5, 1});

  CopyOfRun
      copied;  // its folder was copied: the ledger is the same, and the life and what it would be called are its own
  copied.course = CopyCourse(78, 6, CopyRules{5, kCopyPatience});
  copied.ledger = at.ledger;
  CHECK(copied.course.told(copied.ledger.copies) == CopyState{});  // not of this life
  CHECK(copied.course.follow(copied.ledger, copied.parts));
  CHECK(copied.ledger.copies == CopyState{77, {1, 20}, {1, 10}, 6, 2});
  CHECK(copied.ledger.copy_lives == std::vector<std::uint64_t>{5});
  CHECK(copied.course.told(copied.ledger.copies) == copied.ledger.copies);
  copied.parts[0].progress = {76, {1, 20}, 0, 0, false, true};  // of another name
  CHECK_FALSE(copied.course.follow(copied.ledger, copied.parts));
  copied.parts[0].progress = {77, {1, 20}, 0, 0, false, true};
  copied.parts[1].progress = {77, {1, 20}, 100, 0, true, false};
  CHECK(copied.course.follow(copied.ledger, copied.parts));
  CHECK(copied.ledger.copies == CopyState{78, {1, 20}, {}, 6, 3});
  CHECK(copied.ledger.copy_lives.empty());
  CHECK_FALSE(copied.course.follow(copied.ledger, copied.parts));  // once
  copied.parts[0].progress = {78, {1, 20}, 100, 0, true, false};
  CHECK_FALSE(copied.course.follow(copied.ledger, copied.parts));  // shard 1 has done it under the other name
  CHECK(copied.copied(1, {1, 20}));
  CHECK(copied.ledger.copies == CopyState{78, {}, {1, 20}, 6, 3});
  copied.parts[0].progress = {78, {}, 0, 0, false, true};  // copied in mid-run
  CHECK(copied.course.follow(copied.ledger, copied.parts));
  CHECK(copied.ledger.copies == CopyState{79, {1, 20}, {}, 6, 4});
}

TEST_CASE("the newest lives of which there may be claims are known, in a place that the job goes back to as well") {
  CopyOfRun first;
  first.complete({1, 10});
  CopyOfRun second;
  second.course = CopyCourse(78, 6, CopyRules{5, kCopyPatience});
  second.ledger = first.ledger;
  second.course.follow(second.ledger, second.parts);
  CopyOfRun third;
  third.course = CopyCourse(79, 7, CopyRules{5, kCopyPatience});
  third.ledger = second.ledger;
  third.course.follow(third.ledger, third.parts);
  CHECK(third.ledger.copies == CopyState{77, {1, 10}, {}, 7, 3});
  CHECK(third.ledger.copy_lives == std::vector<std::uint64_t>{5, 6});
  third.copied(0, {1, 10});
  third.copied(1, {1, 10});
  CHECK(third.ledger.copy_lives == std::vector<std::uint64_t>{5, 6});
  for (std::uint64_t life = 8; life < 1'000; ++life) {
    third.course = CopyCourse(79, life, CopyRules{5, kCopyPatience});
    third.course.follow(third.ledger, third.parts);
  }
  CHECK(third.ledger.copy_lives.size() == 256);
  CHECK(third.ledger.copy_lives.back() == 998);
}

TEST_CASE("what was named when a life began stays known, and nothing was under a name of its own") {
  CopyOfRun first;
  first.complete({1, 10});
  CopyOfRun second;
  second.course = CopyCourse(78, 6, CopyRules{5, kCopyPatience});
  second.ledger = first.ledger;
  second.complete({1, 20});
  CHECK(second.ledger.named_before == SnapshotId{1, 10});
  second.parts[0].progress = {77, {1, 10}, 0, 0, false, true};
  second.course.follow(second.ledger, second.parts);
  CHECK(second.ledger.copies.run == 78);
  CHECK(second.ledger.named_before == SnapshotId{});
}

TEST_CASE("the last copy is waited for, but not for ever, nor for a place that fails again and again") {
  CopyOfRun at;
  at.complete({1, 10});
  CHECK(at.awaits());
  at.parts[1].progress = {77, {1, 10}, 0, 2, false, false};
  CHECK(at.awaits());
  at.parts[1].progress.failures = 3;
  CHECK_FALSE(at.awaits());
  at.parts[1].trouble = "access denied";
  at.course.end(at.ledger, at.parts);
  CHECK(at.course.trouble() ==
        "the newest snapshot, of step 10, was not copied by shard 0; there is no complete copy yet");
  at.parts[1].progress.failures = 0;
  at.course.wait(kCopyPatience + 1);
  CHECK(at.awaits());  // most of that time it was not named
  at.course.wait(kCopyPatience + 1);
  CHECK_FALSE(at.awaits());
}

// ---- in the lead

using namespace two_shards;

LeadConfig copying() {
  auto lead = two_shards::config();
  lead.run = 77;
  lead.copies = CopyRules{5, kCopyPatience};
  lead.snapshots_kept = 1;
  lead.test_examples = 0;
  return lead;
}

// Two shards, which report a copy of their own beside their course.
struct Copying : two_shards::Fixture {
  Copying() : Fixture(copying()) { train(); }
  void hold(SnapshotId id, Step open) {
    Fixture::held = {id};
    reports(open);
    written();
    reports(open);
  }
  void copied(std::uint32_t shard, SnapshotId id, Step open) {
    auto report = state(shard, open);
    report.copy = {77, id, 100, 0, true, false};
    lane(shard, report);
  }
};

TEST_CASE("what is to be copied is said when it is durable, and stays in the list of what is kept") {
  Copying at;
  at.hold({1, 10}, 11);
  CHECK(at.plan[0].copies == CopyState{77, {1, 10}, {}, 1, 1});
  at.hold({1, 20}, 21);
  at.hold({1, 30}, 31);
  CHECK(at.plan[1].copies == CopyState{77, {1, 10}, {}, 1, 1});
  CHECK(at.plan[1].keep == std::vector<SnapshotId>{{1, 10}, {1, 30}});
  at.copied(0, {1, 10}, 31);
  at.copied(1, {1, 10}, 31);
  CHECK(at.plan[0].copies == CopyState{77, {1, 10}, {}, 1, 1});  // not durable yet
  at.written();
  at.reports(31);
  CHECK(at.plan[0].copies == CopyState{77, {1, 30}, {1, 10}, 1, 1});
  CHECK(at.lead.status().copies.copied == 10);
  CHECK(at.lead.status().copies.copying == 30);
}

TEST_CASE("a stop waits for the copy of its snapshot, and a pause does not") {
  Copying at;
  at.reports(5);
  at.client(Control::Command::stop);
  const auto step = at.plan[0].snapshots.front();
  at.hold({1, step}, step);
  CHECK(at.lead.phase() == Lead::Phase::training);
  CHECK(at.lead.status().copies.awaited);
  at.client(Control::Command::stop);  // it is said again and again
  CHECK(at.lead.phase() == Lead::Phase::training);
  at.copied(0, {1, step}, step);
  at.copied(1, {1, step}, step);
  at.written();
  CHECK(at.lead.phase() == Lead::Phase::stopped);
  CHECK(at.lead.status().trouble.empty());

  Copying paused;
  paused.reports(5);
  paused.client(Control::Command::pause);
  const auto at_step = paused.plan[0].snapshots.front();
  paused.hold({1, at_step}, at_step);
  paused.settle();
  CHECK(paused.lead.status().phase == JobPhase::paused);
  CHECK_FALSE(paused.lead.status().copies.awaited);
}

TEST_CASE("a stop whose copy fails again and again ends without it, and says so") {
  Copying at;
  at.reports(5);
  at.client(Control::Command::stop);
  const auto step = at.plan[0].snapshots.front();
  at.hold({1, step}, step);
  at.copied(0, {1, step}, step);
  auto report = at.state(1, step);
  report.copy = {77, {1, step}, 0, 3, false, false};
  report.trouble = "access denied";
  at.lane(1, report);
  CHECK(at.lead.phase() == Lead::Phase::stopped);
  CHECK(at.lead.status().trouble == "the newest snapshot, of step " + std::to_string(step) +
                                        ", was not copied by shard 1 (access denied); there is no complete copy yet");
}

TEST_CASE("a run that the job file names takes that name, keeps it, and copies nothing when it is another job's") {
  CopyOfRun at;
  at.course = CopyCourse{77, 5, CopyRules{5, kCopyPatience, true}};
  at.ledger.copies = {33, {}, {1, 5}, 4, 2};  // drawn at random, before the job file named one
  at.ledger.copies_in = 5;
  at.ledger.complete = {{1, 5}};
  CHECK(at.course.follow(at.ledger, at.parts));
  CHECK(at.ledger.copies.run == 77);
  CHECK(at.ledger.copies.complete == SnapshotId{});
  CHECK(at.ledger.copies.named == SnapshotId{1, 5});
  at.copied(0, {1, 5});
  at.copied(1, {1, 5});
  CHECK(at.ledger.copies.complete == SnapshotId{1, 5});
  at.complete({1, 10});
  at.parts[0].progress = {77, {1, 10}, 0, 0, false, true};
  const auto turn = at.ledger.copies.turn;
  CHECK(at.course.follow(at.ledger, at.parts));
  CHECK(at.ledger.copies == CopyState{77, {}, {}, 5, turn + 1});
  CHECK_FALSE(at.complete({1, 20}));
  CHECK_FALSE(at.awaits());
  CHECK(at.course.trouble().find("durability.run") != std::string::npos);
}

TEST_CASE("statistics are kept from the oldest set on to which a named run may go back") {
  CopyOfRun at;
  CHECK(at.course.oldest(2) > 1'000'000);
  at.course = CopyCourse{77, 5, CopyRules{5, kCopyPatience, true}};
  for (Step step = 10; step <= 40; step += 10) {
    CHECK(at.course.oldest(2) == (step <= 30 ? 0 : 10));
    at.complete({1, step});
    at.copied(0, {1, step});
    at.copied(1, {1, step});
  }
  CHECK(at.course.oldest(2) == 20);
}

}  // namespace
}  // namespace ballast
