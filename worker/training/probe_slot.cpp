#include "worker/training/probe_slot.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "common/numeric/philox.h"

namespace ballast {
namespace {

enum class Drawn : std::uint32_t { features, tokens, lengths, trees, targets };

RandomStream stream(std::uint64_t seed, Drawn what, std::uint64_t example = 0) {
  return RandomStream({seed, Purpose::probe, example, static_cast<std::uint32_t>(what)});
}

// A whole binary tree has an odd number of nodes.
std::uint32_t draw_length(const ExampleShape& shape, const RandomStream& random, std::uint32_t example) {
  const auto length = example == 0 ? shape.steps : 1 + random.bounded(example, shape.steps);
  return shape.trees && length % 2 == 0 ? length - 1 : length;
}

// Nodes in post-order: a leaf is shifted onto a stack, a node reduces the two on its top.
void draw_tree(const RandomStream& random, std::uint32_t nodes, std::span<std::int32_t> children) {
  std::vector<std::int32_t> stack;
  std::uint32_t leaves = (nodes + 1) / 2;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const bool reduces = stack.size() > 1 && (leaves == 0 || random.bounded(node, 2) == 1);
    children[2 * node] = reduces ? stack[stack.size() - 2] : -1;
    children[2 * node + 1] = reduces ? stack.back() : -1;
    stack.resize(stack.size() - (reduces ? 2 : 0));
    stack.push_back(static_cast<std::int32_t>(node));
    leaves -= reduces ? 0 : 1;
  }
}

void draw_steps(const ExampleShape& shape, std::uint64_t seed, SlotExamples& slot) {
  const auto random = stream(seed, Drawn::lengths);
  for (std::uint32_t i = 0; i < slot.lengths.size(); ++i) {
    slot.lengths[i] = draw_length(shape, random, i);
    if (shape.trees) {
      draw_tree(stream(seed, Drawn::trees, i), slot.lengths[i], slot.room(i).children);
    }
  }
  const auto tokens = stream(seed, Drawn::tokens);
  for (std::size_t i = 0; i < slot.tokens.size(); ++i) {
    slot.tokens[i] = static_cast<std::int32_t>(tokens.bounded(i, shape.vocabulary));
  }
}

}  // namespace

SlotExamples probe_slot(const ExampleShape& shape, std::uint32_t examples, std::uint64_t seed) {
  SlotExamples slot(shape, examples);
  const auto features = stream(seed, Drawn::features);
  for (std::size_t i = 0; i < slot.features.size(); ++i) {
    slot.features[i] = features.uniform(i);
  }
  draw_steps(shape, seed, slot);
  for (std::size_t i = 0; i < slot.labels.size(); ++i) {
    slot.labels[i] = static_cast<std::int32_t>(i % std::max(shape.classes, 1U));
  }
  const auto targets = stream(seed, Drawn::targets);
  for (std::size_t i = 0; i < slot.targets.size(); ++i) {
    slot.targets[i] = shape.labels == Labels::several ? static_cast<float>(targets.bounded(i, 2)) : targets.uniform(i);
  }
  slot.pad();
  return slot;
}

}  // namespace ballast
