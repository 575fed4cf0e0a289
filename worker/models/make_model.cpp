#include "common/job/model_graph.h"
#include "worker/compute/backend.h"
#include "worker/models/emulated.h"
#include "worker/models/model.h"
#include "worker/models/network.h"

namespace ballast {

std::unique_ptr<Model> make_model(const ModelSpec& spec, const ExampleShape& shape, const Arena& arena,
                                  const MakeBackend& make_backend) {
  if (!has_graph(spec)) {
    return make_emulated(spec, arena);
  }
  auto graph = model_graph(spec, shape);
  return std::make_unique<Network>(make_backend(), std::move(graph), arena);
}

}  // namespace ballast
