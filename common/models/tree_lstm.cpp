#include <utility>

#include "common/models/models.h"
#include "common/models/require.h"
#include "common/network/graph_builder.h"

namespace ballast {

Graph tree_lstm(const ExampleShape& example, std::uint32_t embedding, std::uint32_t units, float dropout) {
  require_labelled_trees("tree_lstm", example);
  GraphBuilder net(example);
  auto x = net.add("embedding", Embedding{.units = embedding}, {net.example()});
  x = net.add(Dropout{.rate = dropout}, {x});
  x = net.add("tree_lstm", TreeLstm{.units = units}, {x});
  x = net.add(Dropout{.rate = dropout}, {x});
  x = net.linear(x, "fc", {.units = example.classes, .gain = Gain::linear});
  return std::move(net).finish(x, SoftmaxCrossEntropy{});
}

}  // namespace ballast
