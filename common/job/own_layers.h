// The network that a job file writes down layer by layer.
#pragma once

#include <cstddef>
#include <string>

#include "common/job/spec.h"
#include "common/models/misfit.h"
#include "common/network/graph.h"

namespace ballast {

// A layer of model.layers that does not fit; the text names all shapes concerned.
class LayerMisfit : public ModelMisfit {
 public:
  LayerMisfit(std::size_t index, const std::string& name, const std::string& text);
  [[nodiscard]] std::size_t index() const { return index_; }

 private:
  std::size_t index_;
};

// The last layer is the prediction. Throws LayerMisfit, or ModelMisfit where no layer is concerned.
Graph own_layers(const ModelSpec& model, const ExampleShape& example);

}  // namespace ballast
