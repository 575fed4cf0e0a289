// PyTorch as another baseline, where it is installed.
#pragma once

#include <optional>

namespace ballast::bench {

struct TorchSpeed {
  double images_per_second = 0;
  double cpu_us = 0;  // processor time for an image
};

// LeNet-5 (the same layers), SGD with momentum, batch 128 in one piece, on one thread of
// /usr/bin/python3's torch; nothing if that has no torch.
std::optional<TorchSpeed> torch_lenet5(double seconds);

}  // namespace ballast::bench
