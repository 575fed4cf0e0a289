#include "worker/training/gradient_norms.h"

#include <algorithm>
#include <cmath>

#include "common/numeric/optimizer.h"

namespace ballast {

namespace {

std::string layer_of(const std::string& parameter) { return parameter.substr(0, parameter.rfind('.')); }

}  // namespace

GradientNorms::GradientNorms(const Arena& arena) : arena_(arena) {
  std::vector<std::string> layers;
  std::vector<std::size_t> layer_of_parameter;
  for (const auto& parameter : arena.parameters) {
    if (parameter.group == Group::state) {
      layer_of_parameter.push_back(arena.parameters.size());
      continue;
    }
    const auto layer = layer_of(parameter.name);
    const auto known = std::ranges::find(layers, layer);
    layer_of_parameter.push_back(static_cast<std::size_t>(known - layers.begin()));
    if (known == layers.end()) {
      layers.push_back(layer);
    }
  }
  const auto groups = std::min(layers.size(), kMostGroups);
  const auto begin_of = [&](std::size_t group) { return group * layers.size() / groups; };
  std::vector<std::size_t> group_of_layer;
  for (std::size_t group = 0; group < groups; ++group) {
    const auto& first = layers[begin_of(group)];
    const auto& last = layers[begin_of(group + 1) - 1];
    groups_.push_back(begin_of(group) + 1 == begin_of(group + 1) ? first : first + " to " + last);
    group_of_layer.resize(begin_of(group + 1), group);
  }
  for (const auto layer : layer_of_parameter) {
    group_of_.push_back(layer < layers.size() ? group_of_layer[layer] : kMostGroups);
  }
}

// The first slot is looked at; the next one when the time of slots has made up for what that has cost.
void GradientNorms::computed(std::span<const float> contribution, double scale, std::chrono::nanoseconds took) {
  unspent_ += took;
  if (has_measured_.load(std::memory_order_relaxed) && unspent_ < std::chrono::nanoseconds{0}) {
    return;
  }
  const auto begun = std::chrono::steady_clock::now();
  measure(contribution, scale);
  const std::chrono::nanoseconds cost = std::chrono::steady_clock::now() - begun;
  unspent_ = -cost * kPart;
}

void GradientNorms::measure(std::span<const float> contribution, double scale) {
  std::array<double, kMostGroups> squares{};
  for (std::size_t parameter = 0; parameter < group_of_.size(); ++parameter) {
    if (const auto group = group_of_[parameter]; group < groups_.size()) {
      const auto& extent = arena_.extents[parameter];
      squares[group] += ballast::measure(contribution.subspan(extent.offset, extent.elements)).sum_of_squares;
    }
  }
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    norms_[group].store(std::sqrt(squares[group]) * scale, std::memory_order_relaxed);
  }
  has_measured_.store(true, std::memory_order_release);
}

std::optional<double> GradientNorms::norm(std::size_t group) const {
  return has_measured_.load(std::memory_order_acquire)
             ? std::optional<double>(norms_[group].load(std::memory_order_relaxed))
             : std::nullopt;
}

}  // namespace ballast
