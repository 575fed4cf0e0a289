// Examples as they come from the host: an activation with a place in pinned memory to copy from.
#pragma once

#include <span>

#include "worker/compute/cuda/cuda_tensor.h"
#include "worker/compute/cuda/memory.h"

namespace ballast::cuda {

class InputTensor : public CudaTensor {
 public:
  InputTensor(const Shape& shape, bool with_gradient)
      : CudaTensor(shape, with_gradient),
        staged_(shape.elements(), "an input of " + to_string(shape)),
        read_(make_event()) {}

  // Returns when `nchw` is copied; it may not have reached the device yet.
  void fill(Context& context, std::span<const float> nchw);

 private:
  PinnedBuffer<float> staged_;
  Event read_;  // the device has read what was staged last
};

}  // namespace ballast::cuda
