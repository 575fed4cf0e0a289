#include "worker/compute/cpu/packed_steps.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "worker/compute/cpu/vectors.h"

namespace ballast::cpu {

PackedSteps::PackedSteps(const Shape& shape)
    : examples_(shape.n), most_steps_(shape.steps), lengths_(shape.n), order_(shape.n), begins_(shape.steps + 1) {}

// Examples of one length stay in their order: the rows are a function of the lengths alone.
void PackedSteps::pack(const Batch& batch) {
  for (std::size_t example = 0; example < examples_; ++example) {
    lengths_[example] = length_of(batch, example, most_steps_);
    order_[example] = example;
  }
  std::ranges::sort(order_, std::less<>(),
                    [&](std::size_t example) { return std::pair(most_steps_ - lengths_[example], example); });
  steps_ = lengths_[order_.front()];
  std::size_t going_on = examples_;
  for (std::size_t step = 0; step < steps_; ++step) {
    while (lengths_[order_[going_on - 1]] <= step) {
      --going_on;
    }
    begins_[step + 1] = begins_[step] + going_on;
  }
}

void PackedSteps::gather(const float* from, std::size_t stride, std::size_t columns, float* packed,
                         std::uint32_t threads) const {
  share_out(steps_, threads, [&](std::size_t step) {
    for (std::size_t i = 0; i < count(step); ++i) {
      std::copy_n(from + (order_[i] * most_steps_ + step) * stride, columns, packed + (begin(step) + i) * columns);
    }
  });
}

void PackedSteps::scatter(const float* packed, std::size_t columns, float* to, std::size_t stride,
                          std::uint32_t threads) const {
  share_out(most_steps_, threads, [&](std::size_t step) {
    const auto there = step < steps_ ? count(step) : 0;
    for (std::size_t i = 0; i < examples_; ++i) {
      float* const row = to + (order_[i] * most_steps_ + step) * stride;
      if (i < there) {
        std::copy_n(packed + (begin(step) + i) * columns, columns, row);
      } else {
        std::fill_n(row, columns, 0.0F);
      }
    }
  });
}

}  // namespace ballast::cpu
