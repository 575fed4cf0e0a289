// What the operations of the cpu backend share.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <cstdint>
#include <span>

#include "common/arena/arena.h"
#include "worker/compute/backend.h"

namespace ballast::cpu {

struct Context {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::uint32_t threads = 1;
  std::span<const float> weights;
  std::span<float> gradients;
  const Pass* pass = nullptr;  // that began last

  // oneDNN asks for a mutable pointer even to what it only reads.
  [[nodiscard]] void* weights_at(const Extent& extent) const { return const_cast<float*>(&weights[extent.offset]); }
  [[nodiscard]] void* gradients_at(const Extent& extent) const { return &gradients[extent.offset]; }
};

// Of rows, each an image.
inline dnnl::memory::dims dims_of(const Shape& shape) {
  return {static_cast<dnnl::memory::dim>(shape.rows()), shape.c, shape.h, shape.w};
}

inline dnnl::memory::desc describe(const Shape& shape, dnnl::memory::format_tag tag) {
  return {dims_of(shape), dnnl::memory::data_type::f32, tag};
}

// The layout of host data.
inline dnnl::memory::desc plain(const Shape& shape) { return describe(shape, dnnl::memory::format_tag::nchw); }

// A memory whose address is set before each run.
inline dnnl::memory unplaced(const dnnl::memory::desc& desc, const Context& context) {
  return {desc, context.engine, DNNL_MEMORY_NONE};
}

}  // namespace ballast::cpu
