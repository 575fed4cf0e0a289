#include "worker/compute/tree_levels.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ballast {
namespace {

[[noreturn]] void refuse(std::size_t node, const std::string& what) {
  throw std::invalid_argument("node " + std::to_string(node) + " of a tree " + what + "; check the data set");
}

}  // namespace

TreeLevels::TreeLevels(const Shape& shape)
    : examples_(shape.n),
      steps_(shape.steps),
      levels_(shape.rows()),
      places_(shape.rows()),
      has_parent_(shape.rows()),
      lefts_(shape.rows()),
      rights_(shape.rows()) {
  nodes_.reserve(shape.rows());
  begins_.reserve(shape.steps + 2);
}

void TreeLevels::arrange(const Batch& batch) {
  if (batch.children.size() != 2 * levels_.size()) {
    throw std::invalid_argument("a tree LSTM needs examples that are trees");
  }
  measure_levels(batch);
  nodes_.clear();
  begins_.assign(1, 0);
  std::size_t all = 0;
  for (std::size_t example = 0; example < examples_; ++example) {
    all += length_of(batch, example, steps_);
  }
  for (std::uint32_t level = 0; nodes_.size() < all; ++level) {
    for (std::size_t row = 0; row < levels_.size(); ++row) {
      const bool is_node = row % steps_ < length_of(batch, row / steps_, steps_);
      if (is_node && levels_[row] == level) {
        places_[row] = static_cast<std::uint32_t>(nodes_.size());
        if (level > 0) {
          const auto first = row - row % steps_;
          lefts_[nodes_.size()] = places_[first + static_cast<std::size_t>(batch.children[2 * row])];
          rights_[nodes_.size()] = places_[first + static_cast<std::size_t>(batch.children[2 * row + 1])];
        }
        nodes_.push_back(row);
      }
    }
    begins_.push_back(nodes_.size());
  }
}

void TreeLevels::measure_levels(const Batch& batch) {
  has_parent_.assign(has_parent_.size(), false);
  for (std::size_t example = 0; example < examples_; ++example) {
    const auto length = length_of(batch, example, steps_);
    const auto first = example * steps_;
    for (std::size_t node = 0; node < length; ++node) {
      const auto left = batch.children[2 * (first + node)];
      const auto right = batch.children[2 * (first + node) + 1];
      if (left == -1 && right == -1) {
        levels_[first + node] = 0;
        continue;
      }
      const auto own = static_cast<std::int64_t>(node);
      if (left < 0 || right < 0 || left >= own || right >= own) {
        refuse(node, "has children " + std::to_string(left) + " and " + std::to_string(right) +
                         ", which do not stand before it");
      }
      const auto left_row = first + static_cast<std::size_t>(left);
      const auto right_row = first + static_cast<std::size_t>(right);
      claim(left_row);
      claim(right_row);
      levels_[first + node] = 1 + std::max(levels_[left_row], levels_[right_row]);
    }
  }
}

void TreeLevels::claim(std::size_t child) {
  if (has_parent_[child]) {
    refuse(child % steps_, "is a child of two nodes");
  }
  has_parent_[child] = true;
}

}  // namespace ballast
