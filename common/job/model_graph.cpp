#include "common/job/model_graph.h"

#include <stdexcept>

#include "common/models/models.h"

namespace ballast {

bool has_graph(const ModelSpec& model) { return model.name != "emulated"; }

Graph model_graph(const ModelSpec& model, const ExampleShape& example) {
  if (model.name == "mlp") {
    return mlp(example, model.hidden);
  }
  if (model.name == "lenet5") {
    return lenet5(example);
  }
  throw std::invalid_argument("model.name: '" + model.name + "' is unknown; choose mlp, lenet5 or emulated");
}

}  // namespace ballast
