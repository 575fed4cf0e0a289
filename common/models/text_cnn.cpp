#include <algorithm>
#include <string>
#include <utility>

#include "common/models/misfit.h"
#include "common/models/models.h"
#include "common/models/require.h"
#include "common/network/graph_builder.h"
#include "common/network/infer.h"

namespace ballast {

namespace {

void require_distinct(std::vector<std::uint32_t> widths) {
  std::ranges::sort(widths);
  const auto twice = std::ranges::adjacent_find(widths);
  if (twice != widths.end()) {
    throw ModelMisfit("model.widths", std::to_string(*twice) + " stands there twice; raise model.filters instead");
  }
}

}  // namespace

Graph text_cnn(const ExampleShape& example, const TextCnn& size) {
  require_labelled_text("text_cnn", example);
  require_distinct(size.widths);
  GraphBuilder net(example);
  const auto words = net.add("embedding", Embedding{.units = size.embedding}, {net.example()});
  std::vector<GraphBuilder::Value> seen;
  for (const std::uint32_t width : size.widths) {
    const Conv1d conv{.channels = size.filters, .kernel = width, .padding = width / 2};
    const auto x = net.relu(net.add("conv" + std::to_string(width), conv, {words}));
    seen.push_back(net.add(StepPool{StepPool::Kind::max}, {x}));
  }
  auto x = seen.size() == 1 ? seen[0] : net.add(Concatenate{}, seen);
  x = net.add(Dropout{.rate = size.dropout}, {x});
  x = net.linear(x, "fc", {.units = example.classes, .gain = Gain::linear});
  return std::move(net).finish(x, usual_loss(example.labels));
}

}  // namespace ballast
