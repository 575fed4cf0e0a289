#include <stdexcept>
#include <utility>

#include "common/models/models.h"
#include "common/models/require.h"
#include "common/network/graph_builder.h"

namespace ballast {

// Pooling stands before ReLU: the maximum of a window commutes with ReLU, gradients included, and ReLU then has a
// quarter of the work.
Graph lenet5(const ExampleShape& example) {
  require_classified("lenet5", example);
  // Halved by a pooling, less 4 by the second convolution, halved again: at least one value must be left.
  if (example.height < 12 || example.width < 12) {
    throw std::invalid_argument("model.name: lenet5 needs images of at least 12 x 12, but the data set's are " +
                                described(example) + "; choose mlp");
  }
  GraphBuilder net(example);
  auto x = net.conv2d(net.example(), "conv1", {.channels = 6, .kernel = 5, .padding = 2});
  x = net.relu(net.max_pool2d(x, {.window = 2, .stride = 2}));
  x = net.conv2d(x, "conv2", {.channels = 16, .kernel = 5});
  x = net.relu(net.max_pool2d(x, {.window = 2, .stride = 2}));
  x = net.relu(net.linear(x, "fc1", {.units = 120}));
  x = net.relu(net.linear(x, "fc2", {.units = 84}));
  x = net.linear(x, "fc3", {.units = example.classes, .gain = Gain::linear});
  return std::move(net).finish(x, SoftmaxCrossEntropy{});
}

}  // namespace ballast
