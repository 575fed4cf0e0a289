#include "common/arena/initial.h"

#include <algorithm>
#include <cstddef>

#include "common/numeric/philox.h"

namespace ballast {
namespace {

constexpr std::uint64_t kDrawsPerBlock = 4;

void fill_uniform(std::span<float> values, float bound, const RandomStream& stream, std::uint64_t first) {
  std::size_t filled = 0;
  while (filled < values.size()) {
    const std::uint64_t element = first + filled;
    const PhiloxBlock block = stream.block(element / kDrawsPerBlock);
    for (std::uint64_t lane = element % kDrawsPerBlock; lane < kDrawsPerBlock && filled < values.size(); ++lane) {
      values[filled++] = (2.0F * uniform_from(block[static_cast<std::size_t>(lane)]) - 1.0F) * bound;
    }
  }
}

}  // namespace

void fill_initial(std::span<float> values, const Initial& initial, std::uint64_t seed, std::uint32_t parameter,
                  std::uint64_t first) {
  switch (initial.kind) {
    case Initial::Kind::zero:
      std::ranges::fill(values, 0.0F);
      return;
    case Initial::Kind::constant:
      std::ranges::fill(values, initial.value);
      return;
    case Initial::Kind::uniform:
      fill_uniform(values, initial.value, RandomStream({seed, Purpose::weights, 0, parameter}), first);
      return;
  }
}

}  // namespace ballast
