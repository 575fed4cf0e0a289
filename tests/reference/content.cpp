#include "tests/reference/content.h"

#include <cstddef>
#include <cstdint>

#include "common/arena/initial.h"
#include "common/numeric/sha256.h"

namespace ballast::reference {

namespace {

using Floats = std::vector<float>;

void add_to(Sha256& sum, const Arena& arena, const Floats& values, bool descended_only) {
  for (std::size_t p = 0; p < arena.parameters.size(); ++p) {
    if (!descended_only || arena.parameters[p].group != Group::state) {
      sum.update(std::as_bytes(std::span(values).subspan(arena.extents[p].offset, arena.extents[p].elements)));
    }
  }
}

}  // namespace

Floats initial_weights(const Job& job) {
  Floats weights(job.arena.elements);
  for (std::size_t p = 0; p < job.arena.parameters.size(); ++p) {
    const auto& extent = job.arena.extents[p];
    fill_initial(std::span(weights).subspan(extent.offset, extent.elements), job.arena.parameters[p].initial,
                 job.spec.training.seed, static_cast<std::uint32_t>(p), 0);
  }
  return weights;
}

std::string weights_digest(const Job& job, const Floats& weights) {
  Sha256 sum;
  add_to(sum, job.arena, weights, false);
  return sum.hex();
}

std::string state_digest(const Job& job, std::span<const Floats> state) {
  if (state.empty()) {
    return {};
  }
  Sha256 sum;
  for (const auto& tensor : state) {
    add_to(sum, job.arena, tensor, true);
  }
  return sum.hex();
}

}  // namespace ballast::reference
