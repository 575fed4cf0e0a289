#pragma once

#include <stdexcept>
#include <string>

namespace ballast::simulation {

// A promise of the protocol that was broken; the text says which.
class Violation : public std::runtime_error {
 public:
  explicit Violation(const std::string& text) : std::runtime_error(text) {}
};

inline void require(bool holds, const char* text) {
  if (!holds) {
    throw Violation(text);
  }
}

}  // namespace ballast::simulation
