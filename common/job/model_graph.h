// The network that a job's model is.
#pragma once

#include "common/job/spec.h"
#include "common/network/graph.h"

namespace ballast {

// Whether the model computes anything: all but the emulated one.
bool has_graph(const ModelSpec& model);

// Throws std::invalid_argument with a sentence for a user: an unknown model, examples that do not fit it, a model that
// has none.
Graph model_graph(const ModelSpec& model, const ExampleShape& example);

}  // namespace ballast
