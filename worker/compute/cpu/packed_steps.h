// The steps of a batch of sequences without their padding: step by step, in each the examples that are still going on,
// longest first. So each step is a block of rows that begins like the step before, and products take no row too much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/network/shape.h"
#include "worker/compute/batch.h"

namespace ballast::cpu {

class PackedSteps {
 public:
  // For values of so many examples and steps.
  explicit PackedSteps(const Shape& shape);

  // Takes over the lengths of a batch.
  void pack(const Batch& batch);

  [[nodiscard]] std::size_t rows() const { return begins_[steps_]; }                 // of all packed steps
  [[nodiscard]] std::size_t steps() const { return steps_; }                         // of the longest example
  [[nodiscard]] std::size_t begin(std::size_t step) const { return begins_[step]; }  // the step's first row
  [[nodiscard]] std::size_t count(std::size_t step) const { return begins_[step + 1] - begins_[step]; }

  // Columns of a matrix of all rows, padding included, of `stride` floats each.
  void gather(const float* from, std::size_t stride, std::size_t columns, float* packed, std::uint32_t threads) const;
  // The other way; rows of padding become 0.
  void scatter(const float* packed, std::size_t columns, float* to, std::size_t stride, std::uint32_t threads) const;

 private:
  std::size_t examples_;
  std::size_t most_steps_;
  std::size_t steps_ = 0;
  std::vector<std::size_t> lengths_;  // by example
  std::vector<std::size_t> order_;    // examples, longest first
  std::vector<std::size_t> begins_;   // by step, and the end
};

}  // namespace ballast::cpu
