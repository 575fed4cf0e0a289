// Trust ratios: their sums bit for bit with every instruction set, and that they are those of the update that follows.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/numeric/optimizer.h"
#include "tests/unit/common/numeric/samples.h"

namespace ballast {
namespace {

using Tensor = std::vector<float>;

constexpr StepScalars kScalars{0.125F, 1.75F, 0.7F};
constexpr double kLargest = std::numeric_limits<double>::max();

OptimizerSettings lars(double momentum = 0.9) {
  return {.kind = OptimizerKind::lars, .momentum = momentum, .weight_decay = 0.25, .clip_value = 2};
}
OptimizerSettings lamb() {
  return {.kind = OptimizerKind::lamb, .epsilon = 1e-3, .weight_decay = 0.25, .clip_value = 2};
}

// State of squares is not negative.
std::vector<Tensor> state_of(const OptimizerSettings& settings, std::size_t size) {
  std::vector<Tensor> state;
  for (const auto& tensor : state_tensors(settings)) {
    state.push_back(sample(size, 20 + static_cast<std::uint32_t>(state.size())));
    for (auto& value : state.back()) {
      value = std::string(tensor.name) == "exp_avg_sq" ? std::fabs(value) : value;
    }
  }
  return state;
}

TrustSums sums_of(const OptimizerSettings& settings, const Tensor& weights, std::span<const float> gradient,
                  const std::vector<Tensor>& state, InstructionSet set = detected()) {
  const std::vector<std::span<const float>> spans(state.begin(), state.end());
  return trust_sums(settings, kScalars, weights, gradient, spans, set);
}

// Sixteen partial sums, joined in a tree.
double squares(const Tensor& values) {
  double sums[16] = {};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    sums[i % 16] += value * value;
  }
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) {
      sums[j] += sums[j + half];
    }
  }
  return sums[0];
}

Tensor clipped(Tensor gradient) {
  for (auto& g : gradient) {
    g = std::fmin(std::fmax(g, -2.0F), 2.0F);
  }
  return gradient;
}

// What a step of rate 1 and ratio 1 takes from weights of 0 is the update without decay.
Tensor update_of_lamb(const Tensor& weights, const Tensor& gradient, std::vector<Tensor> state) {
  auto settings = lamb();
  settings.weight_decay = 0;
  const Tensor zeros(weights.size(), 0.0F);
  Tensor update(weights.size());
  const std::vector<std::span<float>> spans(state.begin(), state.end());
  optimizer_step(settings, {1.0F, kScalars.step_size, kScalars.second_moment_root}, 1.0F, zeros, gradient, spans,
                 update);
  for (std::size_t i = 0; i < update.size(); ++i) {
    update[i] = -update[i] + 0.25F * weights[i];
  }
  return update;
}

TEST_CASE("the sums are of the weights, and of the clipped gradient or the update that a step would make") {
  for (const std::size_t size : kSizes) {
    CAPTURE(size);
    const auto weights = sample(size, 2);
    const auto gradient = sample(size, 3);
    for (const auto set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
      if (!supported(set)) {
        continue;
      }
      Shifted received(gradient, 3);
      const std::span<const float> shifted{received.data(), size};
      const auto of_lars = sums_of(lars(), weights, shifted, state_of(lars(), size), set);
      CHECK(of_lars.weights == squares(weights));
      CHECK(of_lars.update == squares(clipped(gradient)));
      const auto state = state_of(lamb(), size);
      const auto of_lamb = sums_of(lamb(), weights, shifted, state, set);
      CHECK(of_lamb.weights == squares(weights));
      CHECK(of_lamb.update == squares(update_of_lamb(weights, gradient, state)));
    }
  }
}

TEST_CASE("lars by hand: rate and ratio are in the momentum") {
  Tensor weights = {4.0F};
  Tensor next = {0.0F};
  Tensor buffer = {1.0F};
  const std::vector<std::span<float>> state = {buffer};
  OptimizerSettings settings{.kind = OptimizerKind::lars, .momentum = 0.5, .weight_decay = 0.25};
  optimizer_step(settings, {0.5F}, 0.25F, weights, Tensor{3.0F}, state, next);
  CHECK(buffer[0] == 1.0F);  // 0.5 * 1 + 0.5 * 0.25 * (3 + 0.25 * 4)
  CHECK(next[0] == 3.0F);
  settings.momentum = 0;
  optimizer_step(settings, {0.5F}, 0.25F, weights, Tensor{3.0F}, {}, next);
  CHECK(next[0] == 3.5F);
}

TEST_CASE("lamb by hand: decay is in the update, the rate is not") {
  Tensor weights = {2.0F};
  Tensor next = {0.0F};
  Tensor first = {0.0F};
  Tensor second = {0.0F};
  const std::vector<std::span<float>> state = {first, second};
  const OptimizerSettings settings{
      .kind = OptimizerKind::lamb, .beta1 = 0.5, .beta2 = 0.75, .epsilon = 2, .weight_decay = 0.25};
  const StepScalars scalars{0.5F, 2.0F, 0.5F};
  const auto sums =
      trust_sums(settings, scalars, weights, Tensor{2.0F}, std::vector<std::span<const float>>{first, second});
  CHECK(first[0] == 0.0F);  // nothing is changed
  CHECK(sums.weights == 4.0);
  CHECK(sums.update == 1.0);  // (1 * 2 / (1 / 0.5 + 2) + 0.25 * 2)^2
  optimizer_step(settings, scalars, 2.0F, weights, Tensor{2.0F}, state, next);
  CHECK(first[0] == 1.0F);
  CHECK(second[0] == 1.0F);
  CHECK(next[0] == 1.0F);
}

TEST_CASE("ratios, and where there are none") {
  const OptimizerSettings of_lars{
      .kind = OptimizerKind::lars, .epsilon = 1, .trust_coefficient = 0.5, .weight_decay = 0.25};
  CHECK(trust_ratio(of_lars, {16, 4}) == 0.5F);  // 0.5 * 4 / (2 + 0.25 * 4 + 1)
  const OptimizerSettings of_lamb{.kind = OptimizerKind::lamb};
  CHECK(trust_ratio(of_lamb, {16, 4}) == 2.0F);
  CHECK(trust_ratio(of_lamb, {1e60, 1e-60}) == std::numeric_limits<float>::max());
  for (auto settings : {of_lars, of_lamb}) {
    CHECK(trust_ratio(settings, {0, 4}) == 1.0F);
    CHECK(trust_ratio(settings, {16, 0}) == 1.0F);
    CHECK(trust_ratio(settings, {kLargest, 4}) == 1.0F);
    CHECK(trust_ratio(settings, {16, kLargest}) == 1.0F);
    CHECK(trust_ratio(settings, {16, std::numeric_limits<double>::infinity()}) == 1.0F);
    settings.trust_ratio = false;
    CHECK(trust_ratio(settings, {16, 4}) == 1.0F);
  }
}

TEST_CASE("a sum that is not finite is the largest number") {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const auto sums = sums_of(lars(0), {1.0F, bad}, Tensor{bad, 1.0F}, {});
    CHECK(sums.weights == kLargest);
    CHECK((sums.update == kLargest || sums.update == 5));  // an infinite gradient is clipped to 2
  }
}

TEST_CASE("what has no trust ratios, or does not fit, is refused") {
  const Tensor four(4, 1.0F);
  const Tensor three(3, 1.0F);
  CHECK_THROWS_AS(sums_of({.kind = OptimizerKind::adam}, four, four, {four, four}), std::invalid_argument);
  CHECK_THROWS_AS(sums_of(lamb(), four, three, {four, four}), std::invalid_argument);
  CHECK_THROWS_AS(sums_of(lamb(), four, four, {four}), std::invalid_argument);
  CHECK_THROWS_AS(sums_of(lamb(), four, four, {four, three}), std::invalid_argument);
  CHECK_THROWS_AS(sums_of(lars(), four, four, {}), std::invalid_argument);
}

}  // namespace
}  // namespace ballast
