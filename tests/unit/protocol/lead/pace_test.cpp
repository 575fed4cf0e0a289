#include "protocol/lead/pace.h"

#include <doctest/doctest.h>

#include "protocol/worker/step_clock.h"
#include "tests/unit/protocol/lead/lead_fixture.h"

using namespace ballast;

namespace {

constexpr Micros kPaceSecond = 1'000'000;

}  // namespace

TEST_CASE("the pace is that of the last seconds of training") {
  PaceMeter meter;
  meter.observe(0, 0, 0);
  CHECK(meter.examples_per_second() == 0);
  for (Micros second = 1; second <= 10; ++second) {
    meter.observe(second * kPaceSecond, second * 100, second * 2);
  }
  CHECK(meter.examples_per_second() == 100);
  CHECK(meter.steps_per_second() == 2);
  meter.observe(12 * kPaceSecond, 100, 2);  // the job went back
  CHECK(meter.examples_per_second() == 0);
  meter.observe(13 * kPaceSecond, 150, 3);
  CHECK(meter.examples_per_second() == 50);
}

TEST_CASE("steps that a lead finds done are nobody's pace") {
  PaceMeter meter;
  meter.observe(0, 500, 231);
  meter.observe(0, 620, 245);  // what journals have beyond the snapshot, before anybody trains
  meter.observe(kPaceSecond, 620, 246);
  meter.observe(2 * kPaceSecond, 720, 248);
  CHECK(meter.steps_per_second() == 1);
  CHECK(meter.examples_per_second() == 50);
}

TEST_CASE("the first step counts from when training has begun") {
  PaceMeter meter;
  for (Micros quarter = 0; quarter < 20; ++quarter) {
    meter.observe(quarter * kPaceSecond / 4, 0, 0);
  }
  meter.observe(5 * kPaceSecond, 100, 1);
  CHECK(meter.steps_per_second() == doctest::Approx(0.2));
}

TEST_CASE("samples come no closer than they are worth") {
  PaceMeter meter;
  meter.observe(0, 0, 0);
  meter.observe(1, 1'000'000, 1);
  CHECK(meter.examples_per_second() == 0);
  meter.observe(kPaceSecond, 1'000'000, 1);
  CHECK(meter.examples_per_second() == 1'000'000);
}

TEST_CASE("the clock of training stands still in a pause") {
  TrainingClock clock;
  CHECK(clock.read(5) == 0);
  clock.start(10);
  clock.start(12);
  CHECK(clock.read(15) == 5);
  clock.stop(20);
  clock.stop(25);
  CHECK(clock.read(100) == 10);
  clock.start(100);
  CHECK(clock.read(101) == 11);
}

TEST_CASE("a paused job's time and pace leave the pause out") {
  two_shards::Fixture job(two_shards::config());
  job.train();
  const auto later = [&](Micros span) {
    job.now += span;
    job.lead.step(lead::Tick{job.now});
    job.beat();
    job.written();
  };
  for (Step open = 1; open <= 4; ++open) {
    later(kPaceSecond);
    job.reports(open);
  }
  later(kPaceSecond);
  const auto before = job.lead.status();
  CHECK(before.training == 5 * kPaceSecond);
  CHECK(before.examples_per_second > 0.5);
  job.client(Control::Command::pause);
  job.held = {{1, 6}};
  for (int i = 0; i < 3; ++i) {
    job.reports(6);
    job.written();
  }
  REQUIRE(job.lead.status().phase == JobPhase::paused);
  for (int second = 0; second < 100; ++second) {
    later(kPaceSecond);
  }
  const auto paused = job.lead.status();
  CHECK(paused.training == before.training);
  job.client(Control::Command::resume);
  job.settle();
  later(kPaceSecond);
  job.reports(7);
  later(kPaceSecond);
  const auto after = job.lead.status();
  CHECK(after.training == before.training + 2 * kPaceSecond);
  CHECK(after.examples_per_second > 0.5);
  CHECK(after.steps_per_second > 0.5);
}

TEST_CASE("steps before the snapshot from which a job goes on are no part of its pace") {
  using namespace two_shards;
  Ledger ledger;
  ledger.timeline = 1;
  ledger.incarnations = {1, 1};
  ledger.databases = {{100, 1}, {101, 1}};
  ledger.base = {1, 30};
  ledger.complete = {{1, 30}};
  Fixture job(started_again(ledger));
  job.lead.step(lead::Tick{job.now += kPaceSecond});
  job.held = {{1, 30}};
  job.train(30);
  for (Step open = 31; open <= 34; ++open) {
    job.lead.step(lead::Tick{job.now += kPaceSecond});
    job.beat();
    job.reports(open);
    job.written();
  }
  CHECK(job.lead.status().steps_per_second > 0);
  CHECK(job.lead.status().steps_per_second < 2);
}

TEST_CASE("pull and push are apart, and a step's phases come together") {
  StepClock clock;
  clock.wants(100);
  clock.begins(130);
  CHECK(clock.steps() == 0);
  clock.computed(150, {1, 0, 12, 7, 0}, true);
  clock.receipt(155, true);
  CHECK(clock.steps() == 0);
  clock.wants(150);
  clock.receipt(160, false);
  CHECK(clock.steps() == 1);
  CHECK(clock.phases() == PhaseTimes{1, 30, 12, 7, 10});
  clock.begins(200);
  clock.computed(220, {}, true);
  clock.receipt(221, false);
  // From the last receipt on, not from the end of computing.
  CHECK(clock.phases() == PhaseTimes{0, 40, 0, 0, 1});
  // The next one begins before the receipts are there.
  clock.wants(220);
  clock.begins(222);
  clock.computed(240, {}, true);
  clock.begins(241);
  CHECK(clock.steps() == 2);
  clock.computed(270, {}, true);
  CHECK(clock.steps() == 3);
  CHECK(clock.phases().push == 30);
}
