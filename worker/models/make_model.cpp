#include <stdexcept>
#include <string>

#include "worker/compute/backend.h"
#include "worker/models/emulated.h"
#include "worker/models/model.h"
#include "worker/models/network.h"
#include "worker/models/networks.h"

namespace ballast {
namespace {

Record recorder_of(const ModelSpec& spec, const ExampleShape& shape) {
  if (spec.name == "mlp") {
    return [hidden = spec.hidden, classes = shape.classes](Tape& tape) { record_mlp(tape, hidden, classes); };
  }
  if (spec.name == "lenet5") {
    return [classes = shape.classes](Tape& tape) { record_lenet5(tape, classes); };
  }
  throw std::invalid_argument("model.name: '" + spec.name + "' is unknown; choose mlp, lenet5 or emulated");
}

}  // namespace

std::unique_ptr<Model> make_model(const ModelSpec& spec, const ExampleShape& shape, const Arena& arena,
                                  const MakeBackend& make_backend) {
  if (spec.name == "emulated") {
    return make_emulated(spec, arena);
  }
  return std::make_unique<Network>(make_backend(), shape, arena, recorder_of(spec, shape));
}

}  // namespace ballast
