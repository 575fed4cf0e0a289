// Every loss of every backend against the reference, on drawn shapes.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/expected.h"
#include "tests/numeric/layers/loss_run.h"
#include "tests/numeric/layers/made_backends.h"
#include "tests/numeric/layers/reference.h"
#include "tests/numeric/layers/run.h"

namespace ballast::layers {
namespace {

constexpr std::uint32_t kLossCases = 24;

void check_case(const LossKind& kind, const LossCase& drawn, Draw& draw,
                const std::vector<BackendUnderTest>& backends) {
  Values prediction(drawn.prediction);
  prediction.values = draw.values<double>(prediction.values.size());
  const auto floats = to_float(prediction.values);
  const Pass pass = pass_of(drawn);
  const auto reference = [&] { return reference_loss(drawn.loss, prediction, drawn.example, pass.batch); };
  const LossReference expected = reference();
  const auto gradient = expected_gradient(
      prediction.values, [&] { return static_cast<double>(kLossScale) * reference().loss_sum; }, draw);
  for (const BackendUnderTest& under_test : backends) {
    CAPTURE(under_test.named.name);
    const LossOutcome outcome = run_loss(*under_test.backend, drawn, floats);
    CHECK(outcome.sums.loss_sum == doctest::Approx(expected.loss_sum).epsilon(kind.tolerance));
    CHECK(outcome.sums.correct == expected.correct);
    CHECK(difference(outcome.predictions, expected.predictions, kind.tolerance) == "");
    CHECK(difference(outcome.gradient, gradient, kind.tolerance, 0) == "");
    const LossOutcome again = run_loss(*under_test.backend, drawn, floats);
    CHECK(again.sums.loss_sum == outcome.sums.loss_sum);
    CHECK(same_bytes(again.gradient, outcome.gradient));
  }
}

TEST_CASE("losses: what every backend computes is what the reference does") {
  for (const LossKind& kind : loss_kinds()) {
    SUBCASE(kind.name) {
      const auto backends = make_backends();
      for (std::uint32_t number = 0; number < kLossCases; ++number) {
        CAPTURE(number);
        Draw draw(number);
        const LossCase drawn = kind.draw(draw, number);
        CAPTURE(to_string(drawn.prediction));
        check_case(kind, drawn, draw, backends);
      }
    }
  }
}

TEST_CASE("losses: what is not a number stays visible") {
  for (const LossKind& kind : loss_kinds()) {
    SUBCASE(kind.name) {
      Draw draw(1);
      const LossCase drawn = kind.draw(draw, 1);
      const std::vector<float> values(drawn.prediction.elements(), std::numeric_limits<float>::quiet_NaN());
      for (const BackendUnderTest& under_test : make_backends()) {
        CAPTURE(under_test.named.name);
        CHECK(std::isnan(run_loss(*under_test.backend, drawn, values).sums.loss_sum));
      }
    }
  }
}

}  // namespace
}  // namespace ballast::layers
