#include <string>
#include <utility>

#include "common/models/conv_norm.h"
#include "common/models/models.h"
#include "common/models/require.h"
#include "common/network/infer.h"

namespace ballast {

Graph simpsons_cnn(const ExampleShape& example, const std::vector<std::uint32_t>& channels, float dropout) {
  constexpr std::uint32_t kHidden = 512;
  require_labelled_images("simpsons_cnn", example, 1U << channels.size());  // what the poolings leave something of
  GraphBuilder net(example);
  auto x = net.example();
  std::size_t layer = 0;
  for (const std::uint32_t maps : channels) {
    for (int i = 0; i < 2; ++i) {
      const auto number = std::to_string(++layer);
      x = net.relu(conv_norm(net, x, "conv" + number, "bn" + number, {.channels = maps, .kernel = 3, .padding = 1}));
    }
    x = net.max_pool2d(x, {.window = 2, .stride = 2});
    x = net.add(Dropout{.rate = dropout / 2}, {x});
  }
  x = net.relu(net.linear(x, "fc1", {.units = kHidden}));
  x = net.add(Dropout{.rate = dropout}, {x});
  x = net.linear(x, "fc2", {.units = example.classes, .gain = Gain::linear});
  return std::move(net).finish(x, usual_loss(example.labels));
}

}  // namespace ballast
