// Floats at addresses of any alignment, read and written without undefined behaviour; compilers vectorise loops of
// these.
#pragma once

#include <cstddef>
#include <cstring>

namespace ballast {

inline float load_float(const void* base, std::size_t index) {
  float value = 0;
  std::memcpy(&value, static_cast<const std::byte*>(base) + index * sizeof(float), sizeof(float));
  return value;
}

inline void store_float(void* base, std::size_t index, float value) {
  std::memcpy(static_cast<std::byte*>(base) + index * sizeof(float), &value, sizeof(float));
}

}  // namespace ballast
