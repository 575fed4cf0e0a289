// What tests of the built-in networks share.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/models/misfit.h"
#include "common/network/graph.h"

namespace ballast::testing {

using Extents = std::vector<std::uint32_t>;

inline std::uint64_t floats_of(const Graph& graph, bool trained = true) {
  std::uint64_t floats = 0;
  for (const Parameter& parameter : graph.parameters) {
    floats += is_descended(parameter.group) == trained ? parameter.elements() : 0;
  }
  return floats;
}

inline const Parameter& parameter(const Graph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.parameters, name, &Parameter::name);
  REQUIRE_MESSAGE(found != graph.parameters.end(), name);
  return *found;
}

inline const NamedLayer& layer(const Graph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.layers, name, &NamedLayer::name);
  REQUIRE_MESSAGE(found != graph.layers.end(), name);
  return *found;
}

// What is told of a model that does not fit; empty: it does.
template <typename Make>
std::string refusal(const Make& make) {
  try {
    make();
  } catch (const ModelMisfit& misfit) {
    return misfit.what();
  }
  return {};
}

}  // namespace ballast::testing
