#include <utility>

#include "common/models/models.h"
#include "common/models/require.h"
#include "common/network/graph_builder.h"
#include "common/network/infer.h"

namespace ballast {

Graph text_lstm(const ExampleShape& example, std::uint32_t embedding, std::uint32_t units, float dropout) {
  require_labelled_text("text_lstm", example);
  GraphBuilder net(example);
  auto x = net.add("embedding", Embedding{.units = embedding}, {net.example()});
  x = net.add("lstm", Lstm{.units = units, .both_directions = true}, {x});
  x = net.add(StepPool{StepPool::Kind::max}, {x});
  x = net.add(Dropout{.rate = dropout}, {x});
  x = net.linear(x, "fc", {.units = example.classes, .gain = Gain::linear});
  return std::move(net).finish(x, usual_loss(example.labels));
}

}  // namespace ballast
