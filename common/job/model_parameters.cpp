#include "common/job/model_parameters.h"

#include <stdexcept>
#include <string>

#include "common/arena/initial_bounds.h"
#include "common/arena/resnet50.h"
#include "common/job/model_graph.h"

namespace ballast {
namespace {

Group group_of(const EmulatedParameter& parameter) {
  if (parameter.group.empty()) {
    return parameter.shape.size() < 2 ? Group::no_decay : Group::decay;
  }
  return parameter.group == "state" ? Group::state : parameter.group == "decay" ? Group::decay : Group::no_decay;
}

Parameter declare_emulated_parameter(const EmulatedParameter& parameter) {
  const auto group = group_of(parameter);
  if (parameter.shape.size() < 2 || group == Group::state) {
    return {parameter.name, parameter.shape, group, {}, static_cast<float>(parameter.momentum)};
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

namespace {

ExampleShape sequence_shape(const DataSpec& data) {
  ExampleShape shape;
  shape.vocabulary = data.vocabulary;
  shape.steps = data.steps;
  shape.classes = data.name == "characters" ? data.vocabulary : static_cast<std::uint32_t>(data.classes.size());
  shape.same_length = data.name == "characters";
  shape.trees = data.name == "trees";
  shape.labels = data.name == "text" ? Labels::classes : Labels::steps;
  return shape;
}

ExampleShape csv_shape(const DataSpec& data) {
  using enum CsvColumn::Kind;
  ExampleShape shape{0, 1, 1, static_cast<std::uint32_t>(data.classes.size())};
  for (const auto& column : data.columns) {
    shape.channels += column.kind == number ? 1 : static_cast<std::uint32_t>(column.values.size());
    if (column.kind == flag || column.kind == target) {
      shape.labels = column.kind == flag ? Labels::several : Labels::numbers;
      ++shape.classes;
    }
  }
  return shape;
}

ExampleShape array_shape(const DataSpec& data) {
  const auto& extents = data.shape;
  const bool is_sequence = extents.size() == 2;
  ExampleShape shape;
  shape.steps = is_sequence ? extents[0] : 0;
  shape.channels = extents.empty() ? 0 : is_sequence ? extents[1] : extents[0];
  shape.height = extents.size() == 3 ? extents[1] : 1;
  shape.width = extents.size() == 3 ? extents[2] : 1;
  shape.classes = data.outputs;
  shape.labels = data.target == "several"  ? Labels::several
                 : data.target == "number" ? Labels::numbers
                                           : Labels::classes;
  return shape;
}

ExampleShape example_file_shape(const DataSpec& data) {
  return data.name == "csv" ? csv_shape(data) : data.name == "npy" ? array_shape(data) : sequence_shape(data);
}

}  // namespace

ExampleShape example_shape(const DataSpec& data) {
  if (data.name == "mnist" || data.name == "glyphs") {
    return {1, 28, 28, 10};
  }
  if (data.name == "none") {
    return {};
  }
  const auto classes = static_cast<std::uint32_t>(data.classes.size());
  if (data.name == "cifar10") {
    return {3, 32, 32, classes == 0 ? 10 : classes};
  }
  if (data.name == "idx") {
    return {1, data.height, data.width, classes};
  }
  if (data.name == "images") {
    return {data.channels, data.height, data.width, classes};
  }
  if (is_example_files(data)) {
    return example_file_shape(data);
  }
  throw std::invalid_argument("data.name: '" + data.name +
                              "' is unknown; choose mnist, glyphs, idx, cifar10, images, text, characters, trees, csv, "
                              "npy or none");
}

std::vector<Parameter> declare_parameters(const ModelSpec& model, const ExampleShape& shape) {
  return has_graph(model) ? model_graph(model, shape).parameters : declare_emulated(model);
}

}  // namespace ballast
