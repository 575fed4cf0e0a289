#include "worker/data/examples.h"

#include <algorithm>
#include <cstddef>

namespace ballast {
namespace {

// Of one example in a vector that has as much of each.
template <typename Value>
std::span<Value> part(std::vector<Value>& values, std::uint32_t count, std::uint32_t example) {
  const std::size_t size = values.size() / count;
  return std::span(values).subspan(example * size, size);
}

// Cuts each sequence's room down from `before` to `after` steps; what lies behind its length becomes `padding`.
template <typename Value>
void cut_rooms(std::vector<Value>& values, const std::vector<std::uint32_t>& lengths, std::uint32_t before,
               std::uint32_t after, Value padding) {
  const std::size_t step = values.size() / lengths.size() / before;  // values of one step
  for (std::size_t example = 0; example < lengths.size(); ++example) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(example * before * step);
    const auto to = values.begin() + static_cast<std::ptrdiff_t>(example * after * step);
    const auto kept = static_cast<std::ptrdiff_t>(lengths[example] * step);
    std::copy(from, from + kept, to);  // forwards: `to` is never behind `from`
    std::fill(to + kept, to + static_cast<std::ptrdiff_t>(after * step), padding);
  }
  values.resize(lengths.size() * after * step);
}

}  // namespace

std::uint32_t padded_steps(std::uint32_t length, std::uint32_t longest) {
  constexpr std::uint64_t kShortest = 8;
  std::uint64_t steps = kShortest;
  while (steps < length) {
    const bool is_power_of_two = (steps & (steps - 1)) == 0;
    steps += is_power_of_two ? steps / 2 : steps / 3;
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(steps, longest));
}

SlotExamples::SlotExamples(const ExampleShape& shape, std::uint32_t examples)
    : count(examples), steps(std::max(shape.steps, 1U)), has_step_labels(shape.labels == Labels::steps) {
  const std::size_t rows = std::size_t{count} * steps;
  const bool has_targets = shape.labels == Labels::several || shape.labels == Labels::numbers;
  features.resize(count * shape.features());
  tokens.resize(shape.vocabulary > 0 ? rows : 0);
  children.resize(shape.trees ? 2 * rows : 0);
  lengths.resize(shape.same_length ? 0 : count, steps);
  labels.resize(has_targets ? 0 : has_step_labels ? rows : count);
  targets.resize(has_targets ? std::size_t{count} * shape.classes : 0);
}

ExampleRoom SlotExamples::room(std::uint32_t example) {
  return {part(features, count, example), part(tokens, count, example), part(children, count, example),
          part(lengths, count, example),  part(labels, count, example), part(targets, count, example)};
}

void SlotExamples::keep_first(std::uint32_t examples) {
  const auto cut = [&](auto& values) { values.resize(values.size() / count * examples); };
  cut(features);
  cut(tokens);
  cut(children);
  cut(lengths);
  cut(labels);
  cut(targets);
  count = examples;
}

void SlotExamples::pad() {
  if (lengths.empty()) {
    return;
  }
  const auto before = steps;
  steps = padded_steps(std::ranges::max(lengths), before);
  cut_rooms(features, lengths, before, steps, 0.0F);
  cut_rooms(tokens, lengths, before, steps, 0);
  cut_rooms(children, lengths, before, steps, -1);
  if (has_step_labels) {
    cut_rooms(labels, lengths, before, steps, -1);
  }
}

Batch SlotExamples::batch() const { return {count, features, labels, targets, tokens, lengths, children, steps}; }

SlotExamples read_examples(const Dataset& dataset, DataSplit split, std::uint32_t begin, std::uint32_t count) {
  SlotExamples examples(dataset.shape(), count);
  for (std::uint32_t i = 0; i < count; ++i) {
    dataset.read(split, begin + i, examples.room(i));
  }
  examples.pad();
  return examples;
}

}  // namespace ballast
