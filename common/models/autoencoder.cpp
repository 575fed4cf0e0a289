#include <string>
#include <utility>

#include "common/models/misfit.h"
#include "common/models/models.h"
#include "common/models/require.h"
#include "common/network/graph_builder.h"

namespace ballast {
namespace {

void require_entries(const std::string& key, const std::vector<std::uint32_t>& list) {
  if (list.empty()) {
    throw ModelMisfit(key, "the list is empty; an autoencoder needs at least one layer");
  }
  for (const auto entry : list) {
    require_positive(key, entry);
  }
}

// What a transposed convolution with stride 2 lacks of the extent that a convolution with stride 2, kernel 3 and
// padding 1 halved.
std::uint32_t lost(std::uint32_t extent) { return (extent - 1) % 2; }

}  // namespace

Graph autoencoder(const ExampleShape& example, const std::vector<std::uint32_t>& hidden) {
  require_values("autoencoder", example);
  require_entries("model.hidden", hidden);
  GraphBuilder net(example);
  auto x = net.example();
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    x = net.relu(net.linear(x, "encoder" + std::to_string(i + 1), {.units = hidden[i]}));
  }
  for (std::size_t i = hidden.size() - 1; i > 0; --i) {
    x = net.relu(net.linear(x, "decoder" + std::to_string(i + 1), {.units = hidden[i - 1]}));
  }
  const auto values = static_cast<std::uint32_t>(example.features());
  x = net.linear(x, "decoder1", {.units = values, .gain = Gain::linear});
  return std::move(net).finish(x, SquaredError{.of_input = true});
}

Graph conv_autoencoder(const ExampleShape& example, const std::vector<std::uint32_t>& channels) {
  require_images("conv_autoencoder", example);
  require_entries("model.channels", channels);
  GraphBuilder net(example);
  std::vector<Shape> halved;  // what each convolution reads
  auto x = net.example();
  for (std::size_t i = 0; i < channels.size(); ++i) {
    halved.push_back(net.shape(x));
    x = net.conv2d(x, "encoder" + std::to_string(i + 1),
                   {.channels = channels[i], .kernel = 3, .stride = 2, .padding = 1});
    x = net.relu(x);
  }
  for (std::size_t i = channels.size(); i > 0; --i) {
    const Shape& whole = halved[i - 1];
    x = net.add("decoder" + std::to_string(i),
                TransposedConv2d{.channels = whole.c,
                                 .kernel = 3,
                                 .stride = 2,
                                 .padding = 1,
                                 .output_padding = {lost(whole.h), lost(whole.w)},
                                 .gain = i == 1 ? Gain::linear : Gain::relu},
                {x});
    x = i == 1 ? x : net.relu(x);
  }
  return std::move(net).finish(x, SquaredError{.of_input = true});
}

}  // namespace ballast
