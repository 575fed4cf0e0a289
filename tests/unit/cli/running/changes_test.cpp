#include "cli/running/changes.h"

#include <doctest/doctest.h>

#include "cli/asking/control.h"
#include "cli/running/training_time.h"

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

Status training(Timeline timeline, Step step) {
  Status status;
  status.phase = JobPhase::training;
  status.timeline = timeline;
  status.step = step;
  status.steps = 100;
  return status;
}

TEST_CASE("a rollback is told with the steps that it cost") {
  auto now = training(2, 40);
  now.base = {2, 40};
  now.rolled_back_steps = 12;
  CHECK(texts_between(training(1, 52), now) ==
        Lines{"the job goes on from the snapshot of step 40 (timeline 2): 12 steps are trained again"});
  now.rolled_back_steps = 0;
  CHECK(texts_between(training(1, 40), now) == Lines{"the job goes on from the snapshot of step 40 (timeline 2)"});
}

TEST_CASE("a job's first timeline, and progress alone, are no news") {
  CHECK(texts_between(training(0, 0), training(1, 0)).empty());
  CHECK(texts_between(training(1, 5), training(1, 6)).empty());
}

TEST_CASE("skipped steps and missed snapshots are counted") {
  auto now = training(1, 9);
  now.skipped_steps = 3;
  now.snapshots_missed = 1;
  now.snapshot = 4;
  auto before = training(1, 8);
  before.skipped_steps = 1;
  CHECK(texts_between(before, now) == Lines{"2 steps skipped: the gradient was not finite; 3 so far",
                                            "1 snapshot missed; the newest complete one is of step 4"});
}

TEST_CASE("trouble is told when it comes and when it goes; a wait, when its object changes") {
  auto troubled = training(1, 9);
  troubled.trouble = "the disk is full";
  CHECK(texts_between(training(1, 8), troubled) == Lines{"trouble: the disk is full"});
  CHECK(texts_between(troubled, troubled).empty());
  CHECK(texts_between(troubled, training(1, 9)) == Lines{"over: the disk is full"});
  auto waiting = training(1, 9);
  waiting.waits_for = "shard 1 (lane 0), not heard of for 900 ms";
  auto longer = waiting;
  longer.waits_for = "shard 1 (lane 0), not heard of for 1200 ms";
  CHECK(texts_between(training(1, 9), waiting) == Lines{"waiting for " + waiting.waits_for});
  CHECK(texts_between(waiting, longer).empty());
}

TEST_CASE("a pause is told with how it ends") {
  auto paused = training(1, 9);
  paused.phase = JobPhase::paused;
  CHECK(texts_between(training(1, 8), paused) == Lines{"paused at step 9; `ballast resume` lets it go on"});
  CHECK(texts_between(paused, paused).empty());
  CHECK(texts_between(paused, training(1, 9)) == Lines{"no longer paused"});
}

// ---- what a command waits for

std::optional<ControlOutcome> outcome(Control::Command command, JobPhase phase) {
  auto status = training(1, 40);
  status.phase = phase;
  status.snapshot = 40;
  status.failure = "no reason";
  return outcome_of(command, status, "ADDRESS");
}

TEST_CASE("a wish is fulfilled when the status shows it") {
  using Command = Control::Command;
  for (const auto phase : {JobPhase::assembling, JobPhase::recovering, JobPhase::waiting, JobPhase::training,
                           JobPhase::evaluating, JobPhase::pausing, JobPhase::finishing}) {
    CAPTURE(name_of(phase));
    CHECK_FALSE(outcome(Command::stop, phase).has_value());
    CHECK_FALSE(outcome(Command::pause, phase).has_value());
  }
  CHECK_FALSE(outcome(Command::stop, JobPhase::paused).has_value());
  CHECK(outcome(Command::stop, JobPhase::stopped)->text ==
        "stopped at step 40 of 100, with a snapshot; it goes on when its servers and workers are started again as they "
        "were");
  CHECK(outcome(Command::pause, JobPhase::paused)->text ==
        "paused at step 40 of 100; let it go on with: ballast resume ADDRESS");
  CHECK_FALSE(outcome(Command::resume, JobPhase::paused).has_value());
  CHECK_FALSE(outcome(Command::resume, JobPhase::pausing).has_value());
  CHECK(outcome(Command::resume, JobPhase::training)->exit_code == 0);
}

TEST_CASE("a stop without a snapshot of its own is told with the reason") {
  auto status = training(1, 40);
  status.phase = JobPhase::stopped;
  status.snapshot = 40;  // of before: with a journal a job goes on beyond it within a step
  status.trouble = "no snapshot was taken in the 20 s after the stop; the disk is full";
  CHECK(outcome_of(Control::Command::stop, status, "ADDRESS")->text ==
        "stopped at step 40 of 100: no snapshot was taken in the 20 s after the stop; the disk is full; its newest "
        "complete snapshot is of step 40; it goes on when its servers and workers are started again as they were");
}

TEST_CASE("what hinders a job is its trouble, else who is waited for") {
  auto status = training(1, 40);
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

TEST_CASE("a job that ended otherwise is told as such") {
  using Command = Control::Command;
  CHECK(outcome(Command::stop, JobPhase::finished)->exit_code == 0);
  CHECK(outcome(Command::pause, JobPhase::finished)->exit_code == 1);
  CHECK(outcome(Command::resume, JobPhase::stopped)->exit_code == 1);
  CHECK(outcome(Command::stop, JobPhase::failed)->exit_code == 1);
  CHECK(outcome(Command::stop, JobPhase::failed)->text.find("no reason") != std::string::npos);
}

// ---- how long was trained

Status trained(Micros training, std::uint64_t examples) {
  Status status;
  status.training = training;
  status.examples = examples;
  return status;
}

TEST_CASE("the time of leads that came after each other is added up") {
  TrainingTime time(false);
  CHECK(time.examples_per_second() == 0);
  time.observe(trained(0, 0));
  time.observe(trained(2'000'000, 200));
  time.observe(trained(0, 150));  // another lead, after a rollback
  time.observe(trained(500'000, 200));
  time.observe(trained(1'000'000, 300));
  CHECK(time.seconds() == 3);
  CHECK(time.examples() == 300);
  CHECK(time.examples_per_second() == 100);
}

TEST_CASE("time in which a job stands still for a trouble that is told counts apart") {
  TrainingTime time(false);
  auto status = trained(1'000'000, 100);
  time.observe(status);
  status.training = 2'000'000;
  time.observe(status);  // a long step is no standstill
  CHECK(time.stood_still() == 0);
  status.training = 3'000'000;
  status.examples = 200;
  time.observe(status);
  status.trouble = "the disk is full";
  status.training = 600'000'000;
  time.observe(status);
  CHECK(time.stood_still() == 595);  // while it lasts; the longest step took 2 s
  status.training = 603'000'000;
  status.examples = 300;
  time.observe(status);
  CHECK(time.stood_still() == 598);
  status.training = 605'000'000;
  status.examples = 400;
  time.observe(status);
  CHECK(time.stood_still() == 598);
  CHECK(time.seconds() == 605);
  CHECK(time.examples_per_second() == doctest::Approx(400.0 / 7));
}

TEST_CASE("a trouble beside which training goes on is no standstill, however often one asks") {
  TrainingTime time(false);
  auto status = trained(0, 0);
  status.trouble = "worker b computes other bits";
  time.observe(status);
  for (std::uint64_t step = 1; step <= 20; ++step) {
    for (int asked = 0; asked < 16; ++asked) {
      status.training += 250'000;
      time.observe(status);
    }
    status.training += 1'000'000;  // 5 s each
    status.examples += 100;
    time.observe(status);
  }
  CHECK(time.stood_still() == 0);
  CHECK(time.examples_per_second() == 20);
}

TEST_CASE("a run that stood still before its first step tells that once it has trained") {
  TrainingTime time(false);
  auto status = trained(1'000'000, 0);
  status.waits_for = "room on the disk";
  time.observe(status);
  status.training = 301'000'000;
  time.observe(status);
  CHECK(time.stood_still() == 0);  // nobody knows yet how long a step takes
  status.waits_for.clear();
  for (int step = 0; step < 2; ++step) {
    status.training += 2'000'000;
    status.examples += 100;
    time.observe(status);
  }
  CHECK(time.stood_still() == 300);
  CHECK(time.examples_per_second() == 40);
}

TEST_CASE("examples of an earlier run are not this run's") {
  TrainingTime time(true);
  time.observe(trained(0, 1000));
  time.observe(trained(100'000, 1010));
  time.observe(trained(2'000'000, 1200));
  CHECK(time.examples() == 190);
}

}  // namespace
}  // namespace ballast
