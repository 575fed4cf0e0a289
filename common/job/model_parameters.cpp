#include "common/job/model_parameters.h"

#include <stdexcept>
#include <string>

#include "common/arena/initial_bounds.h"
#include "common/arena/resnet50.h"

namespace ballast {
namespace {

void append_layer(std::vector<Parameter>& out, const std::string& name, std::vector<std::uint32_t> weight_shape,
                  float bound) {
  const std::uint32_t outputs = weight_shape.front();
  out.push_back({name + ".weight", std::move(weight_shape), Group::decay, {Initial::Kind::uniform, bound}});
  out.push_back({name + ".bias", {outputs}, Group::no_decay, {}});
}

void append_linear(std::vector<Parameter>& out, const std::string& name, std::uint32_t inputs, std::uint32_t outputs) {
  append_layer(out, name, {outputs, inputs}, relu_bound(inputs));
}

void append_output(std::vector<Parameter>& out, const std::string& name, std::uint32_t inputs, std::uint32_t classes) {
  append_layer(out, name, {classes, inputs}, output_bound(inputs));
}

void append_convolution(std::vector<Parameter>& out, const std::string& name, std::uint32_t from, std::uint32_t to,
                        std::uint32_t kernel) {
  append_layer(out, name, {to, from, kernel, kernel}, relu_bound(std::uint64_t{from} * kernel * kernel));
}

std::string described(const ExampleShape& shape) {
  return std::to_string(shape.channels) + " x " + std::to_string(shape.height) + " x " + std::to_string(shape.width) +
         " with " + std::to_string(shape.classes) + " classes";
}

void require_examples(const ModelSpec& model, const ExampleShape& shape) {
  if (shape.features() == 0 || shape.classes < 2) {
    throw std::invalid_argument("model.name: " + model.name +
                                " needs examples of at least one value and two classes, but the data set's are " +
                                described(shape) + "; name another data set in data.name, or the emulated model");
  }
}

std::vector<Parameter> declare_mlp(const ModelSpec& model, const ExampleShape& shape) {
  require_examples(model, shape);
  std::vector<Parameter> out;
  auto inputs = static_cast<std::uint32_t>(shape.features());
  std::size_t layer = 1;
  for (const std::uint32_t units : model.hidden) {
    if (units == 0) {
      throw std::invalid_argument("model.hidden: hidden layer " + std::to_string(layer) +
                                  " has 0 units; every hidden layer needs at least 1");
    }
    append_linear(out, "fc" + std::to_string(layer), inputs, units);
    inputs = units;
    ++layer;
  }
  append_output(out, "fc" + std::to_string(layer), inputs, shape.classes);
  return out;
}

std::vector<Parameter> declare_lenet5(const ModelSpec& model, const ExampleShape& shape) {
  require_examples(model, shape);
  // Halved by a pooling, less 4 by the second convolution, halved again: at least one value must be left.
  if (shape.height < 12 || shape.width < 12) {
    throw std::invalid_argument("model.name: lenet5 needs images of at least 12 x 12, but the data set's are " +
                                described(shape) + "; choose mlp");
  }
  const std::uint32_t height = (shape.height / 2 - 4) / 2;
  const std::uint32_t width = (shape.width / 2 - 4) / 2;
  std::vector<Parameter> out;
  append_convolution(out, "conv1", shape.channels, 6, 5);
  append_convolution(out, "conv2", 6, 16, 5);
  append_linear(out, "fc1", 16 * height * width, 120);
  append_linear(out, "fc2", 120, 84);
  append_output(out, "fc3", 84, shape.classes);
  return out;
}

Group group_of(const EmulatedParameter& parameter) {
  if (parameter.group.empty()) {
    return parameter.shape.size() < 2 ? Group::no_decay : Group::decay;
  }
  return parameter.group == "state" ? Group::state : parameter.group == "decay" ? Group::decay : Group::no_decay;
}

Parameter declare_emulated_parameter(const EmulatedParameter& parameter) {
  const auto group = group_of(parameter);
  if (parameter.shape.size() < 2 || group == Group::state) {
    return {parameter.name, parameter.shape, group, {}};
  }
  std::uint64_t fan_in = 1;
  for (std::size_t i = 1; i < parameter.shape.size(); ++i) {
    if (parameter.shape[i] == 0 || fan_in > (std::uint64_t{1} << 32U)) {
      throw std::invalid_argument("model.parameters: the shape of '" + parameter.name +
                                  "' has an extent of 0 or is far too large");
    }
    fan_in *= parameter.shape[i];
  }
  return {parameter.name, parameter.shape, group, {Initial::Kind::uniform, relu_bound(fan_in)}};
}

std::vector<Parameter> declare_emulated(const ModelSpec& model) {
  if (!model.preset.empty() && !model.parameters.empty()) {
    throw std::invalid_argument("model: preset and parameters are both given; the emulated model takes one of them");
  }
  if (model.preset == "resnet50") {
    return resnet50_parameters();
  }
  if (!model.preset.empty()) {
    throw std::invalid_argument("model.preset: '" + model.preset + "' is unknown; the one preset is resnet50");
  }
  if (model.parameters.empty()) {
    throw std::invalid_argument("model: the emulated model needs a preset (resnet50) or a list of parameters");
  }
  std::vector<Parameter> out;
  for (const EmulatedParameter& parameter : model.parameters) {
    out.push_back(declare_emulated_parameter(parameter));
  }
  return out;
}

}  // namespace

ExampleShape example_shape(const DataSpec& data) {
  if (data.name == "mnist" || data.name == "glyphs") {
    return {1, 28, 28, 10};
  }
  if (data.name == "none") {
    return {};
  }
  throw std::invalid_argument("data.name: '" + data.name + "' is unknown; choose mnist, glyphs or none");
}

std::vector<Parameter> declare_parameters(const ModelSpec& model, const ExampleShape& shape) {
  if (model.name == "mlp") {
    return declare_mlp(model, shape);
  }
  if (model.name == "lenet5") {
    return declare_lenet5(model, shape);
  }
  if (model.name == "emulated") {
    return declare_emulated(model);
  }
  throw std::invalid_argument("model.name: '" + model.name + "' is unknown; choose mlp, lenet5 or emulated");
}

}  // namespace ballast
