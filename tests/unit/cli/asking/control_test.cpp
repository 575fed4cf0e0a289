#include "cli/asking/control.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

Status training(Timeline timeline, Step step) {
  Status status;
  status.phase = JobPhase::training;
  status.timeline = timeline;
  status.step = step;
  status.steps = 100;
  return status;
}

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
        "stopped at step 40 of 100, with a snapshot of step 40; it goes on when its servers and workers are started "
        "again as they were");
  CHECK(outcome(Command::pause, JobPhase::paused)->text ==
        "paused at step 40 of 100; let it go on with: ballast resume ADDRESS");
  auto paused = training(1, 40);
  paused.phase = JobPhase::paused;
  CHECK(outcome_of(Command::pause, paused, "my runs/a")->text.ends_with(": ballast resume 'my runs/a'"));
  CHECK(outcome_of(Command::pause, paused, "tcp://a:1", "my keys")
            ->text.ends_with(": ballast resume tcp://a:1 --keys 'my keys'"));
  CHECK_FALSE(outcome(Command::resume, JobPhase::paused).has_value());
  CHECK_FALSE(outcome(Command::resume, JobPhase::pausing).has_value());
  CHECK(outcome(Command::resume, JobPhase::training)->exit_code == 0);
}

TEST_CASE("a stop's snapshot is named though a step was on its way when it was taken") {
  auto status = training(1, 41);
  status.phase = JobPhase::stopped;
  status.snapshot = 40;
  const auto text = outcome_of(Control::Command::stop, status, "ADDRESS")->text;
  CHECK(text.starts_with("stopped at step 41 of 100, with a snapshot of step 40; "));
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

TEST_CASE("a job that ended otherwise is told as such") {
  using Command = Control::Command;
  CHECK(outcome(Command::stop, JobPhase::finished)->exit_code == 0);
  CHECK(outcome(Command::pause, JobPhase::finished)->exit_code == 1);
  CHECK(outcome(Command::resume, JobPhase::stopped)->exit_code == 1);
  CHECK(outcome(Command::stop, JobPhase::failed)->exit_code == 1);
  CHECK(outcome(Command::stop, JobPhase::failed)->text.find("no reason") != std::string::npos);
}

}  // namespace
}  // namespace ballast
