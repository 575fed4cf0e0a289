#include <string>
#include <utility>

#include "common/models/misfit.h"
#include "common/models/models.h"
#include "common/models/require.h"
#include "common/network/graph_builder.h"
#include "common/network/infer.h"

namespace ballast {

Graph mlp(const ExampleShape& example, const std::vector<std::uint32_t>& hidden) {
  require_labelled("mlp", example);
  GraphBuilder net(example);
  auto x = net.example();
  std::size_t layer = 1;
  for (const std::uint32_t units : hidden) {
    if (units == 0) {
      throw ModelMisfit("model.hidden",
                        "hidden layer " + std::to_string(layer) + " has 0 units; every hidden layer needs at least 1");
    }
    x = net.relu(net.linear(x, "fc" + std::to_string(layer), {.units = units}));
    ++layer;
  }
  x = net.linear(x, "fc" + std::to_string(layer), {.units = example.classes, .gain = Gain::linear});
  return std::move(net).finish(x, usual_loss(example.labels));
}

}  // namespace ballast
