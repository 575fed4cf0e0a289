// What keeps a row of arrays from being an example.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ballast {

// A value that is no finite float once it is multiplied by `scale` (data.scale), with its index; empty if there is
// none.
std::string feature_fault(std::span<const double> features, double scale);

// What is wrong with a row's labels for data.target (class, several or number) and data.outputs; empty if nothing is.
std::string label_fault(std::span<const double> labels, const std::string& target, std::uint32_t outputs);

}  // namespace ballast
