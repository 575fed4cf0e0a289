#include "worker/models/networks.h"

namespace ballast {

// The modern LeNet-5: that of Y. LeCun et al., "Gradient-Based Learning Applied to Document Recognition", 1998, with
// ReLU for its sigmoids, max pooling for its trained averages, every map of conv2 connected to all six maps before it,
// and softmax for its radial basis functions.
//
// Pooling stands before ReLU: the maximum of a window commutes with ReLU, gradients included, and ReLU then has a
// quarter of the work.
void record_lenet5(Tape& tape, std::uint32_t classes) {
  Tape::Value x = tape.input();
  x = tape.conv2d(x, "conv1", {.channels = 6, .kernel = 5, .stride = 1, .padding = 2});
  x = tape.relu(tape.max_pool2d(x, {.window = 2, .stride = 2}));
  x = tape.conv2d(x, "conv2", {.channels = 16, .kernel = 5, .stride = 1, .padding = 0});
  x = tape.relu(tape.max_pool2d(x, {.window = 2, .stride = 2}));
  x = tape.relu(tape.linear(x, "fc1", 120));
  x = tape.relu(tape.linear(x, "fc2", 84));
  tape.softmax_cross_entropy(tape.linear(x, "fc3", classes));
}

}  // namespace ballast
