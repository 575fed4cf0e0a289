#include "common/numeric/sgd.h"

#include <cstring>
#include <stdexcept>
#include <string>

#include "common/numeric/unaligned.h"

namespace ballast {
namespace {

void require_size(std::size_t actual, std::size_t expected, const char* what) {
  if (actual != expected) {
    throw std::invalid_argument(std::string(what) + " has " + std::to_string(actual) + " floats where " +
                                std::to_string(expected) + " are needed");
  }
}

template <bool kMomentum, bool kDecay>
void sgd_kernel(const float* __restrict weights, const void* __restrict gradient, float* __restrict momentum_buffer,
                float* __restrict new_weights, std::size_t n, SgdFactors factors) {
  for (std::size_t i = 0; i < n; ++i) {
    float descent = load_float(gradient, i);
    if constexpr (kDecay) {
      descent += factors.weight_decay * weights[i];
    }
    if constexpr (kMomentum) {
      descent += factors.momentum * momentum_buffer[i];
      momentum_buffer[i] = descent;
    }
    new_weights[i] = weights[i] - factors.learning_rate * descent;
  }
}

}  // namespace

void sgd_step(std::span<const float> weights, std::span<const float> gradient, std::span<float> momentum_buffer,
              std::span<float> new_weights, const SgdFactors& factors) {
  const bool with_momentum = factors.momentum != 0.0F;
  const bool with_decay = factors.weight_decay != 0.0F;
  require_size(gradient.size(), weights.size(), "sgd_step: gradient");
  require_size(new_weights.size(), weights.size(), "sgd_step: new_weights");
  if (with_momentum) {
    require_size(momentum_buffer.size(), weights.size(), "sgd_step: momentum_buffer");
  }
  const auto step = with_momentum ? (with_decay ? sgd_kernel<true, true> : sgd_kernel<true, false>)
                                  : (with_decay ? sgd_kernel<false, true> : sgd_kernel<false, false>);
  step(weights.data(), gradient.data(), momentum_buffer.data(), new_weights.data(), weights.size(), factors);
}

void average_state(std::span<const float> root, std::span<float> new_state) {
  require_size(new_state.size(), root.size(), "average_state: new_state");
  if (!root.empty()) {
    std::memcpy(new_state.data(), root.data(), root.size_bytes());
  }
}

}  // namespace ballast
