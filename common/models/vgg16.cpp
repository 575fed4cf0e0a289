#include <array>
#include <string>
#include <utility>

#include "common/models/conv_norm.h"
#include "common/models/models.h"
#include "common/models/require.h"
#include "common/network/infer.h"

namespace ballast {

Graph vgg16(const ExampleShape& example) {
  constexpr std::uint32_t kSmallest = 32;  // what five poolings leave something of
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 5> kStages = {
      // channels, convolutions
      {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}};
  require_labelled_images("vgg16", example, kSmallest);
  GraphBuilder net(example);
  auto x = net.example();
  std::size_t layer = 0;
  for (const auto& [channels, convolutions] : kStages) {
    for (std::uint32_t i = 0; i < convolutions; ++i) {
      const auto number = std::to_string(++layer);
      x = net.relu(
          conv_norm(net, x, "conv" + number, "bn" + number, {.channels = channels, .kernel = 3, .padding = 1}));
    }
    x = net.max_pool2d(x, {.window = 2, .stride = 2});
  }
  if (net.shape(x).h > 1 || net.shape(x).w > 1) {  // of images larger than CIFAR's
    x = net.add(GlobalPool2d{}, {x});
  }
  x = net.linear(x, "fc", {.units = example.classes, .gain = Gain::linear});
  return std::move(net).finish(x, usual_loss(example.labels));
}

}  // namespace ballast
