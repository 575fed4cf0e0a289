// Random changes of training examples, as pure functions of (seed, epoch, example).
#pragma once

#include <cstdint>
#include <span>

#include "common/job/model_parameters.h"

namespace ballast {

struct Shift {
  std::int32_t right = 0;
  std::int32_t down = 0;
};

// Each direction uniform in [-most, most].
Shift draw_shift(std::uint64_t seed, std::uint64_t epoch, std::uint32_t example, std::uint32_t most);

// `to` becomes `from` (channels x height x width, equal sizes, not overlapping) moved by `shift`; what comes in from
// outside repeats the edge.
void shift_image(std::span<const float> from, std::span<float> to, const ExampleShape& shape, Shift shift);

}  // namespace ballast
