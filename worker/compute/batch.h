// Examples and their labels, as models are given them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ballast {

// One slot's examples, or some that are evaluated. What examples of the kind do not have is empty. Sequences are padded
// to `steps` steps, with what nobody reads.
struct Batch {
  std::uint32_t count = 0;                      // examples; may be 0: an empty slot
  std::span<const float> features = {};         // of each row, NCHW
  std::span<const std::int32_t> labels = {};    // count, or count x steps; -1: a step that is not labelled
  std::span<const float> targets = {};          // count x outputs: of Labels::several and Labels::numbers
  std::span<const std::int32_t> tokens = {};    // count x steps
  std::span<const std::uint32_t> lengths = {};  // count, 1 to steps; empty: all have `steps`
  std::span<const std::int32_t> children = {};  // count x steps x 2: of trees, steps before it; -1, -1: a leaf
  std::uint32_t steps = 1;
};

// How many steps of a value that has `steps` are an example's own.
inline std::size_t length_of(const Batch& batch, std::size_t example, std::size_t steps) {
  return batch.lengths.empty() ? steps : std::min<std::size_t>(batch.lengths[example], steps);
}

// Examples [begin, begin + count) of a batch, which has as many.
inline Batch part_of(const Batch& batch, std::uint32_t begin, std::uint32_t count) {
  const auto part = [&](auto values) {
    const auto size = batch.count == 0 ? 0 : values.size() / batch.count;  // of one example
    return values.subspan(begin * size, count * size);
  };
  return {count,
          part(batch.features),
          part(batch.labels),
          part(batch.targets),
          part(batch.tokens),
          part(batch.lengths),
          part(batch.children),
          batch.steps};
}

}  // namespace ballast
