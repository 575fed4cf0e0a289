// Drawn examples of any kind that a data set may have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/network/shape.h"
#include "tests/numeric/draw.h"
#include "worker/compute/batch.h"

namespace ballast {

struct Examples {
  std::uint32_t count = 0;
  std::uint32_t steps = 1;
  std::vector<float> features;
  std::vector<std::int32_t> labels;
  std::vector<float> targets;
  std::vector<std::int32_t> tokens;
  std::vector<std::uint32_t> lengths;
  std::vector<std::int32_t> children;

  [[nodiscard]] Batch batch() const { return {count, features, labels, targets, tokens, lengths, children, steps}; }
};

// The children of each node of a binary tree, in post-order: of the `nodes` first, an odd number; leaves behind them.
inline void draw_tree(Draw& draw, std::uint32_t nodes, std::span<std::int32_t> children) {
  std::ranges::fill(children, -1);
  std::vector<std::int32_t> roots;  // of the trees that are not joined yet
  std::uint32_t leaves = 0;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const bool may_join = roots.size() >= 2;
    const bool must_join = leaves == (nodes + 1) / 2;
    if (must_join || (may_join && draw.between(0, 1) == 1)) {
      children[2 * node + 1] = roots.back();
      roots.pop_back();
      children[2 * node] = roots.back();
      roots.back() = static_cast<std::int32_t>(node);
    } else {
      roots.push_back(static_cast<std::int32_t>(node));
      ++leaves;
    }
  }
}

inline std::vector<std::uint32_t> draw_lengths(Draw& draw, const ExampleShape& shape, std::uint32_t count) {
  std::vector<std::uint32_t> lengths(shape.same_length ? 0 : count);
  std::ranges::generate(lengths, [&] {
    const auto length = draw.between(1, shape.steps);
    return shape.trees && length % 2 == 0 ? length - 1 : length;
  });
  return lengths;
}

inline void draw_labels(Draw& draw, const ExampleShape& shape, Examples& examples) {
  if (shape.labels == Labels::classes) {
    examples.labels = draw.labels(examples.count, shape.classes);
  } else if (shape.labels == Labels::steps) {
    examples.labels = draw.labels(std::size_t{examples.count} * examples.steps, shape.classes);
    for (std::size_t i = 0; i < examples.labels.size(); ++i) {
      const auto length = examples.lengths.empty() ? examples.steps : examples.lengths[i / examples.steps];
      examples.labels[i] = i % examples.steps < length ? examples.labels[i] : -1;
    }
  } else if (shape.labels == Labels::several) {
    examples.targets = draw.whole_values<float>(std::size_t{examples.count} * shape.classes, 1);
  } else {
    examples.targets = draw.values<float>(std::size_t{examples.count} * shape.classes);
  }
}

inline Examples draw_examples(const ExampleShape& shape, std::uint32_t count, std::uint64_t seed) {
  Draw draw(seed);
  Examples examples;
  examples.count = count;
  examples.steps = std::max(shape.steps, 1U);
  examples.features = draw.values<float>(count * shape.features());
  if (shape.vocabulary > 0) {
    examples.tokens = draw.labels(std::size_t{count} * examples.steps, shape.vocabulary);
  }
  examples.lengths = draw_lengths(draw, shape, count);
  if (shape.trees) {
    examples.children.resize(std::size_t{count} * examples.steps * 2);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto nodes = examples.lengths.empty() ? examples.steps : examples.lengths[i];
      draw_tree(draw, nodes,
                std::span(examples.children).subspan(std::size_t{i} * examples.steps * 2, 2 * examples.steps));
    }
  }
  draw_labels(draw, shape, examples);
  return examples;
}

}  // namespace ballast
