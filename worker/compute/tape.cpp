#include "worker/compute/tape.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ballast {
namespace {

std::string shape_text(const std::vector<std::uint32_t>& shape) {
  std::string text;
  for (const std::uint32_t extent : shape) {
    text += text.empty() ? "" : " x ";
    text += std::to_string(extent);
  }
  return text;
}

// Calls `prepare`, naming the layer in what it throws.
template <typename Prepare>
Prepared prepare_layer(const std::string& layer, const Prepare& prepare) {
  try {
    return prepare();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("layer " + layer + ": " + error.what());
  }
}

std::unique_ptr<Tensor> begin_network(Backend& backend, const Arena& arena, const Shape& input) {
  backend.reserve_arenas(arena.elements);
  return backend.input(input);
}

}  // namespace

Tape::Tape(Backend& backend, const Arena& arena, const Shape& input)
    : backend_(backend),
      arena_(arena),
      input_(begin_network(backend, arena, input)),
      used_parameters_(arena.parameters.size(), false) {
  on_their_way_.reserve(arena.parameters.size());
}

Tape::Value Tape::conv2d(Value x, const std::string& layer, const Conv2d& conv) {
  const std::size_t weight = take_parameter(layer + ".weight", {conv.channels, x->shape().c, conv.kernel, conv.kernel});
  const std::size_t bias = take_parameter(layer + ".bias", {conv.channels});
  Prepared prepared =
      prepare_layer(layer, [&] { return backend_.conv2d(*x, conv, arena_.extents[weight], arena_.extents[bias]); });
  return append(x, std::move(prepared), {bias, weight});
}

Tape::Value Tape::linear(Value x, const std::string& layer, std::uint32_t units) {
  const std::size_t weight =
      take_parameter(layer + ".weight", {units, static_cast<std::uint32_t>(x->shape().features())});
  const std::size_t bias = take_parameter(layer + ".bias", {units});
  Prepared prepared =
      prepare_layer(layer, [&] { return backend_.linear(*x, units, arena_.extents[weight], arena_.extents[bias]); });
  return append(x, std::move(prepared), {bias, weight});
}

Tape::Value Tape::relu(Value x) { return append(x, backend_.relu(*x)); }

Tape::Value Tape::max_pool2d(Value x, const MaxPool2d& pool) {
  return append(x, prepare_layer("max_pool2d", [&] { return backend_.max_pool2d(*x, pool); }));
}

void Tape::softmax_cross_entropy(Value logits) {
  use(logits);
  loss_ = backend_.softmax_cross_entropy(*logits);
}

void Tape::finish() const {
  if (!loss_) {
    throw std::logic_error("the tape records no loss");
  }
  for (std::size_t i = 0; i < used_parameters_.size(); ++i) {
    if (!used_parameters_[i]) {
      throw std::logic_error("no operation on the tape uses parameter " + arena_.parameters[i].name);
    }
  }
}

void Tape::forward(std::span<const float> features, std::span<const std::int32_t> labels, const WeightArena& weights) {
  if (weights.values.size() != arena_.elements) {
    throw std::invalid_argument("the weights hold " + std::to_string(weights.values.size()) + " floats, the arena " +
                                std::to_string(arena_.elements));
  }
  backend_.bind_weights(weights);
  backend_.write(*input_, features);
  for (const Step& step : steps_) {
    step.prepared.operation->forward();
  }
  loss_->forward(labels);
}

void Tape::backward(float scale, std::span<float> gradients, const GradientReady& ready) {
  if (gradients.size() != arena_.elements) {
    throw std::invalid_argument("the gradients hold " + std::to_string(gradients.size()) + " floats, the arena " +
                                std::to_string(arena_.elements));
  }
  backend_.bind_gradients(gradients);
  on_their_way_.clear();
  loss_->backward(scale);
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    // Parameters first: their gradients may leave while the rest of the backward pass runs.
    step->prepared.operation->backward_parameters();
    for (const std::size_t parameter : step->parameters) {
      if (backend_.deliver(arena_.extents[parameter])) {
        ready(parameter);
      } else {
        on_their_way_.push_back(parameter);
      }
    }
    if (step->input_wants_gradient) {
      step->prepared.operation->backward_input();
    }
  }
  // Only now: the device has all of its work, and does it while the first gradients leave.
  for (const std::size_t parameter : on_their_way_) {
    backend_.await_delivery();
    ready(parameter);
  }
}

Tape::Value Tape::append(Value x, Prepared prepared, std::vector<std::size_t> parameters) {
  use(x);
  steps_.push_back({std::move(prepared), x->with_gradient(), std::move(parameters)});
  return steps_.back().prepared.output.get();
}

void Tape::use(Value x) {
  if (std::ranges::find(used_values_, x) != used_values_.end()) {
    throw std::logic_error("a value on the tape is used twice; gradients of branches are not summed");
  }
  used_values_.push_back(x);
}

std::size_t Tape::take_parameter(const std::string& name, const std::vector<std::uint32_t>& shape) {
  const auto found = std::ranges::find(arena_.parameters, name, &Parameter::name);
  if (found == arena_.parameters.end()) {
    throw std::invalid_argument("the arena has no parameter " + name);
  }
  if (found->shape != shape) {
    throw std::invalid_argument("parameter " + name + " is " + shape_text(found->shape) +
                                " in the arena, but the model needs " + shape_text(shape));
  }
  const auto index = static_cast<std::size_t>(found - arena_.parameters.begin());
  if (used_parameters_[index]) {
    throw std::logic_error("parameter " + name + " is used twice on the tape");
  }
  used_parameters_[index] = true;
  return index;
}

}  // namespace ballast
