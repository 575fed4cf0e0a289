// Convolution by oneDNN's direct algorithm. Winograd is about twice as fast on large 3 x 3 layers, but rounds
// differently: direct agrees with other frameworks to the last few bits, so a run can be compared with theirs.
//
// The bytes of the weights' gradient depend on the number of threads; everything else does not.
#include <utility>

#include "worker/compute/cpu/layer_parameters.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/primitive.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

using dnnl::memory;
using Tag = dnnl::memory::format_tag;
constexpr auto kF32 = dnnl::memory::data_type::f32;
constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

// oneDNN blocks channels by 16 and is at its best so. A count that does not fill the blocks would be padded with work
// on zeros, and its kernel for the weights' gradient falls back to an older one: LeNet-5's second layer (6 channels)
// takes 235 us blocked and 180 us with channels innermost. Up to 3 channels it has kernels that read plain images.
Tag preferred_layout(std::uint32_t input_channels) {
  constexpr std::uint32_t kBlock = 8;
  constexpr std::uint32_t kImageChannels = 3;
  return input_channels <= kImageChannels || input_channels % kBlock == 0 ? Tag::any : Tag::nhwc;
}

// The descriptions of one convolution's three primitives, with layouts chosen.
struct Descriptions {
  Descriptions(const Context& context, const Shape& x, const Shape& y, const Conv2d& conv);

  memory::dims strides;
  memory::dims padding;
  memory::desc x;
  memory::desc weights;
  memory::desc bias;
  memory::desc y;
  dnnl::convolution_forward::primitive_desc forward;
  dnnl::convolution_backward_weights::primitive_desc backward_weights;
  dnnl::convolution_backward_data::primitive_desc backward_input;
};

Descriptions::Descriptions(const Context& context, const Shape& x_shape, const Shape& y_shape, const Conv2d& conv)
    : strides{conv.stride, conv.stride},
      padding{conv.padding, conv.padding},
      x(describe(x_shape, preferred_layout(x_shape.c))),
      weights({y_shape.c, x_shape.c, conv.kernel, conv.kernel}, kF32, Tag::any),
      bias({y_shape.c}, kF32, Tag::x),
      y(describe(y_shape, preferred_layout(x_shape.c))) {
  const dnnl::primitive_attr attributes = with_own_scratchpad();
  forward = {{dnnl::prop_kind::forward_training, kAlgorithm, x, weights, bias, y, strides, padding, padding},
             attributes,
             context.engine};
  backward_weights = {
      {kAlgorithm, x, weights, bias, y, strides, padding, padding}, attributes, context.engine, forward};
  backward_input = {{kAlgorithm, x, weights, y, strides, padding, padding}, attributes, context.engine, forward};
}

class Conv2dOperation : public Operation {
 public:
  Conv2dOperation(const Context& context, const Descriptions& by, const CpuTensor& x, const CpuTensor& y,
                  const Conv2d& conv, const Extent& weights, const Extent& bias)
      : context_(context),
        parameters_(context, {{y.shape().c, x.shape().c, conv.kernel, conv.kernel}, kF32, Tag::oihw}, weights, by.bias,
                    bias) {
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
    forward_ = Primitive::make<dnnl::convolution_forward>(context_, by.forward,
                                                          {{DNNL_ARG_SRC, forward_x_.memory()},
                                                           {DNNL_ARG_WEIGHTS, forward_weights_.memory()},
                                                           {DNNL_ARG_BIAS, parameters_.bias()},
                                                           {DNNL_ARG_DST, y.value()}});
  }

  void prepare_backward_parameters(const Descriptions& by, const CpuTensor& x, const CpuTensor& y) {
    const auto& description = by.backward_weights;
    parameters_x_ = Incoming(context_, x.value(), description.src_desc());
    parameters_y_gradient_ = Incoming(context_, y.gradient(), description.diff_dst_desc());
    parameters_gradient_ = Outgoing(context_, parameters_.weights_gradient(), description.diff_weights_desc());
    backward_parameters_ =
        Primitive::make<dnnl::convolution_backward_weights>(context_, description,
                                                            {{DNNL_ARG_SRC, parameters_x_.memory()},
                                                             {DNNL_ARG_DIFF_DST, parameters_y_gradient_.memory()},
                                                             {DNNL_ARG_DIFF_WEIGHTS, parameters_gradient_.memory()},
                                                             {DNNL_ARG_DIFF_BIAS, parameters_.bias_gradient()}});
  }

  void prepare_backward_input(const Descriptions& by, const CpuTensor& x, const CpuTensor& y) {
    const auto& description = by.backward_input;
    input_weights_ = Incoming(context_, parameters_.weights(), description.weights_desc());
    input_y_gradient_ = Incoming(context_, y.gradient(), description.diff_dst_desc());
    x_gradient_ = Outgoing(context_, x.gradient(), description.diff_src_desc());
    backward_input_ = Primitive::make<dnnl::convolution_backward_data>(context_, description,
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

}  // namespace

Prepared make_conv2d(const Context& context, CpuTensor& x, const Conv2d& conv, const Extent& weights,
                     const Extent& bias) {
  const Shape from = x.shape();
  const Shape to = fit_conv2d(from, conv, weights, bias);
  const Descriptions descriptions(context, from, to, conv);
  auto y = std::make_unique<CpuTensor>(context, to, descriptions.forward.dst_desc(), true);
  auto operation = std::make_unique<Conv2dOperation>(context, descriptions, x, *y, conv, weights, bias);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
