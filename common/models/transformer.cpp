#include <string>
#include <utility>

#include "common/models/misfit.h"
#include "common/models/models.h"
#include "common/models/require.h"
#include "common/network/graph_builder.h"
#include "common/network/infer.h"

namespace ballast {
namespace {

using Value = GraphBuilder::Value;

Linear projection(std::uint32_t units) { return {.units = units, .gain = Gain::linear}; }

Value embedded(GraphBuilder& net, const TransformerSize& size) {
  auto x = net.add("embedding", Embedding{.units = size.width}, {net.example()});
  x = net.add("position", PositionEmbedding{}, {x});
  return net.add(Dropout{.rate = size.dropout}, {x});
}

Value attended(GraphBuilder& net, Value x, const std::string& name, const TransformerSize& size, bool causal) {
  const auto queries = net.linear(x, name + ".query", projection(size.width));
  const auto keys = net.linear(x, name + ".key", projection(size.width));
  const auto values = net.linear(x, name + ".value", projection(size.width));
  x = net.add(Attention{.heads = size.heads, .causal = causal}, {queries, keys, values});
  return net.linear(x, name + ".output", projection(size.width));
}

Value block(GraphBuilder& net, Value x, const std::string& name, const TransformerSize& size, bool causal) {
  auto y = net.add(name + ".norm1", LayerNorm{}, {x});
  y = attended(net, y, name + ".attention", size, causal);
  x = net.sum(x, net.add(Dropout{.rate = size.dropout}, {y}));
  y = net.add(name + ".norm2", LayerNorm{}, {x});
  y = net.linear(y, name + ".fc1", {.units = 4 * size.width});
  y = net.add(Activation{Activation::Kind::gelu}, {y});
  y = net.linear(y, name + ".fc2", projection(size.width));
  return net.sum(x, net.add(Dropout{.rate = size.dropout}, {y}));
}

// Embedding, blocks and the last normalization.
Value body(GraphBuilder& net, const TransformerSize& size, bool causal) {
  auto x = embedded(net, size);
  for (std::uint32_t i = 0; i < size.depth; ++i) {
    x = block(net, x, "block" + std::to_string(i), size, causal);
  }
  return net.add("norm", LayerNorm{}, {x});
}

void check(const TransformerSize& size) {
  require_positive("model.width", size.width);
  require_positive("model.heads", size.heads);
  if (size.width % size.heads != 0) {
    throw ModelMisfit("model.heads", std::to_string(size.heads) + " heads do not divide model.width (" +
                                         std::to_string(size.width) + "); choose numbers that do");
  }
}

}  // namespace

Graph transformer(const ExampleShape& example, const TransformerSize& size) {
  require_labelled_text("transformer", example);
  check(size);
  GraphBuilder net(example);
  auto x = net.add(StepPool{StepPool::Kind::average}, {body(net, size, false)});
  x = net.linear(x, "fc", projection(example.classes));
  return std::move(net).finish(x, usual_loss(example.labels));
}

Graph gpt(const ExampleShape& example, const TransformerSize& size) {
  require_next_tokens("gpt", example);
  check(size);
  GraphBuilder net(example);
  auto next = projection(example.vocabulary);
  next.bias = false;
  const auto x = net.add("next", next, {body(net, size, true)}, "embedding");
  return std::move(net).finish(x, SoftmaxCrossEntropy{});
}

}  // namespace ballast
