// How a run is named where copies of it are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/ids.h"

namespace ballast {

inline constexpr std::string_view kNoRun = "none";

// Sixteen hexadecimal digits.
std::string hex16(std::uint64_t number);
std::string run_text(RunId run);  // kNoRun for 0

}  // namespace ballast
