// Layouts in which the values of neighbouring channels lie side by side: those that loops of ours work on.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include "worker/compute/cpu/context.h"
#include "worker/compute/cpu/cpu_tensor.h"

namespace ballast::cpu {

// A tensor as planes of height x width x inner floats, a row's planes behind each other.
struct ChannelLayout {
  dnnl::memory::format_tag tag = dnnl::memory::format_tag::nchw;
  std::uint32_t inner = 1;  // channels side by side: 1 for NCHW, all for NHWC, 16 or 8 for blocks

  [[nodiscard]] std::size_t planes_of_row(const Shape& shape) const { return (shape.c + inner - 1) / inner; }
};

// The tensor's layout if it is one that the loops know; plain otherwise, into which it is then brought.
inline ChannelLayout layout_of(const CpuTensor& x) {
  using Tag = dnnl::memory::format_tag;
  const std::array<ChannelLayout, 3> known = {{{Tag::nChw16c, 16}, {Tag::nChw8c, 8}, {Tag::nhwc, x.shape().c}}};
  const dnnl::memory::desc actual = x.value().get_desc();
  for (const ChannelLayout& layout : known) {
    if (actual == describe(x.shape(), layout.tag)) {
      return layout;
    }
  }
  return {};
}

}  // namespace ballast::cpu
