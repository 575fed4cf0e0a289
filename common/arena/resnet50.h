// The parameters of ResNet-50, for traffic of a real network's shape.
#pragma once

#include <vector>

#include "common/arena/parameter.h"

namespace ballast {

// The 161 tensors (25,557,032 floats) of torchvision's resnet50 with 1000 classes, in its order: each bottleneck's
// three convolutions and their normalisations, then its downsampling. Running statistics are left out.
std::vector<Parameter> resnet50_parameters();

}  // namespace ballast
