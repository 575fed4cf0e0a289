#include "worker/training/inner_optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/job/optimizer_settings.h"
#include "common/job/trust_ratios.h"
#include "common/numeric/vector.h"

namespace ballast {

InnerOptimizer::InnerOptimizer(const Job& job)
    : job_(job),
      descents_(local_descents(job.spec.training, job.arena.parameters)),
      norms_(clip_norms(job.spec.training.clip, job.arena)),
      has_ratios_(has_trust_ratios(job.spec.training.local.optimizer)),
      tensors_(state_tensors(local_optimizer_settings(job.spec.training, Group::decay))),
      state_(tensors_.size(), std::vector<float>(job.arena.elements)),
      scales_(job.arena.parameters.size(), 1.0F) {
  for (const auto& chunk : job.arena.chunks) {
    pieces_.push_back(pieces_of(job.arena, chunk));
  }
}

void InnerOptimizer::begin() {
  for (std::size_t i = 0; i < state_.size(); ++i) {
    std::fill(state_[i].begin(), state_[i].end(), tensors_[i].initial);
  }
  beta1_power_ = 1;
  beta2_power_ = 1;
}

StepScalars InnerOptimizer::next_scalars() {
  const auto& optimizer = job_.spec.training.local.optimizer;
  StepScalars scalars;
  scalars.learning_rate = static_cast<float>(optimizer.learning_rate);
  scalars.step_size = scalars.learning_rate;
  const bool is_lamb = optimizer.name == "lamb";  // the rate is no part of the update whose norm is taken
  if (is_lamb || optimizer.name == "adam" || optimizer.name == "adamw") {
    beta1_power_ *= optimizer.beta1;
    beta2_power_ *= optimizer.beta2;
    scalars.step_size = static_cast<float>((is_lamb ? 1 : optimizer.learning_rate) / (1 - beta1_power_));
    scalars.second_moment_root = static_cast<float>(std::sqrt(1 - beta2_power_));
  }
  return scalars;
}

bool InnerOptimizer::is_finite(std::span<const float> gradient) const {
  return std::all_of(job_.arena.extents.begin(), job_.arena.extents.end(), [&](const Extent& extent) {
    return all_finite(gradient.subspan(extent.offset, extent.elements));
  });
}

// The same sums in the same order as those of a round's root: see clip_norms.
void InnerOptimizer::measure_norms(std::span<const float> gradient) {
  std::vector<double> sums(norms_.count);
  for (const auto& chunk : job_.arena.chunks) {
    const auto& norms = norms_.of_chunk[chunk.id];
    const auto values = gradient.subspan(chunk.offset, chunk.elements);
    if (job_.spec.training.clip.global_norm && !norms.empty()) {
      sums[norms[0]] += measure(values).sum_of_squares;
      continue;
    }
    for (std::size_t i = 0; i < norms.size(); ++i) {
      const auto& piece = pieces_[chunk.id][i];
      sums[norms[i]] += measure(values.subspan(piece.offset, piece.elements)).sum_of_squares;
    }
  }
  for (std::size_t parameter = 0; parameter < scales_.size(); ++parameter) {
    scales_[parameter] = clip_scale(norms_.limit, sums[norms_.count == 1 ? 0 : parameter]);
  }
}

// The same sums in the same order as those of a round's root: see trust_norms.
void InnerOptimizer::measure_ratios(const StepScalars& scalars, std::span<const float> weights,
                                    std::span<const float> gradient) {
  std::vector<TrustSums> sums(scales_.size());
  std::span<const float> state[kMaxStateTensors];
  for (const auto& chunk : job_.arena.chunks) {
    for (const auto& piece : pieces_[chunk.id]) {
      const auto& descent = descents_.of(piece.parameter);
      if (!is_descended(chunk.group) || !has_trust_ratio(descent)) {
        continue;
      }
      const auto offset = chunk.offset + piece.offset;
      for (std::size_t i = 0; i < state_.size(); ++i) {
        state[i] = std::span(state_[i]).subspan(offset, piece.elements);
      }
      const auto found = trust_sums(descent.optimizer, scalars, weights.subspan(offset, piece.elements),
                                    gradient.subspan(offset, piece.elements),
                                    std::span<const std::span<const float>>(state, state_.size()));
      sums[piece.parameter].weights += found.weights;
      sums[piece.parameter].update += found.update;
    }
  }
  for (std::size_t parameter = 0; parameter < scales_.size(); ++parameter) {
    scales_[parameter] = trust_ratio(descents_.of(parameter).optimizer, sums[parameter]);
  }
}

bool InnerOptimizer::step(std::span<const float> weights, std::span<const float> gradient, std::span<float> next) {
  const auto scalars = next_scalars();
  const bool finite = is_finite(gradient);
  std::fill(scales_.begin(), scales_.end(), 1.0F);
  if (finite && norms_.count > 0) {
    measure_norms(gradient);
  } else if (finite && has_ratios_) {
    measure_ratios(scalars, weights, gradient);
  }
  for (std::size_t parameter = 0; parameter < job_.arena.parameters.size(); ++parameter) {
    if (job_.arena.parameters[parameter].group == Group::state) {
      change_state_of(parameter, weights, gradient, next);
      continue;
    }
    auto settings = descents_.of(parameter).optimizer;
    if (!finite) {
      settings.clip_value = std::numeric_limits<double>::infinity();
    }
    descend(parameter, settings, descents_.of(parameter).scalars(scalars), scales_[parameter], weights, gradient, next);
  }
  return finite;
}

void InnerOptimizer::change_state_of(std::size_t parameter, std::span<const float> weights, std::span<const float> made,
                                     std::span<float> next) const {
  const auto& [offset, elements] = job_.arena.extents[parameter];
  const float momentum = job_.arena.parameters[parameter].momentum;
  const auto into = next.subspan(offset, elements);
  if (momentum != 0) {
    blend_state(weights.subspan(offset, elements), made.subspan(offset, elements), momentum, into);
  } else {
    std::ranges::copy(made.subspan(offset, elements), into.begin());
  }
}

void InnerOptimizer::descend(std::size_t parameter, const OptimizerSettings& settings, const StepScalars& scalars,
                             float scale, std::span<const float> weights, std::span<const float> gradient,
                             std::span<float> next) {
  const auto& extent = job_.arena.extents[parameter];
  std::span<float> state[kMaxStateTensors];
  for (std::size_t i = 0; i < state_.size(); ++i) {
    state[i] = std::span(state_[i]).subspan(extent.offset, extent.elements);
  }
  optimizer_step(settings, scalars, scale, weights.subspan(extent.offset, extent.elements),
                 gradient.subspan(extent.offset, extent.elements), std::span(state).first(state_.size()),
                 next.subspan(extent.offset, extent.elements));
}

}  // namespace ballast
