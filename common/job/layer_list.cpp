#include "common/job/layer_list.h"

#include <map>
#include <set>
#include <utility>

#include "common/job/foreign_layers.h"
#include "common/job/layer_kinds.h"
#include "common/job/words.h"

namespace ballast {
namespace {

constexpr std::size_t kMaxLayerName = 64;
constexpr const char* kBeside = "name, from, tied_to";

bool stands_beside(const std::string& key) { return key == "name" || key == "from" || key == "tied_to"; }

std::string kind_names() {
  std::vector<std::string> names;
  for (const auto& kind : layer_kinds()) {
    names.push_back(kind.name);
  }
  return comma_list(names);
}

const LayerKind& known_kind(const std::string& name) {
  if (const auto* const kind = find_layer_kind(name)) {
    return *kind;
  }
  if (const auto hint = foreign_layer_hint(name); !hint.empty()) {
    throw Unfit{shown(name) + " is no layer here; " + hint};
  }
  std::vector<std::string> names;
  for (const auto& kind : layer_kinds()) {
    names.push_back(kind.name);
  }
  const auto meant = nearest(name, names);
  throw Unfit{shown(name) + " is no layer; " +
              (meant.empty() ? "allowed: " + kind_names() : "did you mean '" + meant + "'?")};
}

std::string layer_name(const YamlNode& node, const std::string& wanted) {
  const auto& name = scalar(node, wanted);
  if (!is_name(name, kMaxLayerName)) {
    throw Unfit{shown(name) + " is no name of a layer; allowed: 1 to " + std::to_string(kMaxLayerName) +
                " of A-Z a-z 0-9 . _ -"};
  }
  return name;
}

std::string own_name(const YamlNode& node) {
  auto name = layer_name(node, "a layer's name");
  if (name == kExampleName) {
    throw Unfit{"'" + name + "' is what the network reads; name the layer otherwise"};
  }
  return name;
}

std::vector<std::string> names_read(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::list) {
    return {layer_name(node, "a layer's name, or a list of several,")};
  }
  if (node.items.empty() || node.items.size() > kMaxLayerInputs) {
    throw Unfit{"a list of " + std::to_string(node.items.size()) + " names; allowed: 1 to " +
                std::to_string(kMaxLayerInputs)};
  }
  std::vector<std::string> names;
  for (const auto& item : node.items) {
    names.push_back(layer_name(item, "a layer's name"));
  }
  return names;
}

// One entry of the list. What is wrong is collected, with `what` it is about in front.
class Entry {
 public:
  explicit Entry(const YamlNode& node) : node_(node) {}

  LayerSpec read() {
    collect("", node_, [&] { read_whole(); });
    return std::move(spec_);
  }

  std::vector<Unfit> mistakes;

 private:
  template <class Work>
  void collect(const std::string& what, const YamlNode& node, const Work& work) {
    try {
      work();
    } catch (const Unfit& unfit) {
      mistakes.push_back({what + unfit.text, node.line});
    }
  }

  void read_whole() {
    if (node_.kind == YamlNode::Kind::scalar) {
      read_layer(known_kind(node_.text), {});
      return;
    }
    if (node_.kind != YamlNode::Kind::map) {
      throw Unfit{kind_name(node_) + " where a layer is needed; e.g. linear: {units: 10}"};
    }
    for (const auto& entry : node_.entries) {  // first, because mistakes are told with it
      if (entry.key == "name") {
        collect("name: ", entry.value, [&] { spec_.name = own_name(entry.value); });
      }
    }
    const auto& entry = kind_entry();
    const auto& kind = known_kind(entry.key);
    read_layer(kind, entry.value);
    for (const auto& other : node_.entries) {
      collect(other.key + ": ", other.value, [&] { read_beside(kind, other); });
    }
  }

  // The one key that is a kind of layer.
  const YamlEntry& kind_entry() const {
    const YamlEntry* found = nullptr;
    for (const auto& entry : node_.entries) {
      if (stands_beside(entry.key)) {
        continue;
      }
      if (found != nullptr) {
        const bool first_is_kind = find_layer_kind(found->key) != nullptr;
        throw Unfit{not_beside(first_is_kind ? entry.key : found->key, first_is_kind ? found->key : entry.key)};
      }
      found = &entry;
    }
    if (found == nullptr) {
      throw Unfit{"no kind of layer is named; e.g. linear: {units: 10}"};
    }
    return *found;
  }

  static std::string not_beside(const std::string& key, const std::string& kind) {
    const auto meant = nearest(key, {"name", "from", "tied_to"});
    return shown(key) + " stands beside " + shown(kind) + "; " +
           (meant.empty()
                ? "an entry is one layer with " + std::string(kBeside) +
                      ", and a layer's settings stand in braces behind it, e.g. conv2d: {channels: 32, kernel: 3}"
                : "did you mean '" + meant + "'?");
  }

  void read_beside(const LayerKind& kind, const YamlEntry& entry) {
    if (entry.key == "from") {
      spec_.from = names_read(entry.value);
    } else if (entry.key == "tied_to") {
      spec_.tied_to = layer_name(entry.value, "a layer's name");
      if (!kind.can_be_tied) {
        throw Unfit{kind.name + " has no weight that it could share; linear and embedding do"};
      }
    }
  }

  void read_layer(const LayerKind& kind, const YamlNode& given) {
    spec_.layer = kind.layer;
    const auto settings = kind.settings(spec_);
    std::set<std::string> filled;
    const auto fill = [&](const Key& key, const YamlNode& value) {
      filled.insert(key.path);
      collect(key.path + ": ", value, [&] { read_value(key, value); });
    };
    if (given.kind == YamlNode::Kind::map) {
      for (const auto& entry : given.entries) {
        collect("", entry.value, [&] { fill(find_setting(kind, settings, entry.key), entry.value); });
      }
    } else if (given.kind != YamlNode::Kind::null) {
      if (settings.empty()) {
        throw Unfit{kind.name + " has no settings; write it alone"};
      }
      fill(settings.front(), given);
    }
    for (const auto& key : settings) {
      if (key.required && !filled.contains(key.path)) {
        mistakes.push_back(
            {kind.name + " needs " + key.path + ", e.g. " + kind.name + ": {" + key.path + ": 32}", node_.line});
      }
    }
  }

  static const Key& find_setting(const LayerKind& kind, const std::vector<Key>& settings, const std::string& name) {
    std::vector<std::string> names;
    for (const auto& key : settings) {
      if (key.path == name) {
        return key;
      }
      names.push_back(key.path);
    }
    if (stands_beside(name)) {
      throw Unfit{"'" + name + "' stands beside the layer, not in its braces: {" + kind.name + ": {...}, " + name +
                  ": ...}"};
    }
    const auto meant = nearest(name, names);
    throw Unfit{shown(name) + " is no setting of " + kind.name + "; " +
                (names.empty()   ? "it has none"
                 : meant.empty() ? "allowed: " + comma_list(names)
                                 : "did you mean '" + meant + "'?")};
  }

  const YamlNode& node_;
  LayerSpec spec_;
};

// Those without a name are called by their kind and a number that is free.
void name_layers(std::vector<LayerSpec>& layers) {
  std::set<std::string> taken;
  for (const auto& layer : layers) {
    taken.insert(layer.name);
  }
  std::map<std::string, std::size_t> counted;  // by kind
  for (auto& layer : layers) {
    const auto kind = name_of(layer.layer);
    while (layer.name.empty()) {
      const auto name = numbered_name(kind, ++counted[kind]);
      if (taken.insert(name).second) {
        layer.name = name;
      }
    }
  }
}

std::string settings_text(const LayerSpec& spec) {
  LayerSpec copy = spec;
  std::string text;
  for (const auto& key : kind_of(copy).settings(copy)) {
    text += (text.empty() ? "" : ", ") + key.path + ": " + value_text(key);
  }
  return "{" + text + "}";
}

std::string entry_text(const LayerSpec& spec) {
  std::string text = "{" + name_of(spec.layer) + ": " + settings_text(spec) + ", name: " + yaml_quoted(spec.name);
  if (!spec.from.empty()) {
    std::string names;
    for (const auto& name : spec.from) {
      names += (names.empty() ? "" : ", ") + yaml_quoted(name);
    }
    text += ", from: [" + names + "]";
  }
  return text + (spec.tied_to.empty() ? "" : ", tied_to: " + yaml_quoted(spec.tied_to)) + "}";
}

}  // namespace

std::vector<LayerSpec> read_layers(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::list || node.items.empty() || node.items.size() > kMaxLayers) {
    throw Unfit{"a list of 1 to " + std::to_string(kMaxLayers) + " layers is needed; e.g. [relu, linear: 10]"};
  }
  std::vector<LayerSpec> layers;
  Unfits unfits;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    Entry entry(node.items[i]);
    layers.push_back(entry.read());
    for (auto& mistake : entry.mistakes) {
      mistake.line = mistake.line == 0 ? node.items[i].line : mistake.line;
      mistake.within = layer_path(i, layers.back().name).substr(std::string_view("model.layers").size());
      unfits.all.push_back(std::move(mistake));
    }
  }
  if (!unfits.all.empty()) {
    throw unfits;
  }
  name_layers(layers);
  return layers;
}

std::string layers_text(const std::vector<LayerSpec>& layers, std::string_view separator) {
  std::string text;
  for (const auto& layer : layers) {
    text += text.empty() ? "" : separator;
    text += entry_text(layer);
  }
  return "[" + text + "]";
}

std::string layer_path(std::size_t index, const std::string& name) {
  return "model.layers[" + std::to_string(index) + "]" + (name.empty() ? "" : " '" + name + "'");
}

}  // namespace ballast
