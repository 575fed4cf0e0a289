// The nodes of a batch of binary trees, level by level: leaves first, then the nodes all of whose children are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/network/shape.h"
#include "worker/compute/batch.h"

namespace ballast {

class TreeLevels {
 public:
  // For values of so many examples and steps.
  explicit TreeLevels(const Shape& shape);

  // Takes over the trees of a batch. Throws std::invalid_argument if they are none, or a node is a child of two.
  void arrange(const Batch& batch);

  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }
  [[nodiscard]] std::size_t leaves() const { return end_of(0); }
  // Of the last level; 0 if all are leaves. Level 0 has the leaves.
  [[nodiscard]] std::size_t highest() const { return begins_.size() - 2; }
  [[nodiscard]] std::size_t begin_of(std::size_t level) const { return begins_[level]; }
  [[nodiscard]] std::size_t end_of(std::size_t level) const { return begins_[level + 1]; }

  // By place in the order of levels: the row, and, from the first inner node on, the places of the children.
  [[nodiscard]] std::size_t row(std::size_t place) const { return nodes_[place]; }
  [[nodiscard]] const std::uint32_t* lefts() const { return lefts_.data(); }
  [[nodiscard]] const std::uint32_t* rights() const { return rights_.data(); }

 private:
  void measure_levels(const Batch& batch);
  void claim(std::size_t child);

  std::size_t examples_;
  std::size_t steps_;
  std::vector<std::uint32_t> levels_;  // by row; only of nodes
  std::vector<std::uint32_t> places_;  // by row; only of nodes
  std::vector<bool> has_parent_;       // by row
  std::vector<std::size_t> nodes_;
  std::vector<std::size_t> begins_;  // by level, and the end
  std::vector<std::uint32_t> lefts_;
  std::vector<std::uint32_t> rights_;
};

}  // namespace ballast
