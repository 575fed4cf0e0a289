// The user's stops, by the judge alone.
#include <doctest/doctest.h>

#include "tests/simulation/judge/stop.h"
#include "tests/simulation/judge/violation.h"
#include "tests/unit/simulation/small_life.h"

namespace ballast::simulation {
namespace {

using doctest::Contains;
using Command = Control::Command;
using Phase = Lead::Phase;

constexpr SessionId kStoppedSession = 3;
constexpr Micros kTick = 4'000;
constexpr Micros kBegun = 900'000;
constexpr StopJudge::Reached kReached{1, 2};

LifeSpec impatient_life() {
  auto life = small_life();
  life.tick = kTick;
  life.stop_patience = 20'000;
  life.worker_silence.floor = 70'000;
  return life;
}

// A lead that has given work, and heard of a stop when two steps had been done.
struct Stopped {
  LifeSpec life = impatient_life();
  StopJudge judge{life};
  Micros clock = kBegun;

  Stopped() {
    judge.lead_starts();
    judge.ticks(clock);
    Assign assign;
    assign.timeline = 1;
    judge.assigned(kStoppedSession, assign);
    judge.commanded(Command::stop, Phase::training, kReached);
  }
  void tick(int count, Micros span = kTick) {
    for (int i = 0; i < count; ++i) {
      clock += span;
      judge.ticks(clock);
    }
  }
};

Status status_of(Step step) {
  Status status;
  status.step = step;
  status.snapshot = step;
  status.sessions.emplace_back();
  status.sessions.back().session = kStoppedSession;
  status.sessions.back().live = true;
  status.sessions.emplace_back();
  return status;
}

Status out_of_patience(Step step) {
  auto status = status_of(step);
  status.trouble = "shard 1 could not (cluster.stop_patience)";
  return status;
}

Ledger ledger_of(Step newest) {
  Ledger ledger;
  ledger.timeline = 1;
  ledger.complete = {{1, newest}};
  return ledger;
}

TEST_CASE("stop: it is over when its patience is, which begins with the lead's first tick after it") {
  Stopped job;
  job.tick(6);
  CHECK_NOTHROW(job.judge.stands(Phase::training, Phase::training));
  job.judge.commanded(Command::stop, Phase::training, kReached);  // said again it is the same stop
  job.tick(1);
  CHECK_THROWS_WITH_AS(job.judge.stands(Phase::training, Phase::training),
                       Contains("a stop is not over 24 ms after its beginning, or that of the writing of the end, "
                                "though its patience is 20 ms"),
                       Violation);
  CHECK_NOTHROW(job.judge.stands(Phase::training, Phase::finished));
  CHECK_NOTHROW(job.judge.stands(Phase::training, Phase::stopped));
}

TEST_CASE("stop: a lead that may have stood still need not have used up patience, and one that has did not") {
  Stopped late;
  late.tick(20, 3 * kTick + 1);
  CHECK_NOTHROW(late.judge.stands(Phase::training, Phase::training));
  CHECK(late.judge.is_patience_over());
  Stopped just;
  just.tick(3, 3 * kTick);
  CHECK_THROWS_WITH_AS(just.judge.stands(Phase::training, Phase::training), Contains("a stop is not over 24 ms"),
                       Violation);
  Stopped stood;
  stood.tick(20, 35'001);
  CHECK_FALSE(stood.judge.is_patience_over());
  stood.tick(1, 35'000);
  CHECK(stood.judge.is_patience_over());
}

TEST_CASE("stop: the writing of the end has a patience of its own") {
  Stopped quick;
  CHECK_FALSE(quick.judge.gave_up_copy());
  quick.tick(5);
  quick.judge.stands(Phase::finishing, Phase::concluding);
  CHECK_FALSE(quick.judge.gave_up_copy());
  quick.tick(6);
  CHECK_NOTHROW(quick.judge.stands(Phase::concluding, Phase::concluding));
  quick.tick(1);
  CHECK_THROWS_WITH_AS(quick.judge.stands(Phase::concluding, Phase::concluding), Contains("a stop is not over"),
                       Violation);
  Stopped slow;
  slow.tick(6);
  slow.judge.stands(Phase::finishing, Phase::concluding);
  CHECK(slow.judge.gave_up_copy());
}

TEST_CASE("stop: a job is stopped for a stop that was said, not taken back, and to the lead that there is") {
  const auto nobody = Contains("a job is stopped, and nobody has said so");
  const auto stopped = [](const Stopped& job) {
    job.judge.stopped(Phase::training, status_of(2), ledger_of(2), kReached);
  };
  Stopped job;
  CHECK_NOTHROW(stopped(job));
  job.judge.lead_starts();
  CHECK_THROWS_WITH_AS(stopped(job), nobody, Violation);
  job.judge.commanded(Command::stop, Phase::finished, kReached);
  CHECK_THROWS_WITH_AS(stopped(job), nobody, Violation);
  job.judge.stands(Phase::finishing, Phase::concluding);
  CHECK_THROWS_WITH_AS(stopped(job), nobody, Violation);
  Stopped taken_back;
  taken_back.judge.commanded(Command::resume, Phase::evaluating, kReached);
  CHECK_THROWS_WITH_AS(stopped(taken_back), nobody, Violation);
  Stopped finishing;
  finishing.judge.commanded(Command::resume, Phase::finishing, kReached);
  CHECK_NOTHROW(stopped(finishing));
}

TEST_CASE("stop: it is out of patience only if it is, and a job that is about to finish is stopped for nothing else") {
  Stopped job;
  job.tick(5);
  CHECK_THROWS_WITH_AS(job.judge.stopped(Phase::training, out_of_patience(2), ledger_of(2), kReached),
                       Contains("a stop is said to be out of patience, and is not"), Violation);
  job.tick(1);
  CHECK_NOTHROW(job.judge.stopped(Phase::training, out_of_patience(2), ledger_of(2), kReached));
  CHECK_THROWS_WITH_AS(job.judge.stopped(Phase::finishing, status_of(4), ledger_of(2), kReached),
                       Contains("a job that is about to finish is stopped before patience is over"), Violation);
  CHECK_NOTHROW(job.judge.stopped(Phase::finishing, out_of_patience(4), ledger_of(2), kReached));
}

TEST_CASE("stop: a job whose last snapshot is complete is finished instead") {
  Stopped job;
  job.tick(6);
  CHECK_THROWS_WITH_AS(job.judge.stopped(Phase::finishing, out_of_patience(4), ledger_of(4), kReached),
                       Contains("a job is stopped whose last snapshot is complete, instead of being finished"),
                       Violation);
  CHECK_NOTHROW(job.judge.stopped(Phase::concluding, out_of_patience(4), ledger_of(4), kReached));
  auto older = ledger_of(4);
  older.timeline = 2;
  CHECK_NOTHROW(job.judge.stopped(Phase::finishing, out_of_patience(4), older, kReached));
}

TEST_CASE("stop: with patience left its snapshot has what workers had done when it was said") {
  const auto left_out =
      Contains("a stop ends before its patience is over, and leaves out what workers had done when it was said");
  Stopped job;
  CHECK_NOTHROW(job.judge.stopped(Phase::training, status_of(2), ledger_of(2), {1, 3}));
  CHECK_THROWS_WITH_AS(job.judge.stopped(Phase::training, status_of(1), ledger_of(1), {1, 3}), left_out, Violation);
  CHECK_NOTHROW(job.judge.stopped(Phase::waiting, status_of(1), ledger_of(1), {1, 3}));
  // A shard came back with less.
  CHECK_NOTHROW(job.judge.stopped(Phase::training, status_of(1), ledger_of(1), {1, 1}));
  auto rolled_back = ledger_of(1);
  rolled_back.timeline = 2;
  CHECK_NOTHROW(job.judge.stopped(Phase::training, status_of(1), rolled_back, {2, 3}));

  auto nobody_lives = status_of(1);
  nobody_lives.sessions.front().live = false;
  CHECK_NOTHROW(job.judge.stopped(Phase::training, nobody_lives, ledger_of(1), {1, 3}));
  auto nobody_works = job.judge;
  nobody_works.said_hello(kStoppedSession);
  CHECK_NOTHROW(nobody_works.stopped(Phase::training, status_of(1), ledger_of(1), {1, 3}));
  nobody_works.assigned(kStoppedSession, {});
  CHECK_NOTHROW(nobody_works.stopped(Phase::training, status_of(1), ledger_of(1), {1, 3}));
  auto other_lead = job.judge;
  other_lead.lead_starts();
  other_lead.commanded(Command::stop, Phase::training, kReached);
  CHECK_NOTHROW(other_lead.stopped(Phase::training, status_of(1), ledger_of(1), {1, 3}));
  job.tick(6);
  CHECK_NOTHROW(job.judge.stopped(Phase::training, out_of_patience(1), ledger_of(1), {1, 3}));
}

TEST_CASE("stop: one of a paused job may leave out what was on its way when the pause was wanted") {
  Stopped job;
  job.judge.commanded(Command::pause, Phase::training, kReached);
  job.judge.commanded(Command::stop, Phase::training, kReached);
  CHECK_NOTHROW(job.judge.stopped(Phase::training, status_of(1), ledger_of(1), {1, 3}));
  job.judge.commanded(Command::resume, Phase::training, kReached);
  job.judge.commanded(Command::stop, Phase::training, kReached);
  CHECK_THROWS_WITH_AS(job.judge.stopped(Phase::training, status_of(1), ledger_of(1), {1, 3}),
                       Contains("leaves out what workers had done"), Violation);
}

TEST_CASE("stop: items count as items") {
  auto life = small_life_of_items(LifeItems::Journal::none);
  StopJudge judge(life);
  Assign assign;
  assign.timeline = 1;
  judge.assigned(kStoppedSession, assign);
  judge.commanded(Command::stop, Phase::training, {1, 4});
  CHECK_NOTHROW(judge.stopped(Phase::training, status_of(2), ledger_of(2), {1, 4}));
  CHECK_THROWS_WITH_AS(judge.stopped(Phase::training, status_of(1), ledger_of(1), {1, 4}),
                       Contains("leaves out what workers had done"), Violation);
}

TEST_CASE("stop: what is said to be beyond the snapshot is") {
  const Stopped job;
  auto status = status_of(2);
  status.beyond_snapshot = true;
  CHECK_NOTHROW(job.judge.stopped(Phase::training, status, ledger_of(2), {1, 3}));
  CHECK_THROWS_WITH_AS(job.judge.stopped(Phase::training, status, ledger_of(2), {1, 2}),
                       Contains("a stop is said to leave something out, and does not"), Violation);
}

}  // namespace
}  // namespace ballast::simulation
