#include <array>
#include <string>
#include <utility>

#include "common/models/conv_norm.h"
#include "common/models/models.h"
#include "common/models/require.h"
#include "common/network/infer.h"

namespace ballast {
namespace {

using Value = GraphBuilder::Value;

constexpr std::uint32_t kExpansion = 4;  // a bottleneck's output channels over its width

Value bottleneck(GraphBuilder& net, Value x, const std::string& name, std::uint32_t width, std::uint32_t stride) {
  auto y = net.relu(conv_norm(net, x, name + ".conv1", name + ".bn1", {.channels = width}));
  y = net.relu(conv_norm(net, y, name + ".conv2", name + ".bn2",
                         {.channels = width, .kernel = 3, .stride = stride, .padding = 1}));
  y = conv_norm(net, y, name + ".conv3", name + ".bn3", {.channels = kExpansion * width});
  if (net.shape(x) != net.shape(y)) {
    x = conv_norm(net, x, name + ".downsample.0", name + ".downsample.1",
                  {.channels = kExpansion * width, .stride = stride});
  }
  return net.relu(net.sum(y, x));
}

}  // namespace

Graph resnet50(const ExampleShape& example) {
  constexpr std::uint32_t kSmallest = 32;                                     // whose last maps are 1 x 1
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 4> kStages = {// width, blocks
                                                                              {{64, 3}, {128, 4}, {256, 6}, {512, 3}}};
  require_labelled_images("resnet50", example, kSmallest);
  GraphBuilder net(example);
  auto x = conv_norm(net, net.example(), "conv1", "bn1", {.channels = 64, .kernel = 7, .stride = 2, .padding = 3});
  x = net.max_pool2d(net.relu(x), {.window = 3, .stride = 2, .padding = 1});
  for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
    const auto [width, blocks] = kStages[stage];
    for (std::uint32_t i = 0; i < blocks; ++i) {
      const auto name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
      x = bottleneck(net, x, name, width, stage > 0 && i == 0 ? 2 : 1);
    }
  }
  x = net.add(GlobalPool2d{}, {x});
  x = net.linear(x, "fc", {.units = example.classes, .gain = Gain::linear});
  return std::move(net).finish(x, usual_loss(example.labels));
}

}  // namespace ballast
