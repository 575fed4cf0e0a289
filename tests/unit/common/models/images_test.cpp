#include "common/arena/resnet50.h"
#include "common/models/models.h"
#include "tests/unit/common/models/support.h"

namespace ballast::testing {
namespace {

constexpr ExampleShape kMnist = {1, 28, 28, 10};
constexpr ExampleShape kCifar = {3, 32, 32, 10};
constexpr ExampleShape kFaces = {3, 64, 64, 20};
constexpr ExampleShape kWords = {.classes = 20, .vocabulary = 1000, .steps = 50, .same_length = false};

ExampleShape labelled(ExampleShape shape, Labels labels, std::uint32_t outputs) {
  shape.labels = labels;
  shape.classes = outputs;
  return shape;
}

TEST_CASE("the autoencoder goes down to its code and up again to what it reads") {
  const auto graph = autoencoder(kMnist, {256, 128, 32});
  CHECK(graph.layers[graph.prediction - 1].output.features() == 784);
  CHECK(parameter(graph, "encoder3.weight").shape == Extents{32, 128});
  CHECK(parameter(graph, "decoder3.weight").shape == Extents{128, 32});
  CHECK(parameter(graph, "decoder1.weight").shape == Extents{784, 256});
  CHECK(std::get<SquaredError>(graph.loss).of_input);
  CHECK(refusal([] { return autoencoder(kMnist, {}); }).starts_with("model.hidden: the list is empty"));
  CHECK(refusal([] { return autoencoder(kMnist, {8, 0}); }).starts_with("model.hidden: 0 is too few"));
  CHECK(
      refusal([] { return autoencoder(kWords, {8}); }).starts_with("model.name: autoencoder needs images or vectors"));
}

TEST_CASE("the convolutional autoencoder gives images of any size back in theirs") {
  for (const std::uint32_t height : {2U, 7U, 28U, 33U}) {
    for (const std::uint32_t width : {5U, 28U, 64U}) {
      const auto graph = conv_autoencoder({3, height, width, 10}, {8, 16, 24});
      CHECK(graph.layers[graph.prediction - 1].output == Shape{1, 3, height, width});
    }
  }
  const auto graph = conv_autoencoder(kMnist, {8, 16});
  CHECK(parameter(graph, "encoder2.weight").shape == Extents{16, 8, 3, 3});
  CHECK(parameter(graph, "decoder2.weight").shape == Extents{16, 8, 3, 3});
  CHECK(parameter(graph, "decoder1.weight").shape == Extents{8, 1, 3, 3});
  CHECK(refusal([] { return conv_autoencoder({12, 1, 1, 2}, {8}); }).starts_with("model.name: conv_autoencoder needs"));
  CHECK(refusal([] { return conv_autoencoder(kMnist, {}); }).starts_with("model.channels: the list is empty"));
}

// The published 14,728,266 less the biases of the convolutions, 4,224.
TEST_CASE("vgg16 is the one of CIFAR: 14.7 million parameters") {
  const auto graph = vgg16(kCifar);
  CHECK(floats_of(graph) == 14'724'042);
  CHECK(parameter(graph, "conv13.weight").shape == Extents{512, 512, 3, 3});
  CHECK(parameter(graph, "fc.weight").shape == Extents{10, 512});
  CHECK(floats_of(vgg16({3, 64, 64, 10})) == 14'724'042);
  CHECK(refusal([] { return vgg16(kMnist); }) ==
        "model.name: vgg16 needs images of at least 32 x 32 with labels, but the data set's are 1 x 28 x 28 with 10 "
        "classes; choose another model, or another data set in data.name");
}

// 0.27, 0.46 and 0.85 million in the paper, whose shortcuts have no parameters; those here have 2,752.
TEST_CASE("the ResNets of CIFAR have the published numbers of parameters and their shortcuts'") {
  CHECK(floats_of(resnet_of_cifar(kCifar, 3)) == 269'722 + 2'752);
  CHECK(floats_of(resnet_of_cifar(kCifar, 5)) == 464'154 + 2'752);
  CHECK(floats_of(resnet_of_cifar(kCifar, 9)) == 853'018 + 2'752);
  const auto graph = resnet_of_cifar(kCifar, 3);
  CHECK(layer(graph, "layer1.2.conv2").output == Shape{1, 16, 32, 32});
  CHECK(layer(graph, "layer2.0.downsample.1").output == Shape{1, 32, 16, 16});
  CHECK(layer(graph, "layer3.2.conv2").output == Shape{1, 64, 8, 8});
  CHECK(floats_of(graph, false) == 2 * (7 * 16 + 7 * 32 + 7 * 64));
  CHECK(refusal([] {
          return resnet_of_cifar({3, 7, 64, 10}, 9);
        }).starts_with("model.name: resnet56 needs images of at least 8 x 8"));
}

TEST_CASE("resnet50 has the parameters of the emulated one, and running statistics behind each scale") {
  const auto graph = resnet50({3, 224, 224, 1000});
  std::vector<Parameter> trained;
  std::ranges::copy_if(graph.parameters, std::back_inserter(trained),
                       [](const Parameter& parameter) { return is_descended(parameter.group); });
  const auto published = resnet50_parameters();
  REQUIRE(trained.size() == published.size());
  for (std::size_t i = 0; i < trained.size(); ++i) {
    CHECK(trained[i].name == published[i].name);
    CHECK(trained[i].shape == published[i].shape);
    CHECK(trained[i].group == published[i].group);
    CHECK(trained[i].initial.kind == published[i].initial.kind);
    CHECK(trained[i].initial.value == published[i].initial.value);
  }
  CHECK(floats_of(graph) == 25'557'032);
  CHECK(floats_of(graph, false) == 53'120);
  CHECK(parameter(graph, "layer4.2.bn3.running_var").group == Group::state);
  CHECK(layer(graph, "layer4.0.conv2").output == Shape{1, 512, 7, 7});
  CHECK(layer(resnet50({3, 32, 32, 10}), "layer4.2.conv3").output == Shape{1, 2048, 1, 1});
  CHECK(refusal([] { return resnet50(kMnist); }).starts_with("model.name: resnet50 needs images of at least 32 x 32"));
}

TEST_CASE("simpsons_cnn halves images at each stage and drops values out") {
  const auto graph = simpsons_cnn(kFaces, {32, 64, 128}, 0.5F);
  CHECK(layer(graph, "conv6").output == Shape{1, 128, 16, 16});
  CHECK(parameter(graph, "fc1.weight").shape == Extents{512, 128 * 8 * 8});
  CHECK(parameter(graph, "fc2.weight").shape == Extents{20, 512});
  CHECK(std::get<Dropout>(layer(graph, "dropout1").layer).rate == 0.25F);
  CHECK(std::get<Dropout>(layer(graph, "dropout4").layer).rate == 0.5F);
  CHECK(refusal([] {
          return simpsons_cnn({3, 15, 64, 20}, {8, 8, 8, 8}, 0.5F);
        }).starts_with("model.name: simpsons_cnn needs images of at least 16 x 16"));
}

TEST_CASE("networks of images end in the loss that labels ask for") {
  for (const auto& [labels, loss] :
       {std::pair(Labels::classes, "softmax_cross_entropy"), std::pair(Labels::several, "logistic_loss"),
        std::pair(Labels::numbers, "squared_error")}) {
    const auto shape = labelled(kCifar, labels, 3);
    for (const auto& graph : {mlp(shape, {8}), lenet5(shape), resnet_of_cifar(shape, 1)}) {
      CHECK(name_of(graph.loss) == loss);
      CHECK(graph.layers[graph.prediction - 1].output.features() == 3);
    }
  }
  CHECK(mlp(labelled({5, 1, 1}, Labels::numbers, 1), {8}).parameters.size() == 4);
  CHECK(refusal([] { return mlp(labelled(kCifar, Labels::classes, 1), {8}); }).starts_with("model.name: mlp needs"));
  CHECK(refusal([] { return mlp(kWords, {8}); }).starts_with("model.name: mlp needs examples of at least one value"));
  CHECK(refusal([] { return mlp(kCifar, {8, 0}); }).starts_with("model.hidden: hidden layer 2 has 0 units"));
}

}  // namespace
}  // namespace ballast::testing
