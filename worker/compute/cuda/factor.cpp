#include "worker/compute/cuda/factor.h"

#include "worker/compute/cuda/kernels/elementwise.h"
#include "worker/compute/cuda/status.h"

namespace ballast::cuda {

Factor::Factor(Context& context, Context::Part part, std::size_t elements, std::string_view what)
    : context_(context), part_(part), elements_(elements), rounds_(context.precision() == Precision::bfloat16) {
  if (rounds_) {
    context_.reserve_scratch(part, elements, what);
  }
}

const void* Factor::rounded(const float* values, std::string_view what) const {
  if (!rounds_) {
    return values;
  }
  check(launch_round_to_bfloat16(values, scratch(), elements_, context_.compute()), what, "rounding a factor");
  return scratch();
}

void* Factor::result(float* values) const {
  if (!rounds_) {
    return values;
  }
  return scratch();
}

void Factor::keep(float* values, std::string_view what) const {
  if (rounds_) {
    check(launch_bfloat16_to_float(scratch(), values, elements_, context_.compute()), what, "keeping a result");
  }
}

cudnnDataType_t cudnn_type(Precision precision) {
  return precision == Precision::bfloat16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

}  // namespace ballast::cuda
