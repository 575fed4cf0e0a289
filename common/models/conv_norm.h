// What the networks of images are made of.
#pragma once

#include <string>

#include "common/network/graph_builder.h"

namespace ballast {

// A convolution without bias, which the batch normalization behind it would cancel.
inline GraphBuilder::Value conv_norm(GraphBuilder& net, GraphBuilder::Value x, const std::string& conv_name,
                                     const std::string& norm_name, Conv2d conv) {
  conv.bias = false;
  return net.batch_norm(net.conv2d(x, conv_name, conv), norm_name);
}

}  // namespace ballast
