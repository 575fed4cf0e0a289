#include "cli/models/losses.h"

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

#include "tests/unit/cli/captured.h"
#include "tests/unit/cli/models/sample_run.h"

namespace ballast {
namespace {

TEST_CASE("each step's mean loss and accuracy is printed, and reads back as the same float") {
  const SampleRun run;
  run.write_ledger(false);
  const float third = 1.0F / 3;
  Ledger ledger;
  ledger.timeline = 1;
  const LedgerChange change{
      ledger, {}, {{0, 2.5F, 4, 16}, {1, third, 16, 16}, {2, std::numeric_limits<float>::infinity(), 0, 10}}, {}};
  REQUIRE(run.open(0)->write_ledger(change).ok());
  const auto said = captured([&] { CHECK(print_losses(run.path()) == 0); });
  CHECK(said == "step,loss,accuracy,examples\n0,2.5,0.25,16\n1,0.33333334,1,16\n2,inf,0,10\n");
  CHECK(std::stof("0.33333334") == third);
}

TEST_CASE("a run that has decided no step has none to print; no run is an error") {
  const SampleRun run;
  run.write_ledger(false);
  CHECK(captured([&] { print_losses(run.path()); }) == "step,loss,accuracy,examples\n");
  CHECK_THROWS_AS(captured([&] { print_losses(run.file("nothing")); }), std::runtime_error);
}

}  // namespace
}  // namespace ballast
