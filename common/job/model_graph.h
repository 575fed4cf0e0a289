// The network that a job's model is.
#pragma once

#include <span>

#include "common/job/spec.h"
#include "common/network/graph.h"

namespace ballast {

struct KnownModel {
  const char* name;                                       // model.name
  const char* what;                                       // "`NAME` is WHAT"
  Graph (*graph)(const ModelSpec&, const ExampleShape&);  // nullptr: it computes nothing
};

// In the order of the reference.
std::span<const KnownModel> known_models();

// Whether the model computes anything: all but the emulated one.
bool has_graph(const ModelSpec& model);

// Throws ModelMisfit (or LayerMisfit) or another std::invalid_argument with a sentence for a user: an unknown model,
// examples or settings that do not fit it, a model that has none.
Graph model_graph(const ModelSpec& model, const ExampleShape& example);

}  // namespace ballast
