// What every fuzz target shares: how it says that a property does not hold.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "common/text/text.h"

namespace ballast::fuzz {

// Ends the program, so that the input counts as found, and names what was promised.
inline void expect(bool holds, const char* promise) {
  if (!holds) {
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
  }
}

// Whatever an error quotes of its input: it can be written to a log and a terminal.
inline void expect_line(std::string_view error) {
  expect(!error.empty(), "a refusal says why");
  if (const auto fault = text_fault(error, TextKind::line)) {
    std::fprintf(stderr, "%s\nin the error: %.*s\n", fault->c_str(), static_cast<int>(error.size()), error.data());
    expect(false, "an error is one line of text without control characters");
  }
}

}  // namespace ballast::fuzz
