// The one description of what model.layers may hold. Reading, writing, errors and docs/configuration.md follow from it;
// what each layer computes stands in common/network/layers.h.
#pragma once

#include <string>
#include <vector>

#include "common/job/schema.h"

namespace ballast {

struct LayerKind {
  std::string name;         // conv2d
  std::string description;  // one sentence without its full stop
  Layer layer;              // with the defaults of its settings
  // The settings, bound to a spec whose layer is of this kind. Their paths are names alone; none is of an identity of
  // its own, because model.layers is. The first one is what a plain value gives: `linear: 10`.
  std::vector<Key> (*settings)(LayerSpec& spec);
  bool can_be_tied = false;
};

// In the order of the reference.
const std::vector<LayerKind>& layer_kinds();

// nullptr: there is none of this name.
const LayerKind* find_layer_kind(const std::string& name);

// Of a spec's layer.
const LayerKind& kind_of(const LayerSpec& spec);

inline constexpr std::size_t kMaxLayers = 1000;         // entries of model.layers
inline constexpr std::size_t kMaxLayerInputs = 64;      // that one reads
inline constexpr std::uint32_t kMaxStacked = 16;        // LSTMs or GRUs of one entry
inline constexpr std::size_t kMaxNetworkLayers = 4095;  // in all; dropout counts them in 12 bits
inline constexpr const char* kExampleName = "example";  // in `from`: the example itself

}  // namespace ballast
