// Writes what layers and losses compute on the cpu, on drawn shapes, for another framework to repeat:  dump-layers
//
// One line of JSON for each case. Values are row-major as in Shape; shapes are n, steps, c, h, w.
#include <nlohmann/json.hpp>

#include <cstdio>
#include <exception>
#include <string>

#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/loss_run.h"
#include "tests/numeric/layers/options.h"
#include "tests/numeric/layers/run.h"

namespace ballast::layers {
namespace {

using nlohmann::json;

constexpr std::uint32_t kCases = 12;

json list(const Shape& shape) { return {shape.n, shape.steps, shape.c, shape.h, shape.w}; }

void print(const json& line) { std::printf("%s\n", line.dump().c_str()); }

json dumped(Backend& backend, const LayerKind& kind, std::uint32_t number) {
  Draw draw(number);
  const LayerCase drawn = kind.draw(draw, number);
  const DrawnValues values = draw_values(drawn, draw);
  const Outcome outcome = run_layer(backend, drawn, values, {});
  json inputs = json::array();
  for (const Values& input : values.inputs) {
    inputs.push_back({{"shape", list(input.shape)}, {"values", input.values}});
  }
  return {{"kind", kind.name},
          {"layer", name_of(drawn.layer)},
          {"options", options_of(drawn.layer)},
          {"training", drawn.training},
          {"inputs", inputs},
          {"parameters", values.parameters},
          {"lengths", drawn.lengths},
          {"tokens", drawn.tokens},
          {"children", drawn.children},
          {"shape", list(outcome.shape)},
          {"y", outcome.y},
          {"y_gradient", values.y_gradient.values},
          {"input_gradients", outcome.input_gradients},
          {"parameter_gradients", outcome.parameter_gradients}};
}

json dumped(Backend& backend, const LossKind& kind, std::uint32_t number) {
  Draw draw(number);
  const LossCase drawn = kind.draw(draw, number);
  const auto values = draw.values<float>(drawn.prediction.elements());
  const LossOutcome outcome = run_loss(backend, drawn, values);
  return {{"kind", kind.name},
          {"loss", name_of(drawn.loss)},
          {"options", options_of(drawn.loss)},
          {"shape", list(drawn.prediction)},
          {"values", values},
          {"labels", drawn.labels},
          {"targets", drawn.targets},
          {"features", drawn.features},
          {"scale", kLossScale},
          {"loss_sum", outcome.sums.loss_sum},
          {"predictions", outcome.predictions},
          {"gradient", outcome.gradient}};
}

void dump_all() {
  const auto backend = make_cpu_backend(1);
  for (const LayerKind& kind : layer_kinds()) {
    for (std::uint32_t number = 0; number < kCases; ++number) {
      print(dumped(*backend, kind, number));
    }
  }
  for (const LossKind& kind : loss_kinds()) {
    for (std::uint32_t number = 0; number < kCases; ++number) {
      print(dumped(*backend, kind, number));
    }
  }
}

}  // namespace
}  // namespace ballast::layers

int main() {
  try {
    ballast::layers::dump_all();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dump-layers: %s\n", error.what());
    return 1;
  }
}
