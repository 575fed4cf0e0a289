// PyTorch as another baseline, where it is installed.
#pragma once

#include <string>

namespace ballast::bench {

struct TorchSpeed {
  double images_per_second = 0;
  double cpu_us = 0;      // processor time for an image
  std::string described;  // PyTorch's version, the BLAS that it multiplies with and that one's kernel
  std::string refused;    // why there is no speed; empty: there is
};

// LeNet-5 (the same layers), SGD with momentum, batch 128 in one piece, on one thread of /usr/bin/python3's torch. Its
// examples are prepared as ours are: bytes in memory, gathered in a drawn order and normalised for each step. A torch
// that multiplies with the reference BLAS, which is several times slower than any that people use, is refused.
TorchSpeed torch_lenet5(double seconds);

}  // namespace ballast::bench
