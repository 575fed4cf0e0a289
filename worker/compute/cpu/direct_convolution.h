// Convolutions by oneDNN's direct algorithm.
#pragma once

#include "worker/compute/cpu/convolution.h"

namespace ballast::cpu {

using DirectConvolution = ConvolutionDescriptions<dnnl::convolution_forward, dnnl::convolution_backward_weights,
                                                  dnnl::convolution_backward_data>;

// Of rows, with x and y in the layout of that tag: `any` leaves the choice to oneDNN.
DirectConvolution describe_convolution(const Context& context, const Shape& x, const Shape& y, const Conv2d& conv,
                                       dnnl::memory::format_tag layout);

}  // namespace ballast::cpu
