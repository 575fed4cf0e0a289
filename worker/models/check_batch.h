// Whether a batch brings what a network reads.
#pragma once

#include <cstdint>
#include <vector>

#include "common/network/shape.h"
#include "worker/compute/batch.h"

namespace ballast {

// Throws std::invalid_argument naming what is missing or too much, and tokens, lengths and children that cannot be.
void check_batch(const Batch& batch, const ExampleShape& shape);

// A batch with labels that every loss takes, in place of its own. `batch` must outlive it.
class AnyLabels {
 public:
  AnyLabels(const Batch& batch, const ExampleShape& shape);

  [[nodiscard]] Batch batch() const;

 private:
  Batch batch_;
  std::vector<std::int32_t> labels_;
  std::vector<float> targets_;
};

}  // namespace ballast
