// PyTorch as another baseline, where it is installed.
#pragma once

#include <optional>

namespace ballast::bench {

// Images a second of LeNet-5 (the same layers), SGD with momentum, batch 128 in one piece, on one thread of
// /usr/bin/python3's torch; nothing if that has no torch.
std::optional<double> torch_lenet5(double seconds);

}  // namespace ballast::bench
