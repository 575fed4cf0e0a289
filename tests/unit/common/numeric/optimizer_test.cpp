// The optimizers against the formulas of their header, written once more as scalar loops whose intermediates go through
// memory (so that nothing is vectorised or contracted), bit for bit and with every instruction set.
#include "common/numeric/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/common/numeric/samples.h"

namespace ballast {
namespace {

using Floats = std::vector<float>;

std::vector<InstructionSet> supported_sets() {
  std::vector<InstructionSet> sets;
  for (const auto set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
    if (supported(set)) {
      sets.push_back(set);
    }
  }
  return sets;
}

// Each result goes through memory.
float times(float a, float b) {
  volatile float result = a * b;
  return result;
}
float plus(float a, float b) {
  volatile float result = a + b;
  return result;
}
float minus(float a, float b) {
  volatile float result = a - b;
  return result;
}
float over(float a, float b) {
  volatile float result = a / b;
  return result;
}
float root(float a) {
  volatile float result = std::sqrt(a);
  return result;
}

struct Slice {
  Floats weights;
  Floats gradient;
  std::vector<Floats> state;
  Floats next;
};

float rounded(double value) { return static_cast<float>(value); }

// One element, from the formulas.
void reference_element(const OptimizerSettings& o, const StepScalars& s, float scale, Slice& slice, std::size_t i) {
  float w = slice.weights[i];
  float g = has_trust_ratios(o.kind) ? slice.gradient[i] : times(slice.gradient[i], scale);
  const float limit = rounded(o.clip_value);
  g = g > limit ? limit : g < -limit ? -limit : g;
  if (o.weight_decay != 0 && o.kind != OptimizerKind::adamw && o.kind != OptimizerKind::lamb) {
    g = plus(g, times(rounded(o.weight_decay), w));
  }
  const auto state = [&](std::size_t which) -> float& { return slice.state[which][i]; };
  const float mu = rounded(o.momentum);
  const float lr = s.learning_rate;
  switch (o.kind) {
    case OptimizerKind::sgd:
      if (o.momentum != 0) {
        state(0) = plus(times(mu, state(0)), g);
        g = o.nesterov ? plus(g, times(mu, state(0))) : state(0);
      }
      slice.next[i] = minus(w, times(lr, g));
      return;
    case OptimizerKind::adamw:
      w = times(w, rounded(1 - static_cast<double>(lr) * o.weight_decay));
      [[fallthrough]];
    case OptimizerKind::adam:
      state(0) = plus(times(rounded(o.beta1), state(0)), times(rounded(1 - o.beta1), g));
      state(1) = plus(times(rounded(o.beta2), state(1)), times(times(rounded(1 - o.beta2), g), g));
      slice.next[i] = minus(
          w, times(s.step_size, over(state(0), plus(over(root(state(1)), s.second_moment_root), rounded(o.epsilon)))));
      return;
    case OptimizerKind::adagrad:
      state(0) = plus(state(0), times(g, g));
      slice.next[i] = minus(w, times(lr, over(g, plus(root(state(0)), rounded(o.epsilon)))));
      return;
    case OptimizerKind::rmsprop:
      state(0) = plus(times(rounded(o.alpha), state(0)), times(times(rounded(1 - o.alpha), g), g));
      g = over(g, plus(root(state(0)), rounded(o.epsilon)));
      if (o.momentum != 0) {
        state(1) = plus(times(mu, state(1)), g);
        g = state(1);
      }
      slice.next[i] = minus(w, times(lr, g));
      return;
    case OptimizerKind::lars:
      g = times(times(lr, scale), g);
      if (o.momentum != 0) {
        state(0) = plus(times(mu, state(0)), g);
        g = state(0);
      }
      slice.next[i] = minus(w, g);
      return;
    case OptimizerKind::lamb:
      state(0) = plus(times(rounded(o.beta1), state(0)), times(rounded(1 - o.beta1), g));
      state(1) = plus(times(rounded(o.beta2), state(1)), times(times(rounded(1 - o.beta2), g), g));
      g = over(times(state(0), s.step_size), plus(over(root(state(1)), s.second_moment_root), rounded(o.epsilon)));
      slice.next[i] = minus(w, times(times(lr, scale), plus(g, times(rounded(o.weight_decay), w))));
      return;
  }
}

// Every optimizer with and without what can be switched.
std::vector<OptimizerSettings> all_settings() {
  std::vector<OptimizerSettings> all;
  for (const auto kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::adagrad,
                          OptimizerKind::rmsprop, OptimizerKind::lars, OptimizerKind::lamb}) {
    for (const double decay : {0.0, 0.01}) {
      for (const double momentum : {0.0, 0.9}) {
        for (const bool nesterov : {false, true}) {
          const bool takes_momentum =
              kind == OptimizerKind::sgd || kind == OptimizerKind::rmsprop || kind == OptimizerKind::lars;
          if ((momentum != 0 && !takes_momentum) || (nesterov && (momentum == 0 || kind != OptimizerKind::sgd))) {
            continue;
          }
          OptimizerSettings settings;
          settings.kind = kind;
          settings.momentum = momentum;
          settings.nesterov = nesterov;
          settings.weight_decay = decay;
          all.push_back(settings);
          settings.clip_value = 0.25;
          all.push_back(settings);
        }
      }
    }
  }
  return all;
}

// State as the optimizers keep it: sums and means of squares are not negative.
Floats state_sample(const std::string& name, std::size_t size, std::uint32_t which) {
  Floats values = sample(size, which);
  if (name != "momentum_buffer" && name != "exp_avg") {
    for (auto& value : values) {
      value = std::fabs(value);
    }
  }
  return values;
}

Slice slice_of(const OptimizerSettings& settings, Floats weights, Floats gradient) {
  Slice slice{std::move(weights), std::move(gradient), {}, {}};
  std::uint32_t which = 10;
  for (const auto& tensor : state_tensors(settings)) {
    slice.state.push_back(state_sample(tensor.name, slice.weights.size(), which++));
  }
  slice.next.assign(slice.weights.size(), -77.0F);
  return slice;
}

// Values at the ends of the range among others: denormals, zeros of both signs, the largest.
Floats extremes(std::size_t size, std::uint32_t which) {
  Floats values = sample(size, which);
  const float odd[] = {1e-40F, -1e-45F, 0.0F, -0.0F, 3e38F, -3e38F, 1e-38F, 1e-20F, 1.0F};
  for (std::size_t i = 0; i < size; ++i) {
    if ((i + which) % 3 != 0) {
      values[i] = odd[(i * 7 + which) % std::size(odd)];
    }
  }
  return values;
}

void apply(const OptimizerSettings& settings, const StepScalars& scalars, float scale, Slice& slice,
           InstructionSet set = detected()) {
  std::vector<std::span<float>> state(slice.state.begin(), slice.state.end());
  optimizer_step(settings, scalars, scale, slice.weights, slice.gradient, state, slice.next, set);
}

void check_against_reference(const OptimizerSettings& settings, float scale, const Slice& given, std::size_t shift) {
  const StepScalars scalars{0.125F, 0.3F, 0.7F};
  Slice expected = given;
  for (std::size_t i = 0; i < expected.weights.size(); ++i) {
    reference_element(settings, scalars, scale, expected, i);
  }
  for (const auto set : supported_sets()) {
    CAPTURE(name_of(set));
    Slice slice = given;
    Shifted received(slice.gradient, shift);
    std::vector<std::span<float>> state(slice.state.begin(), slice.state.end());
    optimizer_step(settings, scalars, scale, slice.weights, {received.data(), slice.gradient.size()}, state, slice.next,
                   set);
    CHECK(same_bits(slice.next, expected.next));
    for (std::size_t i = 0; i < state.size(); ++i) {
      CHECK(same_bits(slice.state[i], expected.state[i]));
    }
  }
}

TEST_CASE("every optimizer gives its formula's bits with every instruction set") {
  for (const auto& settings : all_settings()) {
    CAPTURE(static_cast<int>(settings.kind));
    CAPTURE(settings.momentum);
    CAPTURE(settings.weight_decay);
    for (const std::size_t size : kSizes) {
      CAPTURE(size);
      const Slice ordinary = slice_of(settings, sample(size, 2), sample(size, 3));
      check_against_reference(settings, 1.0F, ordinary, 3);
      check_against_reference(settings, 0.3F, ordinary, 0);
      check_against_reference(settings, 1.0F, slice_of(settings, extremes(size, 5), extremes(size, 6)), 17);
    }
  }
}

TEST_CASE("a slice's bits do not depend on where it is cut") {
  for (const auto& settings : all_settings()) {
    const Slice given = slice_of(settings, sample(999, 2), sample(999, 3));
    const StepScalars scalars{0.125F, 0.3F, 0.7F};
    Slice whole = given;
    apply(settings, scalars, 0.5F, whole);
    Slice cut = given;
    for (std::size_t begin = 0; begin < 999; begin += 37) {
      const std::size_t count = std::min<std::size_t>(37, 999 - begin);
      std::vector<std::span<float>> state;
      for (auto& tensor : cut.state) {
        state.push_back(std::span(tensor).subspan(begin, count));
      }
      optimizer_step(settings, scalars, 0.5F, std::span<const float>(cut.weights).subspan(begin, count),
                     std::span<const float>(cut.gradient).subspan(begin, count), state,
                     std::span(cut.next).subspan(begin, count));
    }
    CHECK(same_bits(whole.next, cut.next));
  }
}

// One weight through some steps.
struct Run {
  Run(const OptimizerSettings& given, float weight) : settings(given) {
    slice.weights = {weight};
    slice.next = {0};
    for (const auto& tensor : state_tensors(settings)) {
      slice.state.push_back({tensor.initial});
    }
  }

  // The new weight.
  float step(float gradient, StepScalars scalars, float scale = 1.0F) {
    slice.gradient = {gradient};
    apply(settings, scalars, scale, slice);
    slice.weights = slice.next;
    return slice.weights[0];
  }

  float state(std::size_t which) { return slice.state[which][0]; }

  OptimizerSettings settings;
  Slice slice;
};

// All values below are exact in binary.
TEST_CASE("sgd by hand") {
  Run plain({.kind = OptimizerKind::sgd, .weight_decay = 0.25}, 2.0F);
  CHECK(plain.step(1.0F, {0.5F}) == 1.25F);
  Run momentum({.kind = OptimizerKind::sgd, .momentum = 0.5, .weight_decay = 0.25}, 2.0F);
  CHECK(momentum.step(1.0F, {0.5F}) == 1.25F);
  CHECK(momentum.state(0) == 1.5F);
  CHECK(momentum.step(-1.0F, {0.5F}) == 1.21875F);
  CHECK(momentum.state(0) == 0.0625F);
  Run nesterov({.kind = OptimizerKind::sgd, .momentum = 0.5, .nesterov = true}, 2.0F);
  CHECK(nesterov.step(1.0F, {0.5F}) == 1.25F);
  CHECK(nesterov.step(-1.0F, {0.5F}) == 1.875F);
  CHECK(nesterov.state(0) == -0.5F);
}

TEST_CASE("adam and adamw by hand") {
  const OptimizerSettings settings{.kind = OptimizerKind::adam, .beta1 = 0.5, .beta2 = 0.75, .epsilon = 2};
  Run adam(settings, 1.0F);
  CHECK(adam.step(2.0F, {1.0F, 2.0F, 0.5F}) == 0.5F);
  CHECK(adam.state(0) == 1.0F);
  CHECK(adam.state(1) == 1.0F);
  CHECK(adam.step(1.0F, {0.25F, 0.5F, 0.5F}) == 0.375F);

  OptimizerSettings decaying = settings;
  decaying.weight_decay = 0.5;
  Run coupled(decaying, 2.0F);
  CHECK(coupled.step(1.0F, {1.0F, 2.0F, 0.5F}) == 1.5F);

  decaying.kind = OptimizerKind::adamw;
  Run decoupled(decaying, 1.0F);
  CHECK(decoupled.step(2.0F, {0.5F, 2.0F, 0.5F}) == 0.25F);
}

TEST_CASE("adagrad and rmsprop by hand") {
  Run adagrad({.kind = OptimizerKind::adagrad, .epsilon = 1}, 1.0F);
  CHECK(adagrad.step(3.0F, {0.5F}) == 0.625F);
  CHECK(adagrad.state(0) == 9.0F);
  Run begun({.kind = OptimizerKind::adagrad, .epsilon = 1, .initial_accumulator = 16}, 1.0F);
  CHECK(begun.step(3.0F, {0.5F}) == 0.75F);
  CHECK(begun.state(0) == 25.0F);

  Run rmsprop({.kind = OptimizerKind::rmsprop, .alpha = 0.75, .epsilon = 1}, 1.0F);
  CHECK(rmsprop.step(2.0F, {0.5F}) == 0.5F);
  CHECK(rmsprop.step(1.0F, {0.5F}) == 0.25F);
  Run momentum({.kind = OptimizerKind::rmsprop, .momentum = 0.5, .alpha = 0.75, .epsilon = 1}, 1.0F);
  CHECK(momentum.step(2.0F, {0.5F}) == 0.5F);
  CHECK(momentum.step(1.0F, {0.5F}) == 0.0F);
  CHECK(momentum.state(0) == 1.0F);
  CHECK(momentum.state(1) == 1.0F);
}

TEST_CASE("the gradient is scaled, then cut to the clip value, then decay is added") {
  Run run({.kind = OptimizerKind::sgd, .weight_decay = 0.5, .clip_value = 1}, 4.0F);
  CHECK(run.step(8.0F, {0.5F}, 0.25F) == 2.5F);    // 8 -> 2 -> 1 -> 3
  CHECK(run.step(-8.0F, {1.0F}, 0.25F) == 2.25F);  // -8 -> -2 -> -1 -> 0.25
  CHECK(run.step(0.5F, {1.0F}) == 0.625F);         // within the limit: 0.5 -> 1.625
}

TEST_CASE("what each optimizer keeps is named as in PyTorch") {
  const auto names = [](const OptimizerSettings& settings) {
    std::string text;
    for (const auto& tensor : state_tensors(settings)) {
      text += std::string(tensor.name) + " ";
    }
    return text;
  };
  CHECK(names({.kind = OptimizerKind::sgd}).empty());
  CHECK(names({.kind = OptimizerKind::sgd, .momentum = 0.9}) == "momentum_buffer ");
  CHECK(names({.kind = OptimizerKind::sgd, .momentum = 0.9, .nesterov = true}) == "momentum_buffer ");
  CHECK(names({.kind = OptimizerKind::adam}) == "exp_avg exp_avg_sq ");
  CHECK(names({.kind = OptimizerKind::adamw}) == "exp_avg exp_avg_sq ");
  CHECK(names({.kind = OptimizerKind::adagrad}) == "sum ");
  CHECK(names({.kind = OptimizerKind::rmsprop}) == "square_avg ");
  CHECK(names({.kind = OptimizerKind::rmsprop, .momentum = 0.9}) == "square_avg momentum_buffer ");
  CHECK(names({.kind = OptimizerKind::lars}).empty());
  CHECK(names({.kind = OptimizerKind::lars, .momentum = 0.9}) == "momentum_buffer ");
  CHECK(names({.kind = OptimizerKind::lamb}) == "exp_avg exp_avg_sq ");
  CHECK(state_tensors({.kind = OptimizerKind::adagrad, .initial_accumulator = 0.5})[0].initial == 0.5F);
}

TEST_CASE("non-finite gradients concern their element only") {
  for (const auto& settings : all_settings()) {
    for (const auto set : supported_sets()) {
      Slice slice = slice_of(settings, Floats(35, 1.0F), Floats(35, 0.5F));
      Slice clean = slice;
      slice.gradient[1] = std::numeric_limits<float>::quiet_NaN();
      slice.gradient[33] = std::numeric_limits<float>::quiet_NaN();
      apply(settings, {0.5F, 0.5F, 1.0F}, 1.0F, slice, set);
      apply(settings, {0.5F, 0.5F, 1.0F}, 1.0F, clean, set);
      for (const std::size_t i : {1U, 33U}) {
        CHECK(std::isnan(slice.next[i]));  // clipping by value does not hide it
        slice.next[i] = clean.next[i];
      }
      CHECK(same_bits(slice.next, clean.next));
    }
  }
}

TEST_CASE("what does not fit is refused before anything is written") {
  const OptimizerSettings settings{.kind = OptimizerKind::adam};
  Floats weights(4, 1.0F);
  Floats shorter(3, 1.0F);
  Floats first(4, 5.0F);
  Floats second(4, 6.0F);
  Floats next(4, 7.0F);
  const std::vector<std::span<float>> both = {first, second};
  const std::vector<std::span<float>> one = {first};
  const std::vector<std::span<float>> uneven = {first, shorter};
  const StepScalars scalars{0.5F, 0.5F, 1.0F};
  CHECK_THROWS_AS(optimizer_step(settings, scalars, 1, weights, shorter, both, next), std::invalid_argument);
  CHECK_THROWS_AS(optimizer_step(settings, scalars, 1, weights, weights, both, shorter), std::invalid_argument);
  CHECK_THROWS_AS(optimizer_step(settings, scalars, 1, weights, weights, one, next), std::invalid_argument);
  CHECK_THROWS_AS(optimizer_step(settings, scalars, 1, weights, weights, uneven, next), std::invalid_argument);
  CHECK_THROWS_AS(change_state(weights, shorter, 1, next), std::invalid_argument);
  CHECK_THROWS_AS(change_state(weights, weights, 1, shorter), std::invalid_argument);
  CHECK_THROWS_AS(blend_state(weights, shorter, 1, next), std::invalid_argument);
  CHECK_THROWS_AS(blend_state(weights, weights, 1, shorter), std::invalid_argument);
  CHECK(first == Floats(4, 5.0F));
  CHECK(next == Floats(4, 7.0F));
  for (const auto set : {InstructionSet::avx2, InstructionSet::avx512}) {
    if (!supported(set)) {
      CHECK_THROWS_AS(optimizer_step(settings, scalars, 1, weights, weights, both, next, set), std::invalid_argument);
    }
  }
  CHECK(supported(detected()));
}

TEST_CASE("state is changed by what is scaled, and keeps its bits where nobody changes it") {
  const Floats old = sample(100, 5);
  Floats change = sample(100, 6);
  std::fill(change.begin() + 50, change.end(), 0.0F);
  Floats state(100, 1.0F);
  change_state(old, change, 0.25F, state);
  for (std::size_t i = 0; i < 50; ++i) {
    REQUIRE(state[i] == old[i] + 0.25F * change[i]);
  }
  CHECK(same_bits(Floats(state.begin() + 50, state.end()), Floats(old.begin() + 50, old.end())));
  change_state({}, {}, 1, {});
}

TEST_CASE("a running statistic goes towards the batch's by its momentum, and stays where the two agree") {
  const Floats old = sample(100, 5);
  Floats statistic = sample(100, 6);
  std::copy(old.begin() + 50, old.end(), statistic.begin() + 50);
  Floats state(100, 1.0F);
  blend_state(old, statistic, 0.1F, state);
  for (std::size_t i = 0; i < 50; ++i) {
    REQUIRE(state[i] == old[i] + 0.1F * (statistic[i] - old[i]));
  }
  CHECK(same_bits(Floats(state.begin() + 50, state.end()), Floats(old.begin() + 50, old.end())));
  blend_state({}, {}, 1, {});
}

// Sixteen partial sums, joined in a tree.
double reference_sum(const Floats& values) {
  double sums[16] = {};
  for (std::size_t i = 0; i < values.size(); ++i) {
    volatile double square = static_cast<double>(values[i]) * static_cast<double>(values[i]);
    sums[i % 16] += square;
  }
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) {
      sums[j] += sums[j + half];
    }
  }
  return sums[0];
}

TEST_CASE("the sum of squares has the same bits with every instruction set") {
  for (const std::size_t size : kSizes) {
    for (const Floats& values : {sample(size, 8), extremes(size, 9)}) {
      const double expected = reference_sum(values);
      for (const auto set : supported_sets()) {
        Shifted shifted(values, 5);
        const auto measured = measure({shifted.data(), size}, set);
        CHECK(std::memcmp(&measured.sum_of_squares, &expected, sizeof(double)) == 0);
        CHECK_FALSE(measured.first_non_finite);
      }
    }
  }
  CHECK(measure(Floats{3.0F, 4.0F}).sum_of_squares == 25.0);
  // The squares of the largest floats are no infinity.
  CHECK_FALSE(measure(Floats(1000, std::numeric_limits<float>::max())).first_non_finite);
}

TEST_CASE("the first element that is not finite is found wherever it is") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t at : {0U, 1U, 15U, 16U, 63U, 98U}) {
      Floats values = sample(99, 4);
      values[at] = bad;
      values[98] = infinity;  // and -infinity, infinity in one partial sum: their squares do not cancel
      for (const auto set : supported_sets()) {
        CHECK(measure(values, set).first_non_finite == at);
      }
    }
  }
}

}  // namespace
}  // namespace ballast
