// A check for options that take a number.
#pragma once

#include <string>

namespace ballast {

// Empty: fine. Otherwise what is wrong. CLI11 itself takes "-1" for the largest number of an unsigned type.
inline std::string not_negative(const std::string& text) {
  return text.starts_with('-') ? "'" + text + "' is negative; allowed: whole numbers from 0" : std::string();
}

}  // namespace ballast
