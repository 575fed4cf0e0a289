// Lists of parameters drawn from a seed, small and large ones mixed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/arena/parameter.h"

namespace ballast {

inline std::string numbered_name(std::size_t number) {
  std::string name(1, 'p');
  name += std::to_string(number);
  return name;
}

inline std::vector<Parameter> random_parameters(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  std::vector<Parameter> parameters(1 + below(12));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].name = numbered_name(i);
    // One in four is large enough to need several chunks.
    parameters[i].shape = below(4) == 0 ? std::vector<std::uint32_t>{1 + below(1000), 1 + below(3000)}
                                        : std::vector<std::uint32_t>{1 + below(40), 1 + below(20)};
    parameters[i].group = below(2) == 0 ? Group::decay : below(2) == 0 ? Group::no_decay : Group::state;
  }
  return parameters;
}

}  // namespace ballast
