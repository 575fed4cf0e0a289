#include "tests/numeric/layers/cases.h"

#include <array>

namespace ballast::layers {
namespace {

Pass training_pass(bool training) {
  Pass pass;
  pass.training = training;
  pass.seed = 11;
  pass.step = 5;
  pass.slot = 2;
  pass.local_step = 1;
  return pass;
}

}  // namespace

Pass pass_of(const LayerCase& drawn) {
  Pass pass = training_pass(drawn.training);
  pass.batch.count = drawn.inputs[0].n;
  pass.batch.steps = drawn.inputs[0].steps;
  pass.batch.lengths = drawn.lengths;
  pass.batch.tokens = drawn.tokens;
  pass.batch.children = drawn.children;
  return pass;
}

Pass pass_of(const LossCase& drawn) {
  Pass pass = training_pass(true);
  pass.batch.count = drawn.prediction.n;
  pass.batch.steps = drawn.prediction.steps;
  pass.batch.features = drawn.features;
  pass.batch.labels = drawn.labels;
  pass.batch.targets = drawn.targets;
  pass.batch.lengths = drawn.lengths;
  return pass;
}

std::vector<std::uint32_t> draw_lengths(Draw& draw, std::uint32_t n, std::uint32_t steps) {
  std::vector<std::uint32_t> lengths(n);
  std::ranges::generate(lengths, [&] { return draw.between(1, steps); });
  return lengths;
}

std::uint32_t draw_channels(Draw& draw) {
  constexpr std::array<std::uint32_t, 8> kChannels = {1, 2, 3, 6, 8, 16, 20, 32};
  return kChannels[draw.between(0, kChannels.size() - 1)];
}

}  // namespace ballast::layers
