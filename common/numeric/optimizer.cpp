#include "common/numeric/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "common/numeric/kernels.h"
#include "common/numeric/unaligned.h"

namespace ballast {
namespace {

void require_size(std::size_t actual, std::size_t expected, const std::string& what) {
  if (actual != expected) {
    throw std::invalid_argument(what + " has " + std::to_string(actual) + " floats where " + std::to_string(expected) +
                                " are needed");
  }
}

const numeric::Kernels& kernels_of(InstructionSet set) {
  if (!supported(set)) {
    throw std::invalid_argument(std::string("this processor or build has no ") + name_of(set));
  }
#ifdef BALLAST_X86_VECTORS
  if (set == InstructionSet::avx512) {
    return numeric::kAvx512Kernels;
  }
  if (set == InstructionSet::avx2) {
    return numeric::kAvx2Kernels;
  }
#endif
  return numeric::kBaselineKernels;
}

numeric::Rule rule_of(const OptimizerSettings& settings) {
  const bool momentum = settings.momentum != 0;
  switch (settings.kind) {
    case OptimizerKind::adam:
      return numeric::adam;
    case OptimizerKind::adamw:
      return numeric::adamw;
    case OptimizerKind::adagrad:
      return numeric::adagrad;
    case OptimizerKind::rmsprop:
      return momentum ? numeric::rmsprop_momentum : numeric::rmsprop;
    case OptimizerKind::lars:
      return momentum ? numeric::lars_momentum : numeric::sgd;
    case OptimizerKind::lamb:
      return numeric::lamb;
    case OptimizerKind::sgd:
      break;
  }
  if (!momentum) {
    return numeric::sgd;
  }
  return settings.nesterov ? numeric::sgd_nesterov : numeric::sgd_momentum;
}

numeric::Factors factors_of(const OptimizerSettings& settings, const StepScalars& scalars, float scale) {
  const bool corrected = settings.kind == OptimizerKind::adam || settings.kind == OptimizerKind::adamw;
  const double kept = settings.kind == OptimizerKind::rmsprop ? settings.alpha : settings.beta2;
  numeric::Factors factors;
  const bool has_ratio = has_trust_ratios(settings.kind);
  factors.scale = has_ratio ? 1.0F : scale;
  factors.clip = static_cast<float>(settings.clip_value);
  factors.decay = static_cast<float>(settings.kind == OptimizerKind::adamw
                                         ? 1 - static_cast<double>(scalars.learning_rate) * settings.weight_decay
                                         : settings.weight_decay);
  factors.learning_rate = corrected ? scalars.step_size : scalars.learning_rate;
  if (has_ratio) {
    factors.learning_rate = scalars.learning_rate * scale;
    factors.correction = scalars.step_size;
  }
  factors.momentum = static_cast<float>(settings.momentum);
  factors.keep_first = static_cast<float>(settings.beta1);
  factors.add_first = static_cast<float>(1 - settings.beta1);
  factors.keep_second = static_cast<float>(kept);
  factors.add_second = static_cast<float>(1 - kept);
  factors.root = scalars.second_moment_root;
  factors.epsilon = static_cast<float>(settings.epsilon);
  return factors;
}

}  // namespace

std::vector<StateTensor> state_tensors(const OptimizerSettings& settings) {
  switch (rule_of(settings)) {
    case numeric::sgd_momentum:
    case numeric::sgd_nesterov:
    case numeric::lars_momentum:
      return {{"momentum_buffer", 0}};
    case numeric::adam:
    case numeric::adamw:
    case numeric::lamb:
      return {{"exp_avg", 0}, {"exp_avg_sq", 0}};
    case numeric::adagrad:
      return {{"sum", static_cast<float>(settings.initial_accumulator)}};
    case numeric::rmsprop:
      return {{"square_avg", 0}};
    case numeric::rmsprop_momentum:
      return {{"square_avg", 0}, {"momentum_buffer", 0}};
    case numeric::sgd:
    case numeric::kRules:
      break;
  }
  return {};
}

namespace {

template <typename Float>
void require_state(const OptimizerSettings& settings, std::span<const std::span<Float>> state, std::size_t elements,
                   const std::string& caller) {
  const auto tensors = state_tensors(settings);
  if (state.size() != tensors.size()) {
    throw std::invalid_argument(caller + ": " + std::to_string(state.size()) + " state tensors where " +
                                std::to_string(tensors.size()) + " are needed");
  }
  for (std::size_t i = 0; i < state.size(); ++i) {
    require_size(state[i].size(), elements, caller + ": " + tensors[i].name);
  }
}

}  // namespace

void optimizer_step(const OptimizerSettings& settings, const StepScalars& scalars, float scale,
                    std::span<const float> weights, std::span<const float> gradient,
                    std::span<const std::span<float>> state, std::span<float> new_weights, InstructionSet set) {
  const auto& kernels = kernels_of(set);
  require_size(gradient.size(), weights.size(), "optimizer_step: gradient");
  require_size(new_weights.size(), weights.size(), "optimizer_step: new_weights");
  require_state(settings, state, weights.size(), "optimizer_step");
  numeric::Slice slice{weights.data(), gradient.data(), {}, new_weights.data(), weights.size()};
  for (std::size_t i = 0; i < state.size(); ++i) {
    slice.state[i] = state[i].data();
  }
  kernels.step[rule_of(settings)][settings.weight_decay != 0 ? 1 : 0](slice, factors_of(settings, scalars, scale));
}

TrustSums trust_sums(const OptimizerSettings& settings, const StepScalars& scalars, std::span<const float> weights,
                     std::span<const float> gradient, std::span<const std::span<const float>> state,
                     InstructionSet set) {
  const auto& kernels = kernels_of(set);
  if (!has_trust_ratios(settings.kind)) {
    throw std::invalid_argument("trust_sums: the optimizer has no trust ratios");
  }
  require_size(gradient.size(), weights.size(), "trust_sums: gradient");
  require_state(settings, state, weights.size(), "trust_sums");
  numeric::Slice slice{weights.data(), gradient.data(), {}, nullptr, weights.size()};
  for (std::size_t i = 0; i < state.size(); ++i) {
    slice.state[i] = const_cast<float*>(state[i].data());  // read alone
  }
  const auto sums = settings.kind == OptimizerKind::lars ? kernels.lars_sums : kernels.lamb_sums;
  const auto found = sums(slice, factors_of(settings, scalars, 1.0F));
  const auto bounded = [](double sum) { return std::isfinite(sum) ? sum : std::numeric_limits<double>::max(); };
  return {bounded(found.weights), bounded(found.update)};
}

float trust_ratio(const OptimizerSettings& settings, const TrustSums& sums) {
  const auto counts = [](double sum) { return sum > 0 && sum < std::numeric_limits<double>::max(); };
  if (!settings.trust_ratio || !counts(sums.weights) || !counts(sums.update)) {
    return 1;
  }
  const double weights = std::sqrt(sums.weights);
  const double update = std::sqrt(sums.update);
  const double ratio =
      settings.kind == OptimizerKind::lars
          ? settings.trust_coefficient * weights / (update + settings.weight_decay * weights + settings.epsilon)
          : weights / update;
  return static_cast<float>(std::min<double>(ratio, std::numeric_limits<float>::max()));
}

void average_weights(std::span<const float> weights, double decay, std::span<float> average, InstructionSet set) {
  const auto& kernels = kernels_of(set);
  require_size(average.size(), weights.size(), "average_weights: average");
  kernels.average(weights.data(), static_cast<float>(1 - decay), average.data(), weights.size());
}

void change_state(std::span<const float> old_state, std::span<const float> change, float scale,
                  std::span<float> new_state) {
  require_size(change.size(), old_state.size(), "change_state: change");
  require_size(new_state.size(), old_state.size(), "change_state: new_state");
  for (std::size_t i = 0; i < old_state.size(); ++i) {
    new_state[i] = old_state[i] + scale * load_float(change.data(), i);
  }
}

void blend_state(std::span<const float> old_state, std::span<const float> statistic, float momentum,
                 std::span<float> new_state) {
  require_size(statistic.size(), old_state.size(), "blend_state: statistic");
  require_size(new_state.size(), old_state.size(), "blend_state: new_state");
  for (std::size_t i = 0; i < old_state.size(); ++i) {
    new_state[i] = old_state[i] + momentum * (load_float(statistic.data(), i) - old_state[i]);
  }
}

SliceMeasure measure(std::span<const float> values, InstructionSet set) {
  SliceMeasure result;
  result.sum_of_squares = kernels_of(set).sum_of_squares(values.data(), values.size());
  // The square of no finite float, and no sum of such squares that fits into memory, overflows a double.
  if (!std::isfinite(result.sum_of_squares)) {
    std::size_t first = 0;
    while (std::isfinite(load_float(values.data(), first))) {
      ++first;
    }
    result.first_non_finite = first;
  }
  return result;
}

}  // namespace ballast
