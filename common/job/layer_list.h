// model.layers as YAML: a list whose entries are a kind of layer alone (`relu`), or a map of the kind and its settings
// (`linear: {units: 10}`; `linear: 10` gives the first one alone) beside `name`, `from` and `tied_to`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/job/spec.h"
#include "common/job/value.h"
#include "common/job/yaml_tree.h"

namespace ballast {

// Throws Unfits with all that is wrong. Every layer has a name then. What they read is not looked at.
std::vector<LayerSpec> read_layers(const YamlNode& node);

// The list in YAML's flow style with all settings; read_layers gives the same layers back. `separator` stands between
// entries.
std::string layers_text(const std::vector<LayerSpec>& layers, std::string_view separator);

// What is told of entry `index` begins with it: "model.layers[3] 'conv2'".
std::string layer_path(std::size_t index, const std::string& name);

}  // namespace ballast
