// Writes a network down, layer by layer, inferring shapes and declaring parameters.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/network/graph.h"

namespace ballast {

// Every layer throws std::invalid_argument naming it, what does not fit and the shapes. Not thread-safe.
class GraphBuilder {
 public:
  class Value {
   public:
    bool operator==(const Value&) const = default;

   private:
    friend class GraphBuilder;
    explicit Value(ValueId id) : id_(id) {}
    ValueId id_;
  };

  explicit GraphBuilder(const ExampleShape& example);

  [[nodiscard]] Value example() const { return Value(kExample); }
  // Of one example of the longest length.
  [[nodiscard]] const Shape& shape(Value value) const;
  [[nodiscard]] const ExampleShape& example_shape() const { return graph_.example; }

  // Appends a layer with a name of its own and declares its parameters. `tied_to` names an earlier layer whose weight
  // it uses for its own (Linear and Embedding; the weights must have one shape).
  Value add(const std::string& name, Layer layer, const std::vector<Value>& inputs, const std::string& tied_to = "");

  // Layers without parameters are named by kind and number: numbered_name().
  Value add(Layer layer, const std::vector<Value>& inputs);

  Value conv2d(Value x, const std::string& name, const Conv2d& conv) { return add(name, conv, {x}); }
  Value linear(Value x, const std::string& name, const Linear& linear) { return add(name, linear, {x}); }
  Value batch_norm(Value x, const std::string& name, const BatchNorm& norm = {}) { return add(name, norm, {x}); }
  Value relu(Value x) { return add(Activation{Activation::Kind::relu}, {x}); }
  Value max_pool2d(Value x, const MaxPool2d& pool) { return add(pool, {x}); }
  Value sum(Value a, Value b) { return add(Add{}, {a, b}); }

  // The end: what is predicted, and how it is judged. Every layer must have a reader.
  Graph finish(Value prediction, Loss loss) &&;

 private:
  void declare(NamedLayer& layer, const std::vector<Shape>& inputs, const std::string& tied_to);
  [[nodiscard]] std::vector<Shape> shapes_of(const std::vector<Value>& values) const;
  void check_uses(Value prediction) const;
  [[nodiscard]] const NamedLayer& layer_named(const std::string& name) const;

  Graph graph_;
  Shape example_;
  std::map<std::string, std::size_t> by_name_;  // by name
  std::map<std::string, std::size_t> counted_;  // layers without a name of their own, by kind
};

}  // namespace ballast
