// Transposed convolution: what oneDNN calls deconvolution.
//
// The bytes of the weights' gradient depend on the number of threads; everything else does not.
#include <utility>

#include "worker/compute/cpu/convolution.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

using dnnl::memory;
using Tag = dnnl::memory::format_tag;
using Transposed = ConvolutionDescriptions<dnnl::deconvolution_forward, dnnl::deconvolution_backward_weights,
                                           dnnl::deconvolution_backward_data>;

// oneDNN names the weights' extents by outputs first; in the arenas inputs lie outermost.
Transposed describe_transposed(const Context& context, const Shape& x_shape, const Shape& y_shape,
                               const TransposedConv2d& conv) {
  constexpr auto kF32 = memory::data_type::f32;
  constexpr auto kAlgorithm = dnnl::algorithm::deconvolution_direct;
  const bool grouped = conv.groups > 1;
  const memory::dim out = conv.channels / conv.groups;
  const memory::dim in = x_shape.c / conv.groups;
  const memory::dims dims = grouped ? memory::dims{conv.groups, out, in, conv.kernel.h, conv.kernel.w}
                                    : memory::dims{out, in, conv.kernel.h, conv.kernel.w};
  const memory::dims strides = {conv.stride.h, conv.stride.w};
  const memory::dims before = {conv.padding.h, conv.padding.w};
  const memory::dims behind = {memory::dim{conv.padding.h} - conv.output_padding.h,
                               memory::dim{conv.padding.w} - conv.output_padding.w};
  const memory::desc x = describe(x_shape, Tag::any);
  const memory::desc y = describe(y_shape, Tag::any);
  const memory::desc weights(dims, kF32, Tag::any);
  const dnnl::primitive_attr attributes = with_own_scratchpad();
  Transposed by;
  by.plain_weights = {dims, kF32, grouped ? Tag::giohw : Tag::iohw};
  by.bias = conv.bias ? memory::desc({conv.channels}, kF32, Tag::x) : memory::desc();
  by.forward = {{dnnl::prop_kind::forward_training, kAlgorithm, x, weights, by.bias, y, strides, before, behind},
                attributes,
                context.engine};
  by.backward_weights = {
      {kAlgorithm, x, weights, by.bias, y, strides, before, behind}, attributes, context.engine, by.forward};
  by.backward_input = {{kAlgorithm, x, weights, y, strides, before, behind}, attributes, context.engine, by.forward};
  return by;
}

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const TransposedConv2d& conv) {
  const Shape to = fit(task);
  const CpuTensor& x = as_cpu(*task.inputs[0]);
  const auto by = describe_transposed(context, x.shape(), to, conv);
  auto y = std::make_unique<CpuTensor>(context, to, by.forward.dst_desc(), true);
  auto operation = std::make_unique<ConvolutionOperation<Transposed>>(context, task, by, x, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
