#include <utility>

#include "common/models/models.h"
#include "common/models/require.h"
#include "common/network/graph_builder.h"
#include "common/network/infer.h"

namespace ballast {

// Pooling stands before ReLU: the maximum of a window commutes with ReLU, gradients included, and ReLU then has a
// quarter of the work.
Graph lenet5(const ExampleShape& example) {
  // Halved by a pooling, less 4 by the second convolution, halved again: at least one value must be left.
  require_labelled_images("lenet5", example, 12);
  GraphBuilder net(example);
  auto x = net.conv2d(net.example(), "conv1", {.channels = 6, .kernel = 5, .padding = 2});
  x = net.relu(net.max_pool2d(x, {.window = 2, .stride = 2}));
  x = net.conv2d(x, "conv2", {.channels = 16, .kernel = 5});
  x = net.relu(net.max_pool2d(x, {.window = 2, .stride = 2}));
  x = net.relu(net.linear(x, "fc1", {.units = 120}));
  x = net.relu(net.linear(x, "fc2", {.units = 84}));
  x = net.linear(x, "fc3", {.units = example.classes, .gain = Gain::linear});
  return std::move(net).finish(x, usual_loss(example.labels));
}

}  // namespace ballast
