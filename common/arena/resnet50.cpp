#include "common/arena/resnet50.h"

#include <array>
#include <string>
#include <utility>

#include "common/arena/initial_bounds.h"

namespace ballast {
namespace {

constexpr std::uint32_t kExpansion = 4;  // a bottleneck's output channels over its width
constexpr std::uint32_t kClasses = 1000;

void append_convolution(std::vector<Parameter>& out, const std::string& convolution, const std::string& norm,
                        std::uint32_t from, std::uint32_t to, std::uint32_t kernel) {
  const float bound = relu_bound(std::uint64_t{from} * kernel * kernel);
  out.push_back({convolution + ".weight", {to, from, kernel, kernel}, Group::decay, {Initial::Kind::uniform, bound}});
  out.push_back({norm + ".weight", {to}, Group::no_decay, {Initial::Kind::constant, 1.0F}});
  out.push_back({norm + ".bias", {to}, Group::no_decay, {}});
}

void append_bottleneck(std::vector<Parameter>& out, const std::string& prefix, std::uint32_t from, std::uint32_t width,
                       bool downsample) {
  append_convolution(out, prefix + ".conv1", prefix + ".bn1", from, width, 1);
  append_convolution(out, prefix + ".conv2", prefix + ".bn2", width, width, 3);
  append_convolution(out, prefix + ".conv3", prefix + ".bn3", width, width * kExpansion, 1);
  if (downsample) {
    append_convolution(out, prefix + ".downsample.0", prefix + ".downsample.1", from, width * kExpansion, 1);
  }
}

}  // namespace

std::vector<Parameter> resnet50_parameters() {
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 4> kLayers = {{{64, 3}, {128, 4}, {256, 6}, {512, 3}}};
  std::vector<Parameter> out;
  append_convolution(out, "conv1", "bn1", 3, 64, 7);
  std::uint32_t channels = 64;
  for (std::size_t layer = 0; layer < kLayers.size(); ++layer) {
    const auto [width, blocks] = kLayers[layer];
    for (std::uint32_t block = 0; block < blocks; ++block) {
      const std::string prefix = "layer" + std::to_string(layer + 1) + "." + std::to_string(block);
      append_bottleneck(out, prefix, channels, width, block == 0);
      channels = width * kExpansion;
    }
  }
  out.push_back({"fc.weight", {kClasses, channels}, Group::decay, {Initial::Kind::uniform, output_bound(channels)}});
  out.push_back({"fc.bias", {kClasses}, Group::no_decay, {}});
  return out;
}

}  // namespace ballast
