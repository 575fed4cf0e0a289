#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "common/arena/arena.h"
#include "common/job/model_parameters.h"

namespace ballast {
namespace {

using Shape = std::vector<std::uint32_t>;

ModelSpec model_named(const std::string& name) {
  ModelSpec model;
  model.name = name;
  return model;
}

DataSpec data_named(const std::string& name) {
  DataSpec data;
  data.name = name;
  return data;
}

std::uint64_t floats_of(const std::vector<Parameter>& parameters) {
  std::uint64_t floats = 0;
  for (const Parameter& parameter : parameters) {
    floats += parameter.elements();
  }
  return floats;
}

const Parameter& find(const std::vector<Parameter>& parameters, const std::string& name) {
  const auto found = std::ranges::find(parameters, name, &Parameter::name);
  REQUIRE(found != parameters.end());
  return *found;
}

TEST_CASE("examples have the shapes of their data sets") {
  CHECK(example_shape(data_named("mnist")).features() == 784);
  CHECK(example_shape(data_named("glyphs")).classes == 10);
  CHECK(example_shape(data_named("none")).features() == 0);
  CHECK_THROWS_WITH_AS(example_shape(data_named("imagenet")), doctest::Contains("'imagenet'"), std::invalid_argument);
}

TEST_CASE("lenet5 is the modern LeNet-5 of 61,706 floats") {
  const auto parameters = declare_parameters(model_named("lenet5"), {1, 28, 28, 10});
  CHECK(parameters.size() == 10);
  CHECK(floats_of(parameters) == 61'706);
  CHECK(find(parameters, "conv2.weight").shape == Shape{16, 6, 5, 5});
  CHECK(find(parameters, "fc1.weight").shape == Shape{120, 400});
  CHECK_THROWS_AS(declare_parameters(model_named("lenet5"), {1, 11, 28, 10}), std::invalid_argument);
  CHECK_THROWS_AS(declare_parameters(model_named("lenet5"), {}), std::invalid_argument);
}

TEST_CASE("mlp has one layer for each entry of hidden and one for the classes") {
  ModelSpec model = model_named("mlp");
  model.hidden = {30, 20};
  const auto parameters = declare_parameters(model, {1, 28, 28, 10});
  REQUIRE(parameters.size() == 6);
  CHECK(parameters[0].shape == Shape{30, 784});
  CHECK(parameters[4].shape == Shape{10, 20});
  model.hidden = {};
  CHECK(declare_parameters(model, {1, 28, 28, 10}).size() == 2);
  model.hidden = {0};
  CHECK_THROWS_AS(declare_parameters(model, {1, 28, 28, 10}), std::invalid_argument);
}

TEST_CASE("weights decay and begin uniform by fan-in, biases neither") {
  const auto parameters = declare_parameters(model_named("lenet5"), {1, 28, 28, 10});
  const Parameter& weight = find(parameters, "conv1.weight");
  CHECK(weight.group == Group::decay);
  CHECK(weight.initial.kind == Initial::Kind::uniform);
  CHECK(weight.initial.value == doctest::Approx(0.4898979));                          // sqrt(6 / 25)
  CHECK(find(parameters, "fc3.weight").initial.value == doctest::Approx(0.1889822));  // sqrt(3 / 84)
  const Parameter& bias = find(parameters, "conv1.bias");
  CHECK(bias.group == Group::no_decay);
  CHECK(bias.initial.kind == Initial::Kind::zero);
}

TEST_CASE("the resnet50 preset is torchvision's, tensor for tensor") {
  ModelSpec model = model_named("emulated");
  model.preset = "resnet50";
  const auto parameters = declare_parameters(model, {});
  CHECK(parameters.size() == 161);
  CHECK(floats_of(parameters) == 25'557'032);
  CHECK(parameters[0].name == "conv1.weight");
  CHECK(parameters[0].shape == Shape{64, 3, 7, 7});
  // The first block: three convolutions, then the downsampling.
  CHECK(parameters[3].name == "layer1.0.conv1.weight");
  CHECK(parameters[12].name == "layer1.0.downsample.0.weight");
  CHECK(parameters[12].shape == Shape{256, 64, 1, 1});
  CHECK(parameters[14].name == "layer1.0.downsample.1.bias");
  CHECK(parameters[15].name == "layer1.1.conv1.weight");
  CHECK(parameters[15].shape == Shape{64, 256, 1, 1});
  CHECK(find(parameters, "layer4.2.conv2.weight").shape == Shape{512, 512, 3, 3});
  CHECK(find(parameters, "layer3.0.bn1.weight").initial.value == 1.0F);
  CHECK(parameters[159].shape == Shape{1000, 2048});
  CHECK(parameters[160].name == "fc.bias");
}

TEST_CASE("an emulated list becomes parameters of the same shapes") {
  ModelSpec model = model_named("emulated");
  model.parameters = {{"w", {8, 3, 3}}, {"b", {8}}};
  const auto parameters = declare_parameters(model, {});
  CHECK(parameters[0].group == Group::decay);
  CHECK(parameters[0].initial.value == doctest::Approx(0.8164966));  // sqrt(6 / 9)
  CHECK(parameters[1].group == Group::no_decay);
  model.preset = "resnet50";
  CHECK_THROWS_AS(declare_parameters(model, {}), std::invalid_argument);
}

TEST_CASE("unknown and incomplete models are refused") {
  CHECK_THROWS_WITH_AS(declare_parameters(model_named("vgg"), {1, 28, 28, 10}), doctest::Contains("'vgg'"),
                       std::invalid_argument);
  ModelSpec model = model_named("emulated");
  CHECK_THROWS_AS(declare_parameters(model, {}), std::invalid_argument);
  model.preset = "resnet51";
  CHECK_THROWS_WITH_AS(declare_parameters(model, {}), doctest::Contains("'resnet51'"), std::invalid_argument);
  model.preset = "";
  model.parameters = {{"w", {8, 0}}};
  CHECK_THROWS_AS(declare_parameters(model, {}), std::invalid_argument);
}

}  // namespace
}  // namespace ballast
