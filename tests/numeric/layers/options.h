// What a layer or a loss is told, as JSON: for other frameworks to build the same.
#pragma once

#include <nlohmann/json.hpp>

#include "common/network/layers.h"

namespace ballast::layers {

// The fields of its description by name; pairs as lists of two.
nlohmann::json options_of(const Layer& layer);
nlohmann::json options_of(const Loss& loss);

}  // namespace ballast::layers
