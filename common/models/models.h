// The built-in networks, each a short function over a GraphBuilder.
//
// All throw std::invalid_argument with a sentence for a user when the examples do not fit.
#pragma once

#include <cstdint>
#include <vector>

#include "common/network/graph.h"

namespace ballast {

// fc1 - relu - ... - fcN: one layer for each entry of `hidden` and one for the classes.
Graph mlp(const ExampleShape& example, const std::vector<std::uint32_t>& hidden);

// The modern LeNet-5: that of Y. LeCun et al., "Gradient-Based Learning Applied to Document Recognition", 1998, with
// ReLU for its sigmoids, max pooling for its trained averages, every map of conv2 connected to all six maps before it,
// and softmax for its radial basis functions.
Graph lenet5(const ExampleShape& example);

}  // namespace ballast
