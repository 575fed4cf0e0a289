// Identities that no other process has.
#pragma once

#include <sys/random.h>

#include <cstdint>
#include <stdexcept>

namespace ballast {

// 64 random bits of the system, never 0.
inline std::uint64_t random_id() {
  std::uint64_t id = 0;
  while (id == 0) {
    if (::getrandom(&id, sizeof(id), 0) != sizeof(id)) {
      throw std::runtime_error("the system gives no random bytes");
    }
  }
  return id;
}

}  // namespace ballast
