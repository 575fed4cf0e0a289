// What a slot without examples contributes: a leaf of +0.0 in the reduction tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "common/arena/arena.h"
#include "worker/models/model.h"

namespace ballast {

// Last parameters first, as a backward pass would.
inline void write_empty_slot(const Arena& arena, std::span<float> gradients, const Model::GradientReady& ready) {
  for (std::size_t parameter = arena.parameters.size(); parameter-- > 0;) {
    const Extent& extent = arena.extents[parameter];
    std::ranges::fill(gradients.subspan(extent.offset, extent.elements), 0.0F);
    ready(parameter);
  }
}

}  // namespace ballast
