#include "common/telling/changes.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

using Lines = std::vector<std::string>;

Lines texts_between(const Status& before, const Status& now) {
  Lines texts;
  for (const auto& change : changes_between(before, now)) {
    texts.push_back(change.text);
  }
  return texts;
}

Status training_in(Timeline timeline, Step step) {
  Status status;
  status.phase = JobPhase::training;
  status.timeline = timeline;
  status.step = step;
  status.steps = 100;
  return status;
}

TEST_CASE("a rollback is told with the steps that it cost") {
  auto now = training_in(2, 40);
  now.base = {2, 40};
  now.rolled_back_steps = 12;
  CHECK(texts_between(training_in(1, 52), now) ==
        Lines{"the job goes on from the snapshot of step 40 (timeline 2): 12 steps are trained again"});
  now.rolled_back_steps = 0;
  CHECK(texts_between(training_in(1, 40), now) == Lines{"the job goes on from the snapshot of step 40 (timeline 2)"});
}

TEST_CASE("a job's first timeline, and progress alone, are no news") {
  CHECK(texts_between(training_in(0, 0), training_in(1, 0)).empty());
  CHECK(texts_between(training_in(1, 5), training_in(1, 6)).empty());
}

TEST_CASE("skipped steps and missed snapshots are counted") {
  auto now = training_in(1, 9);
  now.skipped_steps = 3;
  now.snapshots_missed = 1;
  now.snapshot = 4;
  auto before = training_in(1, 8);
  before.skipped_steps = 1;
  CHECK(texts_between(before, now) == Lines{"2 steps skipped: the gradient was not finite; 3 so far",
                                            "1 snapshot missed; the newest complete one is of step 4"});
}

TEST_CASE("trouble is told when it comes and when it goes; a wait, when its object changes") {
  auto troubled = training_in(1, 9);
  troubled.trouble = "the disk is full";
  CHECK(texts_between(training_in(1, 8), troubled) == Lines{"trouble: the disk is full"});
  CHECK(texts_between(troubled, troubled).empty());
  CHECK(texts_between(troubled, training_in(1, 9)) == Lines{"over: the disk is full"});
  auto waiting = training_in(1, 9);
  waiting.waits_for = "shard 1 (lane 0), not heard of for 900 ms";
  auto longer = waiting;
  longer.waits_for = "shard 1 (lane 0), not heard of for 1200 ms";
  CHECK(texts_between(training_in(1, 9), waiting) == Lines{"waiting for " + waiting.waits_for});
  CHECK(texts_between(waiting, longer).empty());
}

TEST_CASE("a wait while servers come together is no trouble") {
  auto waiting = training_in(1, 9);
  waiting.waits_for = "shard 1, which has not come";
  const auto is_wrong = [&](JobPhase phase) {
    waiting.phase = phase;
    return changes_between(training_in(1, 9), waiting).at(0).wrong;
  };
  CHECK_FALSE(is_wrong(JobPhase::assembling));
  CHECK(is_wrong(JobPhase::training));
  CHECK(is_wrong(JobPhase::recovering));
}

TEST_CASE("a pause is told with how it ends") {
  auto paused = training_in(1, 9);
  paused.phase = JobPhase::paused;
  CHECK(texts_between(training_in(1, 8), paused) == Lines{"paused at step 9; `ballast resume` lets it go on"});
  CHECK(texts_between(paused, paused).empty());
  CHECK(texts_between(paused, training_in(1, 9)) == Lines{"no longer paused"});
}

TEST_CASE("what hinders a job is its trouble, else who is waited for") {
  auto status = training_in(1, 40);
  CHECK(hindrance(status).empty());
  status.waits_for = "shard 1 (lane 0), not heard of for 1200 ms, at step 3";
  CHECK(hindrance(status) == "waiting for shard 1 (lane 0)");
  status.trouble = "the disk is full";
  CHECK(hindrance(status) == "the disk is full");
  status.bits_trouble = "worker b computes otherwise";
  CHECK(hindrance(status) == "the disk is full");
  status.trouble.clear();
  status.waits_for.clear();
  CHECK(hindrance(status).empty());  // nothing waits for that
}

TEST_CASE("a job that needs workers and has none waits for one, unless the lead names somebody") {
  const std::string none = "a worker, for there is none";
  auto status = training_in(1, 40);
  for (const auto phase : {JobPhase::training, JobPhase::evaluating, JobPhase::pausing}) {
    status.phase = phase;
    CHECK(awaited_by(status) == none);
  }
  status.copies.awaited = true;  // the step is done, and its snapshot is being copied
  CHECK(awaited_by(status).empty());
  status.copies.awaited = false;
  status.waits_for = "shard 1";
  CHECK(awaited_by(status) == "shard 1");
  status.waits_for.clear();
  status.sessions.resize(1);
  CHECK(awaited_by(status) == none);
  status.sessions[0].live = true;
  CHECK(awaited_by(status).empty());
  status.sessions.clear();
  for (const auto phase : {JobPhase::paused, JobPhase::recovering, JobPhase::finished}) {
    status.phase = phase;
    CHECK(awaited_by(status).empty());
  }
}

}  // namespace
}  // namespace ballast
