#include "common/job/own_layers.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/job/layer_kinds.h"
#include "common/job/layer_list.h"
#include "common/job/words.h"
#include "common/network/graph_builder.h"
#include "common/network/infer.h"

namespace ballast {
namespace {

using Value = GraphBuilder::Value;

// Without the layer's name, which stands before it already.
std::string without_name(const std::string& text) {
  const auto colon = text.find(": ");
  return text.starts_with("layer ") && colon != std::string::npos ? text.substr(colon + 2) : text;
}

class OwnNetwork {
 public:
  OwnNetwork(const ModelSpec& model, const ExampleShape& example)
      : model_(model), net_(example), last_(net_.example()) {
    values_.emplace(kExampleName, net_.example());
  }

  Graph build() && {
    if (model_.layers.empty()) {
      throw ModelMisfit("model.layers", "no layer is named; a network has at least one");
    }
    for (std::size_t i = 0; i < model_.layers.size(); ++i) {
      at(i, [&] { append(model_.layers[i]); });
    }
    for (std::size_t i = 0; i + 1 < model_.layers.size(); ++i) {
      at(i, [&] { require_reader(model_.layers[i].name); });
    }
    Graph graph;
    const auto loss = end();
    at(model_.layers.size() - 1, [&] { graph = std::move(net_).finish(last_, loss); });
    return graph;
  }

 private:
  template <class Work>
  void at(std::size_t index, const Work& work) const {
    try {
      work();
    } catch (const std::invalid_argument& error) {
      throw LayerMisfit(index, model_.layers[index].name, without_name(error.what()));
    }
  }

  void append(const LayerSpec& spec) {
    if (values_.contains(spec.name)) {
      throw std::invalid_argument("there is another layer of this name");
    }
    const auto inputs = inputs_of(spec);
    added_ += spec.stacked;
    if (added_ > kMaxNetworkLayers) {
      throw std::invalid_argument("the network has more than " + std::to_string(kMaxNetworkLayers) + " layers");
    }
    if (spec.stacked == 1) {
      last_ = net_.add(spec.name, spec.layer, inputs, tied_layer(spec));
    } else {
      last_ = net_.add(spec.name + ".0", spec.layer, inputs);
      for (std::uint32_t i = 1; i < spec.stacked; ++i) {
        last_ = net_.add(spec.name + "." + std::to_string(i), spec.layer, {last_});
      }
    }
    values_.emplace(spec.name, last_);
    last_name_ = spec.name;
  }

  std::vector<Value> inputs_of(const LayerSpec& spec) {
    if (spec.from.empty()) {
      read_.insert(last_name_);
      return {last_};
    }
    std::vector<Value> inputs;
    for (const auto& name : spec.from) {
      inputs.push_back(value_named(name));
      read_.insert(name);
    }
    return inputs;
  }

  [[nodiscard]] Value value_named(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) {
      throw std::invalid_argument("from: " + unknown(name));
    }
    return found->second;
  }

  [[nodiscard]] std::string tied_layer(const LayerSpec& spec) const {
    if (!spec.tied_to.empty() && !values_.contains(spec.tied_to)) {
      throw std::invalid_argument("tied_to: " + unknown(spec.tied_to));
    }
    return spec.tied_to;
  }

  [[nodiscard]] std::string unknown(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& [known, value] : values_) {
      names.push_back(known);
    }
    const auto meant = nearest(name, names);
    return "there is no layer " + shown(name) + " before it" + (meant.empty() ? "" : "; did you mean '" + meant + "'?");
  }

  // The gradient of what nobody reads would be nothing.
  void require_reader(const std::string& name) const {
    if (!read_.contains(name)) {
      throw std::invalid_argument("nothing reads its output of " + example_text(net_.shape(values_.at(name))) +
                                  "; name it in the `from` of a later layer, or remove it");
    }
  }

  [[nodiscard]] Loss end() const {
    const auto usual = usual_loss(net_.example_shape().labels);
    if (model_.loss == "squared_error_of_input") {
      return SquaredError{.of_input = true};
    }
    if (!model_.loss.empty() && model_.loss != name_of(usual)) {
      throw ModelMisfit("model.loss", "'" + model_.loss + "' does not fit the data's labels; choose " + name_of(usual) +
                                          ", or squared_error_of_input, which needs none");
    }
    return usual;
  }

  const ModelSpec& model_;
  GraphBuilder net_;
  Value last_;
  std::string last_name_ = kExampleName;
  std::map<std::string, Value> values_;  // by name
  std::set<std::string> read_;           // names that some layer reads
  std::size_t added_ = 0;                // layers of the network
};

}  // namespace

LayerMisfit::LayerMisfit(std::size_t index, const std::string& name, const std::string& text)
    : ModelMisfit(layer_path(index, name), text), index_(index) {}

Graph own_layers(const ModelSpec& model, const ExampleShape& example) { return OwnNetwork(model, example).build(); }

}  // namespace ballast
