// What a layer multiplies (its input, its weights, its output, or a gradient of one of them), as the libraries take it
// in the precision that the job asks for.
//
// With bfloat16 a factor is rounded into scratch memory right before a product, and where a library writes its result
// in bfloat16 too, as cuDNN's convolutions do, it writes it there and it is brought back to float32. With float32 and
// TF32 the libraries take values as they are.
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "worker/compute/cuda/context.h"

namespace ballast::cuda {

class Factor {
 public:
  // Of a layer that is being prepared: makes room for it in the context's scratch memory, which all layers share as
  // they run one after the other. Two factors of a layer are two different parts.
  Factor(Context& context, Context::Part part, std::size_t elements, std::string_view what);

  // The values as a product reads them, until this part is rounded anew.
  [[nodiscard]] const void* rounded(const float* values, std::string_view what) const;

  // Where a product in this precision writes, and then its values in float32.
  [[nodiscard]] void* result(float* values) const;
  void keep(float* values, std::string_view what) const;

 private:
  [[nodiscard]] std::uint16_t* scratch() const { return context_.scratch(part_); }

  Context& context_;
  Context::Part part_;
  std::size_t elements_;
  bool rounds_;
};

// Of factors, as cuDNN names it.
cudnnDataType_t cudnn_type(Precision precision);

}  // namespace ballast::cuda
