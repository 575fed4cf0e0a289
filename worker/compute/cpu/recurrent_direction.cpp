#include "worker/compute/cpu/recurrent_direction.h"

#include <algorithm>

namespace ballast::cpu {
namespace {

enum Part : std::size_t { kWeightIh, kWeightHh, kBiasIh, kBiasHh };

}  // namespace

RecurrentDirection::RecurrentDirection(const Context& context, const Cell& cell, std::size_t units, const Shape& x,
                                       std::span<const ParameterPlace> parameters, bool backwards)
    : context_(context),
      cell_(cell),
      units_(units),
      features_(x.features()),
      backwards_(backwards),
      of_input_(x.rows() * cell.gates * units),
      of_state_(cell.keeps_state_apart ? of_input_.size() : 0),
      h_(x.rows() * units),
      c_(x.rows() * units),
      previous_h_(x.rows() * units),
      h_gradient_(x.rows() * units),
      c_gradient_(x.n * units) {
  for (const ParameterPlace& parameter : parameters) {
    extents_.push_back(parameter.extent);
    gradients_.emplace_back(context, parameter);
  }
}

void RecurrentDirection::forward(const PackedSteps& steps, const float* x) {
  multiply({steps.rows(), width(), features_}, {x, features_}, {weights(kWeightIh), features_, true}, of_input_.data(),
           width(), Into::replace, context_.threads);
  for (std::size_t turn = 0; turn < steps.steps(); ++turn) {
    const Place at = place(steps, turn);
    multiply({at.previous_count, width(), units_}, {h_.data() + at.previous_begin * units_, units_},
             {weights(kWeightHh), units_, true}, of_state().data() + at.begin * width(), width(),
             cell_.keeps_state_apart ? Into::replace : Into::add, context_.threads);
    cell_.forward(cell_step(at), context_.threads);
  }
}

void RecurrentDirection::backward(const PackedSteps& steps) {
  std::ranges::fill(c_gradient_, 0.0F);
  for (std::size_t turn = steps.steps(); turn-- > 0;) {
    const Place at = place(steps, turn);
    cell_.backward(cell_step(at), context_.threads);
    multiply({at.previous_count, units_, width()}, {of_state().data() + at.begin * width(), width()},
             {weights(kWeightHh), units_}, h_gradient_.data() + at.previous_begin * units_, units_, Into::add,
             context_.threads);
  }
}

void RecurrentDirection::write_parameter_gradients(const PackedSteps& steps, const float* x) {
  gather_previous(steps);
  const auto rows = steps.rows();
  const auto threads = context_.threads;
  multiply({width(), features_, rows}, {of_input_.data(), width(), true}, {x, features_},
           gradients_[kWeightIh].begin().data(), features_, Into::replace, threads);
  multiply({width(), units_, rows}, {of_state().data(), width(), true}, {previous_h_.data(), units_},
           gradients_[kWeightHh].begin().data(), units_, Into::replace, threads);
  sum_columns(of_input_.data(), rows, width(), width(), gradients_[kBiasIh].begin().data(), threads);
  sum_columns(of_state().data(), rows, width(), width(), gradients_[kBiasHh].begin().data(), threads);
  for (auto& gradient : gradients_) {
    gradient.finish();
  }
}

void RecurrentDirection::write_input_gradient(const PackedSteps& steps, float* x_gradient, Into into) const {
  multiply({steps.rows(), features_, width()}, {of_input_.data(), width()}, {weights(kWeightIh), features_}, x_gradient,
           features_, into, context_.threads);
}

RecurrentDirection::Place RecurrentDirection::place(const PackedSteps& steps, std::size_t turn) const {
  const auto step = backwards_ ? steps.steps() - 1 - turn : turn;
  if (turn == 0) {
    return {steps.begin(step), steps.count(step), steps.begin(step), 0};
  }
  const auto previous = backwards_ ? step + 1 : step - 1;
  return {steps.begin(step), steps.count(step), steps.begin(previous),
          std::min(steps.count(step), steps.count(previous))};
}

CellStep RecurrentDirection::cell_step(const Place& at) {
  CellStep step;
  step.rows = at.count;
  step.units = units_;
  step.previous_rows = at.previous_count;
  step.bias_ih = weights(kBiasIh);
  step.bias_hh = weights(kBiasHh);
  step.of_input = of_input_.data() + at.begin * width();
  step.of_state = of_state().data() + at.begin * width();
  step.previous_h = h_.data() + at.previous_begin * units_;
  step.previous_c = c_.data() + at.previous_begin * units_;
  step.h = h_.data() + at.begin * units_;
  step.c = c_.data() + at.begin * units_;
  step.h_gradient = h_gradient_.data() + at.begin * units_;
  step.previous_h_gradient = h_gradient_.data() + at.previous_begin * units_;
  step.c_gradient = c_gradient_.data();
  return step;
}

// So that the gradient of weight_hh is one product over all steps.
void RecurrentDirection::gather_previous(const PackedSteps& steps) {
  for (std::size_t turn = 0; turn < steps.steps(); ++turn) {
    const Place at = place(steps, turn);
    float* const to = previous_h_.data() + at.begin * units_;
    std::copy_n(h_.data() + at.previous_begin * units_, at.previous_count * units_, to);
    std::fill_n(to + at.previous_count * units_, (at.count - at.previous_count) * units_, 0.0F);
  }
}

const float* RecurrentDirection::weights(std::size_t parameter) const {
  return &context_.weights[extents_[parameter].offset];
}

}  // namespace ballast::cpu
