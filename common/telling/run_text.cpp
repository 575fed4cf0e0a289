#include "common/telling/run_text.h"

#include <array>
#include <cstdio>

namespace ballast {

std::string hex16(std::uint64_t number) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
  return digits.data();
}

std::string run_text(RunId run) { return run == 0 ? std::string(kNoRun) : hex16(run); }

}  // namespace ballast
