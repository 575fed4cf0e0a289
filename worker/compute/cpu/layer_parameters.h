// A layer's weights and bias and their gradients, as oneDNN's memories that lie in the bound arenas.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "worker/compute/cpu/context.h"
#include "worker/compute/cpu/parameter_gradient.h"

namespace ballast::cpu {

// The bias is the second parameter, if there are two.
class LayerParameters {
 public:
  LayerParameters(const Context& context, const LayerTask& task, const dnnl::memory::desc& weights,
                  const dnnl::memory::desc& bias)
      : context_(context),
        weights_extent_(task.parameters[0].extent),
        has_bias_(task.parameters.size() > 1),
        weights_target_(context, task.parameters[0]),
        weights_(unplaced(weights, context)),
        weights_gradient_(unplaced(weights, context)) {
    if (has_bias_) {
      bias_extent_ = task.parameters[1].extent;
      bias_target_ = ParameterGradient(context, task.parameters[1]);
      bias_ = unplaced(bias, context);
      bias_gradient_ = unplaced(bias, context);
    }
  }

  // Where the arenas that are bound now have them: before each run of a primitive that works on them.
  void place() {
    weights_.set_data_handle(context_.weights_at(weights_extent_));
    if (has_bias_) {
      bias_.set_data_handle(context_.weights_at(bias_extent_));
    }
  }
  void place_gradients() {
    weights_gradient_.set_data_handle(weights_target_.begin().data());
    if (has_bias_) {
      bias_gradient_.set_data_handle(bias_target_.begin().data());
    }
  }
  // After a run that wrote the gradients.
  void finish_gradients() {
    weights_target_.finish();
    bias_target_.finish();
  }

  [[nodiscard]] bool has_bias() const { return has_bias_; }
  [[nodiscard]] const dnnl::memory& weights() const { return weights_; }
  [[nodiscard]] const dnnl::memory& bias() const { return bias_; }
  [[nodiscard]] const dnnl::memory& weights_gradient() const { return weights_gradient_; }
  [[nodiscard]] const dnnl::memory& bias_gradient() const { return bias_gradient_; }

 private:
  const Context& context_;
  Extent weights_extent_;
  Extent bias_extent_;
  bool has_bias_;
  ParameterGradient weights_target_;
  ParameterGradient bias_target_;
  dnnl::memory weights_;
  dnnl::memory bias_;
  dnnl::memory weights_gradient_;
  dnnl::memory bias_gradient_;
};

}  // namespace ballast::cpu
