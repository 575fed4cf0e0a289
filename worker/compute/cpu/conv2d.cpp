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

memory::dims weight_dims(const Shape& x, const Conv2d& conv) {
  if (conv.groups == 1) {
    return {conv.channels, x.c, conv.kernel.h, conv.kernel.w};
  }
  return {conv.groups, conv.channels / conv.groups, x.c / conv.groups, conv.kernel.h, conv.kernel.w};
}

// As they lie in the arenas.
memory::desc plain_weights(const Shape& x, const Conv2d& conv) {
  return {weight_dims(x, conv), kF32, conv.groups == 1 ? Tag::oihw : Tag::goihw};
}

// The descriptions of one convolution's three primitives, with layouts chosen.
struct Descriptions {
  Descriptions(const Context& context, const Shape& x, const Shape& y, const Conv2d& conv);

  memory::dims strides;
  memory::dims padding;
  memory::dims dilation;
  memory::desc x;
  memory::desc weights;
  memory::desc bias;
  memory::desc y;
  dnnl::convolution_forward::primitive_desc forward;
  dnnl::convolution_backward_weights::primitive_desc backward_weights;
  dnnl::convolution_backward_data::primitive_desc backward_input;
};

// oneDNN counts what a dilation adds.
Descriptions::Descriptions(const Context& context, const Shape& x_shape, const Shape& y_shape, const Conv2d& conv)
    : strides{conv.stride.h, conv.stride.w},
      padding{conv.padding.h, conv.padding.w},
      dilation{conv.dilation.h - 1, conv.dilation.w - 1},
      x(describe(x_shape, preferred_layout(x_shape.c))),
      weights(weight_dims(x_shape, conv), kF32, Tag::any),
      bias(conv.bias ? memory::desc({y_shape.c}, kF32, Tag::x) : memory::desc()),
      y(describe(y_shape, preferred_layout(x_shape.c))) {
  const dnnl::primitive_attr attributes = with_own_scratchpad();
  forward = {{dnnl::prop_kind::forward_training, kAlgorithm, x, weights, bias, y, strides, dilation, padding, padding},
             attributes,
             context.engine};
  backward_weights = {
      {kAlgorithm, x, weights, bias, y, strides, dilation, padding, padding}, attributes, context.engine, forward};
  backward_input = {
      {kAlgorithm, x, weights, y, strides, dilation, padding, padding}, attributes, context.engine, forward};
}

class Conv2dOperation : public Operation {
 public:
  Conv2dOperation(const Context& context, const LayerTask& task, const Descriptions& by, const CpuTensor& y,
                  const Conv2d& conv)
      : context_(context), parameters_(context, task, plain_weights(task.inputs[0]->shape(), conv), by.bias) {
    const CpuTensor& x = as_cpu(*task.inputs[0]);
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
    forward_ = Primitive::make<dnnl::convolution_forward>(context_, by.forward, std::move(arguments));
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
        Primitive::make<dnnl::convolution_backward_weights>(context_, description, std::move(arguments));
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

Prepared make(const Context& context, const LayerTask& task, const Conv2d& conv) {
  const Shape to = fit(task);
  const Descriptions descriptions(context, task.inputs[0]->shape(), to, conv);
  auto y = std::make_unique<CpuTensor>(context, to, descriptions.forward.dst_desc(), true);
  auto operation = std::make_unique<Conv2dOperation>(context, task, descriptions, *y, conv);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
