#include <string>
#include <utility>

#include "common/models/conv_norm.h"
#include "common/models/models.h"
#include "common/models/require.h"
#include "common/network/infer.h"

namespace ballast {
namespace {

using Value = GraphBuilder::Value;

// Two 3 x 3 convolutions beside a shortcut.
Value block(GraphBuilder& net, Value x, const std::string& name, std::uint32_t channels, std::uint32_t stride) {
  auto y = conv_norm(net, x, name + ".conv1", name + ".bn1",
                     {.channels = channels, .kernel = 3, .stride = stride, .padding = 1});
  y = conv_norm(net, net.relu(y), name + ".conv2", name + ".bn2", {.channels = channels, .kernel = 3, .padding = 1});
  if (net.shape(x) != net.shape(y)) {
    x = conv_norm(net, x, name + ".downsample.0", name + ".downsample.1", {.channels = channels, .stride = stride});
  }
  return net.relu(net.sum(y, x));
}

}  // namespace

Graph resnet_of_cifar(const ExampleShape& example, std::uint32_t blocks_of_a_stage) {
  constexpr std::uint32_t kSmallest = 8;  // whose last maps are 2 x 2
  require_labelled_images("resnet" + std::to_string(6 * blocks_of_a_stage + 2), example, kSmallest);
  GraphBuilder net(example);
  auto x = net.relu(conv_norm(net, net.example(), "conv1", "bn1", {.channels = 16, .kernel = 3, .padding = 1}));
  std::uint32_t channels = 16;
  for (std::uint32_t stage = 1; stage <= 3; ++stage) {
    for (std::uint32_t i = 0; i < blocks_of_a_stage; ++i) {
      const bool halves = stage > 1 && i == 0;
      channels = halves ? 2 * channels : channels;
      x = block(net, x, "layer" + std::to_string(stage) + "." + std::to_string(i), channels, halves ? 2 : 1);
    }
  }
  x = net.add(GlobalPool2d{}, {x});
  x = net.linear(x, "fc", {.units = example.classes, .gain = Gain::linear});
  return std::move(net).finish(x, usual_loss(example.labels));
}

}  // namespace ballast
