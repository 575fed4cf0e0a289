// The three products of a convolution, by cuDNN, which layers use forward (Conv2d, Conv1d) and backward
// (TransposedConv2d).
//
// Algorithms are fixed: deterministic ones, which compute the products as they are defined. cuDNN's own choice by
// measured time would differ from run to run, and Winograd and FFT round otherwise than direct convolution, by which a
// run can be compared with those of other frameworks and of the cpu.
//
// With bfloat16, x, weights and y are all of that type: that is how cuDNN has it. Its sums are float32 and are rounded
// once, at the end.
#pragma once

#include <cstddef>
#include <string>

#include "worker/compute/cuda/context.h"
#include "worker/compute/cuda/factor.h"

namespace ballast::cuda {

// More than 15 fields: cuDNN wants each tensor, the filter and the convolution described by an object of its own.
class Convolution {
 public:
  // Of x to y. `what` names the layer in errors. Without `finds_x`, find_x is never called and needs no room.
  Convolution(Context& context, const Shape& x, const Shape& y, const Conv2d& conv, const Extent& weights, bool finds_x,
              std::string what);

  void find_y(const float* x, float* y) const;
  // The gradient of y = find_y(x) with respect to x.
  void find_x(const float* y_gradient, float* x_gradient) const;
  // The same with respect to the weights, in their place in the arena of gradients.
  void find_weights_gradient(const float* x, const float* y_gradient) const;

 private:
  // Of scratch memory, what each product asks for. It gets that and no more: with more an algorithm might take another
  // way, and how much there is depends on what else was prepared.
  struct Workspaces {
    std::size_t y = 0;
    std::size_t weights = 0;
    std::size_t x = 0;
  };

  [[nodiscard]] const void* weights() const {
    return weights_factor_.rounded(context_.weights_at(weights_extent_), what_);
  }
  [[nodiscard]] Workspaces ask_workspaces(bool finds_x) const;

  Context& context_;
  std::string what_;
  Extent weights_extent_;
  Factor x_factor_;
  Factor weights_factor_;
  Factor y_factor_;
  TensorDescriptor x_;
  TensorDescriptor y_;
  FilterDescriptor weights_;
  ConvolutionDescriptor convolution_;
  Workspaces workspaces_;
};

// For errors: "3", or "3 x 1" where sides differ.
std::string text(Pair pair);

}  // namespace ballast::cuda
