// How long something may take on its way to a lane, or from it.
#pragma once

#include <cstdint>

#include "protocol/ids.h"

namespace ballast {

// Of a link that is of use.
inline constexpr std::uint64_t kSlowestBytesPerMilli = 64;

// So many bytes over the slowest link, rounded down to milliseconds.
constexpr Micros time_on_slowest_link(std::uint64_t bytes) { return bytes / kSlowestBytesPerMilli * 1'000; }

}  // namespace ballast
