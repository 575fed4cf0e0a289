// A network as data: its layers in the order in which they are computed, what each reads, and its parameters. Servers
// take the parameters from it, workers compute it, `ballast check --shapes` shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/arena/parameter.h"
#include "common/network/layers.h"
#include "common/network/shape.h"

namespace ballast {

// A value of a network: 0 is the example, i + 1 the output of layer i.
using ValueId = std::size_t;
inline constexpr ValueId kExample = 0;

struct NamedLayer {
  std::string name;  // of the layer, unique
  Layer layer;
  std::vector<ValueId> inputs;          // all smaller than the layer's own output
  std::vector<std::size_t> parameters;  // places in Graph::parameters, in the order of the layer's description
  Shape output;                         // of one example of the longest length
};

struct Graph {
  ExampleShape example;
  std::vector<Parameter> parameters;  // in the order in which layers first use them
  std::vector<NamedLayer> layers;
  Loss loss;
  ValueId prediction = kExample;  // what the loss reads: logits, or numbers
};

}  // namespace ballast
