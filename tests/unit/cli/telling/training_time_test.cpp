#include "cli/telling/training_time.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

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
