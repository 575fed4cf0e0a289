#include "worker/compute/tape.h"

#include <algorithm>
#include <stdexcept>
#include <string>
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
auto prepare_layer(const std::string& layer, const Prepare& prepare) {
  try {
    return prepare();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("layer " + layer + ": " + error.what());
  }
}

Shape input_shape(const ExampleShape& example, const TapeSize& size) {
  return example.vocabulary > 0 ? Shape{size.examples, 1, 1, 1, size.steps}
                                : Shape{size.examples, example.channels, example.height, example.width, size.steps};
}

std::unique_ptr<Tensor> begin_network(Backend& backend, const Arena& arena, const Shape& input) {
  backend.reserve_arenas(arena.elements);
  return backend.input(input);
}

void check_arena(const char* what, std::size_t floats, std::size_t needed) {
  if (floats != needed) {
    throw std::invalid_argument("the " + std::string(what) + " hold " + std::to_string(floats) + " floats, the arena " +
                                std::to_string(needed));
  }
}

// Whose backward pass reads its own output, so that nobody may write over it.
bool reads_output(const Layer& layer) {
  return std::holds_alternative<Activation>(layer) || std::holds_alternative<Lstm>(layer) ||
         std::holds_alternative<Gru>(layer) || std::holds_alternative<TreeLstm>(layer);
}

}  // namespace

// Prepares the layers of a graph, one after the other.
class Tape::Recorder {
 public:
  Recorder(Tape& tape, const Graph& graph, const Arena& arena)
      : tape_(tape),
        graph_(graph),
        arena_(arena),
        values_(graph.layers.size() + 1),
        uses_(graph.layers.size() + 1),
        first_user_(graph.parameters.size(), graph.layers.size()) {
    for (std::size_t index = graph.layers.size(); index-- > 0;) {
      for (const ValueId input : graph.layers[index].inputs) {
        ++uses_[input];
      }
      for (const std::size_t parameter : graph.layers[index].parameters) {
        first_user_[parameter] = index;
      }
    }
    ++uses_[graph.prediction];
  }

  void record() {
    check_parameters();
    hand_out(kExample, tape_.input_.get());
    for (std::size_t index = 0; index < graph_.layers.size(); ++index) {
      append(index);
    }
    tape_.loss_ = tape_.backend_.prepare_loss(graph_.loss, *take(graph_.prediction), graph_.example);
  }

 private:
  void check_parameters() const {
    for (std::size_t i = 0; i < graph_.parameters.size(); ++i) {
      const Parameter& needed = graph_.parameters[i];
      if (i >= arena_.parameters.size() || arena_.parameters[i].name != needed.name) {
        throw std::invalid_argument("the arena has no parameter " + needed.name + " in its place");
      }
      if (arena_.parameters[i].shape != needed.shape) {
        throw std::invalid_argument("parameter " + needed.name + " is " + shape_text(arena_.parameters[i].shape) +
                                    " in the arena, but the model needs " + shape_text(needed.shape));
      }
    }
    if (arena_.parameters.size() > graph_.parameters.size()) {
      throw std::invalid_argument("no layer of the model uses parameter " +
                                  arena_.parameters[graph_.parameters.size()].name);
    }
  }

  void append(std::size_t index) {
    const NamedLayer& named = graph_.layers[index];
    std::vector<Tensor*> inputs;
    std::ranges::transform(named.inputs, std::back_inserter(inputs), [this](ValueId value) { return take(value); });
    std::vector<ParameterPlace> places;
    Step step;
    for (const std::size_t parameter : named.parameters) {
      places.push_back({arena_.extents[parameter], is_shared_with_later(parameter, index)});
      if (first_user_[parameter] == index) {
        step.parameters.insert(step.parameters.begin(), parameter);
      }
    }
    const LayerTask task{named.layer, inputs, places, may_overwrite(named.inputs[0]),
                         static_cast<std::uint32_t>(index)};
    Prepared prepared = prepare_layer(named.name, [&] { return tape_.backend_.prepare(task); });
    step.operation = std::move(prepared.operation);
    step.outputs.push_back(std::move(prepared.output));
    step.wants_input_gradient = std::ranges::any_of(inputs, [](const Tensor* input) { return input->with_gradient(); });
    Tensor* const output = step.outputs[0].get();
    tape_.steps_.push_back(std::move(step));
    hand_out(index + 1, output);
  }

  [[nodiscard]] bool is_shared_with_later(std::size_t parameter, std::size_t index) const {
    const auto later = std::span(graph_.layers).subspan(index + 1);
    return std::ranges::any_of(later, [&](const NamedLayer& named) {
      return std::ranges::find(named.parameters, parameter) != named.parameters.end();
    });
  }

  [[nodiscard]] bool may_overwrite(ValueId value) const {
    return value != kExample && uses_[value] == 1 && !reads_output(graph_.layers[value - 1].layer);
  }

  // Forks what is used more than once.
  void hand_out(ValueId value, Tensor* tensor) {
    if (uses_[value] <= 1 || !tensor->with_gradient()) {
      values_[value].assign(std::max<std::size_t>(uses_[value], 1), tensor);
      return;
    }
    Forked forked = tape_.backend_.fork(*tensor, uses_[value]);
    Step step;
    step.operation = std::move(forked.operation);
    step.outputs = std::move(forked.outputs);
    step.wants_input_gradient = true;
    for (const auto& output : step.outputs) {
      values_[value].push_back(output.get());
    }
    tape_.steps_.push_back(std::move(step));
  }

  // The value as its next user has it.
  Tensor* take(ValueId value) {
    auto& names = values_[value];
    Tensor* const taken = names.front();
    names.erase(names.begin());
    return taken;
  }

  Tape& tape_;
  const Graph& graph_;
  const Arena& arena_;
  std::vector<std::vector<Tensor*>> values_;  // by ValueId: a name for each use that is still to come
  std::vector<std::size_t> uses_;             // by ValueId
  std::vector<std::size_t> first_user_;       // by parameter: the layer that is the last of a backward pass to write it
};

Tape::Tape(Backend& backend, const Graph& graph, const Arena& arena, const TapeSize& size)
    : backend_(backend),
      extents_(arena.extents),
      arena_elements_(arena.elements),
      input_(begin_network(backend, arena, input_shape(graph.example, size))),
      reads_features_(graph.example.vocabulary == 0) {
  on_their_way_.reserve(arena.parameters.size());
  Recorder(*this, graph, arena).record();
}

void Tape::forward(const Pass& pass, const WeightArena& weights) {
  check_arena("weights", weights.values.size(), arena_elements_);
  backend_.bind_weights(weights);
  backend_.begin(pass);
  if (reads_features_) {
    backend_.write(*input_, pass.batch.features);
  }
  for (const Step& step : steps_) {
    step.operation->forward();
  }
  loss_->forward();
}

void Tape::backward(float scale, std::span<float> gradients, const GradientReady& ready) {
  check_arena("gradients", gradients.size(), arena_elements_);
  backend_.bind_gradients(gradients);
  on_their_way_.clear();
  loss_->backward(scale);
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    // Parameters first: their gradients may leave while the rest of the backward pass runs.
    step->operation->backward_parameters();
    for (const std::size_t parameter : step->parameters) {
      if (backend_.deliver(extents_[parameter])) {
        ready(parameter);
      } else {
        on_their_way_.push_back(parameter);
      }
    }
    if (step->wants_input_gradient) {
      step->operation->backward_input();
    }
  }
  // Only now: the device has all of its work, and does it while the first gradients leave.
  for (const std::size_t parameter : on_their_way_) {
    backend_.await_delivery();
    ready(parameter);
  }
}

}  // namespace ballast
