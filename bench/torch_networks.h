// PyTorch's speed with the networks of the benchmark `networks`.
#pragma once

#include <cstdint>
#include <string>

namespace ballast::bench {

struct Speed {
  double examples_per_second = 0;
  double cpu_us = 0;  // processor time for an example
};

struct TorchNetwork {
  Speed speed;
  std::string described;  // PyTorch's version, and what it multiplies with
  std::string refused;    // why there is none; empty: there is
};

// The same layers as the model of that name, by PyTorch's own modules, forward and backward, on one thread of
// /usr/bin/python3's torch.
TorchNetwork torch_network(const std::string& name, std::uint32_t examples, double seconds);

}  // namespace ballast::bench
