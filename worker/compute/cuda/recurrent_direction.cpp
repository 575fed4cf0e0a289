#include "worker/compute/cuda/recurrent_direction.h"

#include <algorithm>
#include <utility>

#include "worker/compute/cuda/column_sums.h"
#include "worker/compute/cuda/status.h"

namespace ballast::cuda {
namespace {

DeviceBuffer<float> make_states(const Context& context, std::size_t of_turn, std::size_t turns, std::string_view what) {
  DeviceBuffer<float> states((turns + 1) * of_turn, what);
  check(cudaMemsetAsync(states.data(), 0, of_turn * sizeof(float), context.compute()), what, "preparing");
  return states;
}

}  // namespace

RecurrentDirection::RecurrentDirection(Context& context, const Cell& cell, std::size_t units, const Shape& x,
                                       const StepsOfOutput& output, std::span<const ParameterPlace> parameters,
                                       bool backwards, std::string what)
    : context_(context),
      what_(std::move(what)),
      cell_(cell),
      units_(units),
      features_(x.features()),
      shape_{x.n, x.steps, backwards},
      output_(output),
      x_(x.elements(), what_),
      of_input_(x.rows() * cell.gates * units, what_),
      of_state_(cell.keeps_state_apart ? of_input_.size() : 0, what_),
      h_(make_states(context, x.n * units, x.steps, what_)),
      h_gradient_(x.n * units, what_) {
  if (cell.has_c) {
    c_ = make_states(context, x.n * units, x.steps, what_);
    c_gradient_ = DeviceBuffer<float>(x.n * units, what_);
  }
  std::ranges::copy(parameters, places_.begin());
  reserve_column_sums(context, x.rows(), cell.gates * units, what_);
}

void RecurrentDirection::forward(const Lengths& lengths, const float* x) {
  turns_ = std::ranges::max(lengths.sent());
  check(launch_gather_turns(shape_, turns_, features_, lengths.data(), x, x_.data(), context_.compute()), what_,
        "packing steps");
  multiply(context_, {rows(), width(), features_}, {x_.data(), features_}, weights(kWeightIh),
           {of_input_.data(), width()}, what_);
  for (std::size_t turn = 0; turn < turns_; ++turn) {
    go_through_state(turn);
    check(cell_.forward(turn_of(turn), buffers_of(turn, lengths), context_.compute()), what_, "forward");
  }
}

void RecurrentDirection::backward(const Lengths& lengths) {
  for (std::size_t turn = turns_; turn-- > 0;) {
    check(cell_.backward(turn_of(turn), buffers_of(turn, lengths), context_.compute()), what_, "backward");
    if (turn > 0) {
      go_back_through_state(turn);
    }
  }
}

// The states before all turns lie from the turn of zeros on: the gradient of weight_hh is one product.
void RecurrentDirection::write_parameter_gradients() {
  multiply(context_, {width(), features_, rows()}, {of_input_.data(), width(), true}, {x_.data(), features_},
           gradient_of(kWeightIh), what_);
  multiply(context_, {width(), units_, rows()}, {of_state(), width(), true}, {h_.data(), units_},
           gradient_of(kWeightHh), what_);
  sum_columns(context_, of_input_.data(), rows(), width(), places_[kBiasIh], what_);
  sum_columns(context_, of_state(), rows(), width(), places_[kBiasHh], what_);
}

void RecurrentDirection::write_input_gradient(const Lengths& lengths, Into into, float* x_gradient) {
  RowMatrix weight_ih = weights(kWeightIh);
  weight_ih.transposed = false;
  multiply(context_, {rows(), features_, width()}, {of_input_.data(), width()}, weight_ih, {x_.data(), features_},
           what_);
  check(launch_scatter_turns(shape_, features_, lengths.data(), x_.data(), into == Into::add, x_gradient,
                             context_.compute()),
        what_, "unpacking steps");
}

CellTurn RecurrentDirection::turn_of(std::size_t turn) const {
  return {shape_, turn, units_, output_.stride, turn + 1 == turns_};
}

CellBuffers RecurrentDirection::buffers_of(std::size_t turn, const Lengths& lengths) const {
  const std::size_t of_turn = shape_.examples * units_;
  CellBuffers buffers;
  buffers.lengths = lengths.data();
  buffers.bias_ih = context_.weights_at(places_[kBiasIh].extent);
  buffers.bias_hh = context_.weights_at(places_[kBiasHh].extent);
  buffers.of_input = of_input_.data() + turn * shape_.examples * width();
  buffers.of_state = of_state() + turn * shape_.examples * width();
  buffers.previous_h = h_.data() + turn * of_turn;
  buffers.h = h_.data() + (turn + 1) * of_turn;
  buffers.y = output_.y;
  buffers.y_gradient = output_.y_gradient;
  buffers.h_gradient = h_gradient_.data();
  if (cell_.has_c) {
    buffers.previous_c = c_.data() + turn * of_turn;
    buffers.c = c_.data() + (turn + 1) * of_turn;
    buffers.c_gradient = c_gradient_.data();
  }
  return buffers;
}

// What the state brings to the gates of a turn.
void RecurrentDirection::go_through_state(std::size_t turn) const {
  const std::size_t first = turn * shape_.examples;
  multiply(context_, {shape_.examples, width(), units_}, {h_.data() + first * units_, units_}, weights(kWeightHh),
           {of_state() + first * width(), width(), cell_.keeps_state_apart ? Into::replace : Into::add}, what_);
}

// What the gates of a turn bring to the gradient of the state before it. A cell that keeps the state apart has left
// there what the state brings by itself.
void RecurrentDirection::go_back_through_state(std::size_t turn) const {
  RowMatrix weight_hh = weights(kWeightHh);
  weight_hh.transposed = false;
  multiply(context_, {shape_.examples, units_, width()}, {of_state() + turn * shape_.examples * width(), width()},
           weight_hh, {h_gradient_.data(), units_, cell_.keeps_state_apart ? Into::add : Into::replace}, what_);
}

// As a forward product has it.
RowMatrix RecurrentDirection::weights(Part part) const {
  return {context_.weights_at(places_[part].extent), part == kWeightIh ? features_ : units_, true};
}

ProductResult RecurrentDirection::gradient_of(Part part) const {
  return {context_.gradients_at(places_[part].extent), part == kWeightIh ? features_ : units_,
          places_[part].adds ? Into::add : Into::replace};
}

}  // namespace ballast::cuda
