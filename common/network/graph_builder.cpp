#include "common/network/graph_builder.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "common/network/infer.h"

namespace ballast {
namespace {

Shape shape_of(const ExampleShape& example) {
  const auto steps = std::max(example.steps, 1U);
  return example.vocabulary > 0 ? Shape{1, 1, 1, 1, steps}
                                : Shape{1, example.channels, example.height, example.width, steps};
}

// What only works where every sequence has the same length.
bool joins_lengths(const Layer& layer) {
  const auto* const reshape = std::get_if<Reshape>(&layer);
  return std::holds_alternative<BatchNorm>(layer) || (reshape != nullptr && reshape->join_steps);
}

// With fewer steps than its input has, a convolution would show where a shorter sequence's padding ends.
bool cuts_steps(const Layer& layer) {
  const auto* const conv = std::get_if<Conv1d>(&layer);
  return conv != nullptr &&
         (conv->stride != 1 || 2 * std::uint64_t{conv->padding} < std::uint64_t{conv->dilation} * (conv->kernel - 1));
}

bool can_be_tied(const Layer& layer) {
  return std::holds_alternative<Linear>(layer) || std::holds_alternative<Embedding>(layer);
}

std::string extents_text(const std::vector<std::uint32_t>& shape) {
  std::string text;
  for (const auto extent : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text;
}

// What does not fit is said with the layer's name.
template <typename Work>
auto within_layer(const std::string& name, const Work& work) {
  try {
    return work();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("layer " + name + ": " + error.what());
  }
}

}  // namespace

GraphBuilder::GraphBuilder(const ExampleShape& example) : example_(shape_of(example)) {
  graph_.example = example;
  if (example_.elements() == 0) {
    throw std::invalid_argument("the data's examples hold no values");
  }
}

const Shape& GraphBuilder::shape(Value value) const {
  return value.id_ == kExample ? example_ : graph_.layers[value.id_ - 1].output;
}

std::vector<Shape> GraphBuilder::shapes_of(const std::vector<Value>& values) const {
  std::vector<Shape> shapes;
  std::ranges::transform(values, std::back_inserter(shapes), [this](Value value) { return shape(value); });
  return shapes;
}

GraphBuilder::Value GraphBuilder::add(const std::string& name, Layer layer, const std::vector<Value>& inputs,
                                      const std::string& tied_to) {
  within_layer(name, [&] {
    if (by_name_.contains(name)) {
      throw std::invalid_argument("there is another layer of this name");
    }
    if (auto* const embedding = std::get_if<Embedding>(&layer)) {
      embedding->vocabulary = embedding->vocabulary == 0 ? graph_.example.vocabulary : embedding->vocabulary;
      if (inputs != std::vector{example()} || embedding->vocabulary < std::max(graph_.example.vocabulary, 1U)) {
        throw std::invalid_argument("an embedding reads the data's tokens, of which there are " +
                                    std::to_string(graph_.example.vocabulary));
      }
    } else if (graph_.example.vocabulary > 0 && std::ranges::find(inputs, example()) != inputs.end()) {
      throw std::invalid_argument("the data's examples are tokens; only an embedding reads them");
    }
    if (!graph_.example.same_length && cuts_steps(layer)) {
      throw std::invalid_argument(
          "the data's sequences differ in length, so a convolution along them needs a stride of 1 and a padding that "
          "leaves out no step: at least half of dilation * (kernel - 1)");
    }
    if (joins_lengths(layer) && !graph_.example.same_length && shape(inputs.at(0)).steps > 1) {
      throw std::invalid_argument("the data's sequences differ in length, and " + name_of(layer) +
                                  " needs them all alike; use layer_norm or step_pool instead");
    }
    const auto shapes = shapes_of(inputs);
    NamedLayer named{name, std::move(layer), {}, {}, {}};
    named.output = output_shape(named.layer, shapes);
    std::ranges::transform(inputs, std::back_inserter(named.inputs), &Value::id_);
    declare(named, shapes, tied_to);
    by_name_.emplace(name, graph_.layers.size());
    graph_.layers.push_back(std::move(named));
  });
  return Value(graph_.layers.size());
}

GraphBuilder::Value GraphBuilder::add(Layer layer, const std::vector<Value>& inputs) {
  const auto kind = name_of(layer);
  const auto number = ++counted_[kind];
  return add(numbered_name(kind, number), std::move(layer), inputs);
}

void GraphBuilder::declare(NamedLayer& named, const std::vector<Shape>& inputs, const std::string& tied_to) {
  auto needs = parameters_of(named.layer, inputs);
  for (auto& need : needs) {
    if (!tied_to.empty() && need.name == "weight") {
      const NamedLayer& other = layer_named(tied_to);
      if (!can_be_tied(named.layer) || !can_be_tied(other.layer)) {
        throw std::invalid_argument("only linear and embedding layers can share a weight");
      }
      if (graph_.parameters[other.parameters[0]].shape != need.shape) {
        throw std::invalid_argument("its weight of " + extents_text(need.shape) + " cannot be that of " + tied_to +
                                    ", which is of " + extents_text(graph_.parameters[other.parameters[0]].shape));
      }
      named.parameters.push_back(other.parameters[0]);
      continue;
    }
    need.name = named.name + "." + need.name;
    named.parameters.push_back(graph_.parameters.size());
    graph_.parameters.push_back(std::move(need));
  }
}

const NamedLayer& GraphBuilder::layer_named(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    throw std::invalid_argument("there is no layer " + name + " before it");
  }
  return graph_.layers[found->second];
}

// The gradient of what nobody reads would be nothing.
void GraphBuilder::check_uses(Value prediction) const {
  std::vector<bool> used(graph_.layers.size() + 1, false);
  used[prediction.id_] = true;
  for (const NamedLayer& named : graph_.layers) {
    for (const ValueId input : named.inputs) {
      used[input] = true;
    }
  }
  for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
    if (!used[i + 1]) {
      throw std::invalid_argument("layer " + graph_.layers[i].name + ": nothing reads its output of " +
                                  example_text(graph_.layers[i].output));
    }
  }
}

Graph GraphBuilder::finish(Value prediction, Loss loss) && {
  check_loss(loss, shape(prediction), graph_.example);
  check_uses(prediction);
  graph_.prediction = prediction.id_;
  graph_.loss = std::move(loss);
  return std::move(graph_);
}

}  // namespace ballast
