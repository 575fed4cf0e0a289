#include "cli/before/shapes.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "common/network/infer.h"

namespace ballast {
namespace {

constexpr std::size_t kColumns = 6;
constexpr std::size_t kFirstNumber = 4;  // columns from here on are numbers, which end alike
using Row = std::array<std::string, kColumns>;

// With a comma behind each thousand.
std::string grouped(std::uint64_t number) {
  auto text = std::to_string(number);
  for (std::size_t place = text.size(); place > 3; place -= 3) {
    text.insert(place - 3, ",");
  }
  return text;
}

Shape example_of(const Graph& graph) {
  const auto& example = graph.example;
  const auto steps = std::max(example.steps, 1U);
  return example.vocabulary > 0 ? Shape{1, 1, 1, 1, steps}
                                : Shape{1, example.channels, example.height, example.width, steps};
}

std::string text_of_example(const Graph& graph) {
  return graph.example.vocabulary > 0 ? std::to_string(graph.example.steps) + " steps of tokens"
                                      : example_text(example_of(graph));
}

class Table {
 public:
  explicit Table(const Graph& graph) : graph_(graph) {
    rows_.push_back({"layer", "kind", "reads", "output", "parameters", "multiplications"});
    rows_.push_back({"example", "", "", text_of_example(graph), "", ""});
    for (const NamedLayer& layer : graph.layers) {
      append(layer);
    }
    rows_.push_back({"sum", "", "", "", grouped(trained_), grouped(products_)});
    for (const Row& row : rows_) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        widths_[column] = std::max(widths_[column], row[column].size());
      }
    }
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const Row& row : rows_) {
      text += line(row);
    }
    return state_ == 0 ? text : text + "and " + grouped(state_) + " floats of running statistics\n";
  }

 private:
  void append(const NamedLayer& layer) {
    std::uint64_t own = 0;
    for (const auto index : layer.parameters) {
      const Parameter& parameter = graph_.parameters[index];
      if (!counted_.insert(index).second) {
        continue;
      }
      (is_descended(parameter.group) ? own : state_) += parameter.elements();
    }
    std::string names;
    std::vector<Shape> shapes;
    for (const ValueId input : layer.inputs) {
      names += (names.empty() ? "" : ", ") + (input == kExample ? "example" : graph_.layers[input - 1].name);
      shapes.push_back(input == kExample ? example_of(graph_) : graph_.layers[input - 1].output);
    }
    const auto products = multiplications(layer.layer, shapes);
    trained_ += own;
    products_ += products;
    rows_.push_back({layer.name, name_of(layer.layer), names, example_text(layer.output), own == 0 ? "" : grouped(own),
                     products == 0 ? "" : grouped(products)});
  }

  [[nodiscard]] std::string line(const Row& row) const {
    std::string text;
    for (std::size_t column = 0; column < kColumns; ++column) {
      const std::string blanks(widths_[column] - row[column].size(), ' ');
      text += (column == 0 ? "" : "  ") + (column < kFirstNumber ? row[column] + blanks : blanks + row[column]);
    }
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }

  const Graph& graph_;
  std::vector<Row> rows_;
  std::array<std::size_t, kColumns> widths_{};
  std::set<std::size_t> counted_;  // parameters
  std::uint64_t trained_ = 0;
  std::uint64_t state_ = 0;
  std::uint64_t products_ = 0;
};

}  // namespace

std::string shapes_text(const Graph& graph) { return Table(graph).text(); }

}  // namespace ballast
