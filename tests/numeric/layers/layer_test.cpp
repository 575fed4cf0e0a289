// Every layer of every backend against the reference, on drawn shapes and in every place that it can have in a network.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/expected.h"
#include "tests/numeric/layers/made_backends.h"
#include "tests/numeric/layers/reference.h"
#include "tests/numeric/layers/run.h"

namespace ballast::layers {
namespace {

constexpr std::uint32_t kLayerCases = 24;

std::vector<Setting> settings_for(const LayerKind& kind, const LayerCase& drawn) {
  std::vector<Setting> settings = {{.name = "behind examples"},
                                   {.name = "without a gradient", .without_gradient = true}};
  if (drawn.tokens.empty()) {
    settings.push_back({.name = "behind a convolution", .behind_convolutions = true});
    settings.push_back({.name = "in place", .behind_convolutions = true, .in_place = true});
  }
  if (kind.may_be_shared) {
    settings.push_back({.name = "with shared parameters", .shared = true});
  }
  return settings;
}

void check_outcome(const LayerKind& kind, const Expected& expected, const Outcome& outcome, double tolerance) {
  CHECK(outcome.shape == expected.y.shape);
  CHECK(outcome.untouched);
  CHECK(difference(outcome.y, expected.y.values, tolerance) == "");
  for (std::size_t i = 0; i < outcome.input_gradients.size(); ++i) {
    CAPTURE(i);
    if (!outcome.input_gradients[i].empty()) {
      CHECK(difference(outcome.input_gradients[i], expected.inputs[i], tolerance, kind.gradient_floor) == "");
    }
  }
  for (std::size_t i = 0; i < outcome.parameter_gradients.size(); ++i) {
    CAPTURE(i);
    const auto& gradient = outcome.parameter_gradients[i];
    if (expected.statistics[i].empty()) {
      CHECK(difference(gradient, expected.parameters[i], tolerance, kind.gradient_floor) == "");
    } else {
      CHECK(difference(gradient, expected.statistics[i], tolerance) == "");
    }
  }
}

// Another number of threads, the same bytes.
void check_threads(const LayerKind& kind, const Outcome& one, const Outcome& other) {
  CHECK(same_bytes(one.y, other.y));
  CHECK(same_bytes(one.input_gradients, other.input_gradients));
  if (!kind.threads_change_bits) {
    CHECK(same_bytes(one.parameter_gradients, other.parameter_gradients));
  }
}

void check_case(const LayerKind& kind, const LayerCase& drawn, const DrawnValues& values, const Expected& expected,
                const std::vector<BackendUnderTest>& backends) {
  for (const Setting& setting : settings_for(kind, drawn)) {
    CAPTURE(setting.name);
    std::optional<Outcome> of_cpu;
    for (const BackendUnderTest& under_test : backends) {
      CAPTURE(under_test.named.name);
      const Outcome outcome = run_layer(*under_test.backend, drawn, values, setting);
      check_outcome(kind, expected, outcome, kind.tolerance * (kind.of_products ? under_test.named.looseness : 1));
      if (of_cpu && under_test.is_cpu()) {
        check_threads(kind, *of_cpu, outcome);
      }
      if (under_test.is_cpu()) {
        of_cpu = outcome;
      }
    }
  }
}

std::string shapes_of(const LayerCase& drawn) {
  std::string text;
  for (const Shape& shape : drawn.inputs) {
    text += (text.empty() ? "" : ", ") + to_string(shape);
  }
  return text;
}

// Calls check(case, values, draw) for every case of the kind.
template <typename Check>
void for_each_case(const LayerKind& kind, const Check& check) {
  for (std::uint32_t number = 0; number < kLayerCases; ++number) {
    CAPTURE(number);
    Draw draw(number);
    const LayerCase drawn = kind.draw(draw, number);
    CAPTURE(shapes_of(drawn));
    const DrawnValues values = draw_values(drawn, draw);
    check(drawn, values, draw);
  }
}

TEST_CASE("layers: what every backend computes is what the reference does") {
  for (const LayerKind& kind : layer_kinds()) {
    SUBCASE(kind.name) {
      const auto backends = make_backends();
      for_each_case(kind, [&](const LayerCase& drawn, const DrawnValues& values, Draw& draw) {
        check_case(kind, drawn, values, expect(drawn, values, draw), backends);
      });
    }
  }
}

// How many values of `reference` are not numbers; they are none in `y` either.
std::size_t count_shown(const Values& reference, const std::vector<float>& y) {
  std::size_t shown = 0;
  std::size_t hidden = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    shown += std::isnan(reference.values[i]) ? 1 : 0;
    hidden += std::isnan(reference.values[i]) && !std::isnan(y[i]) ? 1 : 0;
  }
  CHECK(hidden == 0);
  return shown;
}

TEST_CASE("layers: what is not a number stays visible") {
  for (const LayerKind& kind : layer_kinds()) {
    SUBCASE(kind.name) {
      const auto backends = make_backends();
      std::size_t shown = 0;
      bool reads_tokens = false;
      for_each_case(kind, [&](const LayerCase& drawn, DrawnValues values, Draw& draw) {
        reads_tokens = !drawn.tokens.empty();
        auto& x = values.inputs[0].values;
        x[draw.between(0, static_cast<std::uint32_t>(x.size() - 1))] = std::numeric_limits<double>::quiet_NaN();
        const Pass pass = pass_of(drawn);
        const Values y = reference_output(drawn.layer, {values.inputs, values.parameters, pass, drawn.number});
        for (const Setting& setting : settings_for(kind, drawn)) {
          CAPTURE(setting.name);
          for (const BackendUnderTest& under_test : backends) {
            CAPTURE(under_test.named.name);
            shown += count_shown(y, run_layer(*under_test.backend, drawn, values, setting).y);
          }
        }
      });
      CHECK((shown > 0 || reads_tokens));
    }
  }
}

}  // namespace
}  // namespace ballast::layers
