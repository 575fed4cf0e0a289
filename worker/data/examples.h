// Examples side by side, as models are given them.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/compute/batch.h"
#include "worker/data/dataset.h"

namespace ballast {

// The number of steps that sequences are padded to, of which the longest has `length`: of 8, 12, 16, 24, 32, 48, ...
// (powers of two and their 1.5-folds from 8 on) the first that is enough, but never more than `longest`, the data's
// longest. So few sizes are prepared, and at most half of the longest sequence is padding, beyond 8 steps.
std::uint32_t padded_steps(std::uint32_t length, std::uint32_t longest);

// Owns one slot's examples, or some that are evaluated; batch() is a view of them. Each example has its room from the
// beginning, for its full length: rooms may be filled in any order and by any threads, then pad() is called once. Where
// all sequences are equally long, there is nothing to pad.
struct SlotExamples {
  SlotExamples() = default;
  SlotExamples(const ExampleShape& shape, std::uint32_t count);

  // Of an example below `count`; before pad().
  [[nodiscard]] ExampleRoom room(std::uint32_t example);
  // Drops all examples but the first `examples`; before pad().
  void keep_first(std::uint32_t examples);
  // Sequences become as long as padded_steps() says for the longest of them, a function of these examples alone. Steps
  // behind a sequence's end get features and tokens 0, children and labels -1.
  void pad();

  [[nodiscard]] Batch batch() const;

  std::uint32_t count = 0;
  std::uint32_t steps = 1;      // of each example's room
  std::vector<float> features;  // as in Batch, all of these
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> children;
  std::vector<std::uint32_t> lengths;
  std::vector<std::int32_t> labels;
  std::vector<float> targets;
  bool has_step_labels = false;
};

// Examples [begin, begin + count) of a split, padded.
SlotExamples read_examples(const Dataset& dataset, DataSplit split, std::uint32_t begin, std::uint32_t count);

}  // namespace ballast
