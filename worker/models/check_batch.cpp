#include "worker/models/check_batch.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ballast {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

void check_count(const Batch& batch, const char* what, std::size_t given, std::size_t needed) {
  if (given != needed) {
    refuse("a batch of " + std::to_string(batch.count) + " examples brings " + std::to_string(given) + " " + what +
           "; " + std::to_string(needed) + " are needed");
  }
}

std::size_t rows_of(const Batch& batch) { return std::size_t{batch.count} * batch.steps; }

std::size_t labels_of(const Batch& batch, const ExampleShape& shape) {
  switch (shape.labels) {
    case Labels::classes:
      return batch.count;
    case Labels::steps:
      return rows_of(batch);
    default:
      return 0;
  }
}

std::size_t targets_of(const Batch& batch, const ExampleShape& shape) {
  const bool has_targets = shape.labels == Labels::several || shape.labels == Labels::numbers;
  return has_targets ? std::size_t{batch.count} * shape.classes : 0;
}

void check_steps(const Batch& batch, const ExampleShape& shape) {
  const auto longest = std::max(shape.steps, 1U);
  if (batch.steps == 0 || batch.steps > longest || (shape.same_length && batch.steps != longest)) {
    refuse("a batch's sequences are padded to " + std::to_string(batch.steps) + " steps, the data's have " +
           (shape.same_length ? "" : "at most ") + std::to_string(longest));
  }
  for (const auto length : batch.lengths) {
    if (length == 0 || length > batch.steps) {
      refuse("a sequence of " + std::to_string(length) + " steps in a batch padded to " + std::to_string(batch.steps));
    }
  }
}

void check_tokens(const Batch& batch, const ExampleShape& shape) {
  for (const auto token : batch.tokens) {
    if (token < 0 || static_cast<std::uint32_t>(token) >= shape.vocabulary) {
      refuse("token " + std::to_string(token) + " is not in the vocabulary of " + std::to_string(shape.vocabulary) +
             "; check the data set");
    }
  }
}

// Children stand before their parents, so every order of levels ends.
void check_children(const Batch& batch) {
  for (std::size_t node = 0; 2 * node < batch.children.size(); ++node) {
    const auto left = batch.children[2 * node];
    const auto right = batch.children[2 * node + 1];
    const auto place = static_cast<std::int32_t>(node % batch.steps);
    const bool is_leaf = left == -1 && right == -1;
    if (!is_leaf && (left < 0 || right < 0 || left >= place || right >= place)) {
      refuse("node " + std::to_string(place) + " of a tree has children " + std::to_string(left) + " and " +
             std::to_string(right) + ", which do not stand before it");
    }
  }
}

}  // namespace

void check_batch(const Batch& batch, const ExampleShape& shape) {
  const bool has_tokens = shape.vocabulary > 0;
  const auto row = std::size_t{shape.channels} * shape.height * shape.width;
  check_steps(batch, shape);
  check_count(batch, "floats", batch.features.size(), has_tokens ? 0 : rows_of(batch) * row);
  check_count(batch, "tokens", batch.tokens.size(), has_tokens ? rows_of(batch) : 0);
  check_count(batch, "lengths", batch.lengths.size(), shape.same_length ? 0 : batch.count);
  check_count(batch, "children", batch.children.size(), shape.trees ? 2 * rows_of(batch) : 0);
  check_count(batch, "labels", batch.labels.size(), labels_of(batch, shape));
  check_count(batch, "targets", batch.targets.size(), targets_of(batch, shape));
  check_tokens(batch, shape);
  check_children(batch);
}

AnyLabels::AnyLabels(const Batch& batch, const ExampleShape& shape)
    : batch_(batch), labels_(labels_of(batch, shape)), targets_(targets_of(batch, shape)) {}

Batch AnyLabels::batch() const {
  Batch labelled = batch_;
  labelled.labels = labels_;
  labelled.targets = targets_;
  return labelled;
}

}  // namespace ballast
