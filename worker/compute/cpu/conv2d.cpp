// Convolution by oneDNN's direct algorithm. Winograd is about twice as fast on large 3 x 3 layers, but rounds
// differently: direct agrees with other frameworks to the last few bits, so a run can be compared with theirs.
//
// The bytes of the weights' gradient depend on the number of threads; everything else does not.
#include <utility>

#include "worker/compute/cpu/convolution.h"
#include "worker/compute/cpu/direct_convolution.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

using dnnl::memory;
using Tag = dnnl::memory::format_tag;

// oneDNN blocks channels by 16 and is at its best so. A count that does not fill the blocks would be padded with work
// on zeros, and its kernel for the weights' gradient falls back to an older one: LeNet-5's second layer (6 channels)
// takes 235 us blocked and 180 us with channels innermost. Up to 3 channels it has kernels that read plain images.
Tag preferred_layout(std::uint32_t input_channels) {
  constexpr std::uint32_t kBlock = 8;
  constexpr std::uint32_t kImageChannels = 3;
  return input_channels <= kImageChannels || input_channels % kBlock == 0 ? Tag::any : Tag::nhwc;
}

}  // namespace

DirectConvolution describe_convolution(const Context& context, const Shape& x_shape, const Shape& y_shape,
                                       const Conv2d& conv, Tag layout) {
  constexpr auto kF32 = memory::data_type::f32;
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  const bool grouped = conv.groups > 1;
  const memory::dim out = conv.channels / conv.groups;
  const memory::dim in = x_shape.c / conv.groups;
  const memory::dims dims = grouped ? memory::dims{conv.groups, out, in, conv.kernel.h, conv.kernel.w}
                                    : memory::dims{out, in, conv.kernel.h, conv.kernel.w};
  const memory::dims strides = {conv.stride.h, conv.stride.w};
  const memory::dims padding = {conv.padding.h, conv.padding.w};
  const memory::dims dilation = {conv.dilation.h - 1, conv.dilation.w - 1};  // oneDNN counts what it adds
  const memory::desc x = describe(x_shape, layout);
  const memory::desc y = describe(y_shape, layout);
  const memory::desc weights(dims, kF32, Tag::any);
  const dnnl::primitive_attr attributes = with_own_scratchpad();
  DirectConvolution by;
  by.plain_weights = {dims, kF32, grouped ? Tag::goihw : Tag::oihw};
  by.bias = conv.bias ? memory::desc({conv.channels}, kF32, Tag::x) : memory::desc();
  by.forward = {
      {dnnl::prop_kind::forward_training, kAlgorithm, x, weights, by.bias, y, strides, dilation, padding, padding},
      attributes,
      context.engine};
  by.backward_weights = {{kAlgorithm, x, weights, by.bias, y, strides, dilation, padding, padding},
                         attributes,
                         context.engine,
                         by.forward};
  by.backward_input = {
      {kAlgorithm, x, weights, y, strides, dilation, padding, padding}, attributes, context.engine, by.forward};
  return by;
}

Prepared make(const Context& context, const LayerTask& task, const Conv2d& conv) {
  const Shape to = fit(task);
  const CpuTensor& x = as_cpu(*task.inputs[0]);
  const auto by = describe_convolution(context, x.shape(), to, conv, preferred_layout(x.shape().c));
  auto y = std::make_unique<CpuTensor>(context, to, by.forward.dst_desc(), true);
  auto operation = std::make_unique<ConvolutionOperation<DirectConvolution>>(context, task, by, x, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
