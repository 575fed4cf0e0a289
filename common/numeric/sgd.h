// Stochastic gradient descent on a slice of the arena.
#pragma once

#include <span>

namespace ballast {

// Of one step and one group. Computed once, by the lead; zero weight decay for Group::no_decay.
struct SgdFactors {
  float learning_rate = 0;
  float momentum = 0;
  float weight_decay = 0;
};

// PyTorch's torch.optim.SGD (dampening 0, no Nesterov), elementwise and in one pass over memory:
//
//   g = gradient + weight_decay * weights      (g = gradient if weight_decay is 0)
//   momentum_buffer = momentum * momentum_buffer + g
//   new_weights = weights - learning_rate * momentum_buffer
//
// With momentum 0 the buffer is neither read nor written (it may be empty) and new_weights = weights - learning_rate *
// g. Every product and sum is rounded on its own, so the bits depend neither on vector width nor on where a slice
// begins. All spans have equal sizes and don't overlap; std::invalid_argument if the sizes differ. `gradient.data()`
// may have any alignment. Thread-safe for disjoint outputs.
void sgd_step(std::span<const float> weights, std::span<const float> gradient, std::span<float> momentum_buffer,
              std::span<float> new_weights, const SgdFactors& factors);

// The update of Group::state: the root is already the mean over the slots, weighted by their share of the examples.
void average_state(std::span<const float> root, std::span<float> new_state);

}  // namespace ballast
