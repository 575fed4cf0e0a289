// A layer's weights and bias and their gradients, as oneDNN's memories that lie in the bound arenas.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "worker/compute/cpu/context.h"

namespace ballast::cpu {

class LayerParameters {
 public:
  LayerParameters(const Context& context, const dnnl::memory::desc& weights, const Extent& weights_extent,
                  const dnnl::memory::desc& bias, const Extent& bias_extent)
      : context_(context),
        weights_extent_(weights_extent),
        bias_extent_(bias_extent),
        weights_(unplaced(weights, context)),
        bias_(unplaced(bias, context)),
        weights_gradient_(unplaced(weights, context)),
        bias_gradient_(unplaced(bias, context)) {}

  // Where the arenas that are bound now have them: before each run of a primitive that works on them.
  void place() {
    weights_.set_data_handle(context_.weights_at(weights_extent_));
    bias_.set_data_handle(context_.weights_at(bias_extent_));
  }
  void place_gradients() {
    weights_gradient_.set_data_handle(context_.gradients_at(weights_extent_));
    bias_gradient_.set_data_handle(context_.gradients_at(bias_extent_));
  }

  [[nodiscard]] const dnnl::memory& weights() const { return weights_; }
  [[nodiscard]] const dnnl::memory& bias() const { return bias_; }
  [[nodiscard]] const dnnl::memory& weights_gradient() const { return weights_gradient_; }
  [[nodiscard]] const dnnl::memory& bias_gradient() const { return bias_gradient_; }

 private:
  const Context& context_;
  Extent weights_extent_;
  Extent bias_extent_;
  dnnl::memory weights_;
  dnnl::memory bias_;
  dnnl::memory weights_gradient_;
  dnnl::memory bias_gradient_;
};

}  // namespace ballast::cpu
