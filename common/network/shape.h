// The shape of an activation, and the examples that it begins with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ballast {

// Of an activation: examples, steps of a sequence, channels, height, width, in this order, row-major. What is no
// sequence has one step; a vector of features has height and width 1. A *row* is one step of one example.
struct Shape {
  std::uint32_t n = 0;
  std::uint32_t c = 0;
  std::uint32_t h = 1;
  std::uint32_t w = 1;
  std::uint32_t steps = 1;

  [[nodiscard]] std::size_t features() const { return std::size_t{c} * h * w; }  // of a row
  [[nodiscard]] std::size_t rows() const { return std::size_t{n} * steps; }
  [[nodiscard]] std::size_t elements() const { return rows() * features(); }
  bool operator==(const Shape&) const = default;
};

// For messages: "16 x 6 x 14 x 14"; of a sequence "16 x 20 steps x 64".
std::string to_string(const Shape& shape);
// The same without the number of examples: "6 x 14 x 14", "20 steps x 64", "120".
std::string example_text(const Shape& shape);

// What the labels of examples are.
enum class Labels : std::uint8_t {
  classes,  // one class of each example
  several,  // any number of classes of each example: a 0 or 1 for each
  numbers,  // numbers to be predicted
  steps,    // one class of each step of a sequence; some steps may have none
};

// The shape of one example and of its label.
struct ExampleShape {
  std::uint32_t channels = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::uint32_t classes = 0;     // or how many numbers are to be predicted
  std::uint32_t vocabulary = 0;  // examples are sequences of tokens below it; 0: of floats
  std::uint32_t steps = 0;       // of the longest sequence; 0: no sequence
  bool same_length = true;       // all sequences have `steps` steps
  bool trees = false;            // each step is a node of a binary tree: children before parents, the root last
  Labels labels = Labels::classes;

  // Floats of one example of its full length: 0 for tokens.
  [[nodiscard]] std::size_t features() const {
    return vocabulary > 0 ? 0 : std::size_t{channels} * height * width * (steps == 0 ? 1 : steps);
  }
  bool operator==(const ExampleShape&) const = default;
};

}  // namespace ballast
