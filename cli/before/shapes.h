// A network as a table for people.
#pragma once

#include <string>

#include "common/network/graph.h"

namespace ballast {

// A line for the example and for each layer: name, kind, what it reads, output of one example (of the longest length),
// trained parameters (shared ones with the first layer that has them), and multiplications of one example's forward
// pass. Then the sums, and how many floats of running statistics there are beside parameters.
std::string shapes_text(const Graph& graph);

}  // namespace ballast
