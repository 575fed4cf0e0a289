// Numbers in what programs read: JSON has none that are not finite.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace ballast {

inline nlohmann::ordered_json finite(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace ballast
