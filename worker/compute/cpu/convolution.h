// A convolution of any kind by the three primitives that oneDNN has for it.
#pragma once

#include <utility>

#include "worker/compute/cpu/cpu_tensor.h"
#include "worker/compute/cpu/layer_parameters.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/primitive.h"

namespace ballast::cpu {

// The descriptions of a convolution's primitives, with layouts chosen. Made is dnnl::convolution_... or
// dnnl::deconvolution_...
template <typename MadeForward, typename MadeBackwardWeights, typename MadeBackwardInput>
struct ConvolutionDescriptions {
  using Forward = MadeForward;
  using BackwardWeights = MadeBackwardWeights;
  using BackwardInput = MadeBackwardInput;

  dnnl::memory::desc plain_weights;  // as they lie in the arenas
  dnnl::memory::desc bias;           // empty: none
  typename Forward::primitive_desc forward;
  typename BackwardWeights::primitive_desc backward_weights;
  typename BackwardInput::primitive_desc backward_input;
};

// `x` and `y` may lie in layouts of their own.
template <typename Descriptions>
class ConvolutionOperation : public Operation {
 public:
  ConvolutionOperation(const Context& context, const LayerTask& task, const Descriptions& by, const CpuTensor& x,
                       const CpuTensor& y)
      : context_(context), parameters_(context, task, by.plain_weights, by.bias) {
    prepare_forward(by, x, y);
    prepare_backward_parameters(by, x, y);
    if (x.with_gradient()) {
      prepare_backward_input(by, x, y);
    }
  }

  void forward() override {
    parameters_.place();
    forward_x_.refresh();
    forward_weights_.refresh();
    forward_.run();
  }

  void backward_parameters() override {
    parameters_.place_gradients();
    parameters_x_.refresh();
    parameters_y_gradient_.refresh();
    backward_parameters_.run();
    parameters_gradient_.deliver();
    parameters_.finish_gradients();
  }

  void backward_input() override {
    parameters_.place();
    input_weights_.refresh();
    input_y_gradient_.refresh();
    backward_input_.run();
    x_gradient_.deliver();
  }

 private:
  void prepare_forward(const Descriptions& by, const CpuTensor& x, const CpuTensor& y) {
    forward_x_ = Incoming(context_, x.value(), by.forward.src_desc());
    forward_weights_ = Incoming(context_, parameters_.weights(), by.forward.weights_desc());
    Primitive::Arguments arguments = {
        {DNNL_ARG_SRC, forward_x_.memory()}, {DNNL_ARG_WEIGHTS, forward_weights_.memory()}, {DNNL_ARG_DST, y.value()}};
    if (parameters_.has_bias()) {
      arguments.emplace_back(DNNL_ARG_BIAS, parameters_.bias());
    }
    forward_ = Primitive::make<typename Descriptions::Forward>(context_, by.forward, std::move(arguments));
  }

  void prepare_backward_parameters(const Descriptions& by, const CpuTensor& x, const CpuTensor& y) {
    const auto& description = by.backward_weights;
    parameters_x_ = Incoming(context_, x.value(), description.src_desc());
    parameters_y_gradient_ = Incoming(context_, y.gradient(), description.diff_dst_desc());
    parameters_gradient_ = Outgoing(context_, parameters_.weights_gradient(), description.diff_weights_desc());
    Primitive::Arguments arguments = {{DNNL_ARG_SRC, parameters_x_.memory()},
                                      {DNNL_ARG_DIFF_DST, parameters_y_gradient_.memory()},
                                      {DNNL_ARG_DIFF_WEIGHTS, parameters_gradient_.memory()}};
    if (parameters_.has_bias()) {
      arguments.emplace_back(DNNL_ARG_DIFF_BIAS, parameters_.bias_gradient());
    }
    backward_parameters_ =
        Primitive::make<typename Descriptions::BackwardWeights>(context_, description, std::move(arguments));
  }

  void prepare_backward_input(const Descriptions& by, const CpuTensor& x, const CpuTensor& y) {
    const auto& description = by.backward_input;
    input_weights_ = Incoming(context_, parameters_.weights(), description.weights_desc());
    input_y_gradient_ = Incoming(context_, y.gradient(), description.diff_dst_desc());
    x_gradient_ = Outgoing(context_, x.gradient(), description.diff_src_desc());
    backward_input_ =
        Primitive::make<typename Descriptions::BackwardInput>(context_, description,
                                                              {{DNNL_ARG_WEIGHTS, input_weights_.memory()},
                                                               {DNNL_ARG_DIFF_DST, input_y_gradient_.memory()},
                                                               {DNNL_ARG_DIFF_SRC, x_gradient_.memory()}});
  }

  const Context& context_;
  LayerParameters parameters_;
  Incoming forward_x_;
  Incoming forward_weights_;
  Primitive forward_;
  Incoming parameters_x_;
  Incoming parameters_y_gradient_;
  Outgoing parameters_gradient_;
  Primitive backward_parameters_;
  Incoming input_weights_;
  Incoming input_y_gradient_;
  Outgoing x_gradient_;
  Primitive backward_input_;
};

}  // namespace ballast::cpu
