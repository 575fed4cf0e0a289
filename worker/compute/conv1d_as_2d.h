// A convolution over time, as libraries compute it: over images of one row, whose width is the steps.
#pragma once

#include "common/network/layers.h"
#include "common/network/shape.h"

namespace ballast {

inline Shape as_image(const Shape& sequences) { return {sequences.n, sequences.c, 1, sequences.steps}; }

inline Conv2d as_2d(const Conv1d& conv) {
  Conv2d same;
  same.channels = conv.channels;
  same.kernel = {1, conv.kernel};
  same.stride = {1, conv.stride};
  same.padding = {0, conv.padding};
  same.dilation = {1, conv.dilation};
  same.groups = conv.groups;
  same.bias = conv.bias;
  return same;
}

}  // namespace ballast
