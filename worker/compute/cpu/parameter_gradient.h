// Where an operation of ours writes the gradient of a parameter: to its place in the bound arena, or beside it if it
// is to be added to what another operation wrote there.
#pragma once

#include <span>
#include <vector>

#include "worker/compute/cpu/context.h"
#include "worker/compute/cpu/loops.h"

namespace ballast::cpu {

class ParameterGradient {
 public:
  ParameterGradient() = default;
  ParameterGradient(const Context& context, const ParameterPlace& place)
      : context_(&context), extent_(place.extent), beside_(place.adds ? place.extent.elements : 0) {}

  // All of it is to be overwritten.
  [[nodiscard]] std::span<float> begin() {
    return beside_.empty() ? context_->gradients.subspan(extent_.offset, extent_.elements) : std::span(beside_);
  }
  // Call it when that is done.
  void finish() {
    if (!beside_.empty()) {
      float* const sum = &context_->gradients[extent_.offset];
      add_loop(sum, beside_.data(), sum, beside_.size(), context_->threads);
    }
  }

 private:
  const Context* context_ = nullptr;
  Extent extent_;
  std::vector<float> beside_;
};

}  // namespace ballast::cpu
