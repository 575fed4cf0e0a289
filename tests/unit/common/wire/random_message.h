// Valid messages with every field drawn at random and hardly ever at its default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "protocol/messages.h"

namespace ballast {

class RandomMessages {
 public:
  explicit RandomMessages(std::uint64_t seed) : random_(seed) {}

  // Of Message's alternative `kind`, below std::variant_size_v<Message>.
  Message of_kind(std::size_t kind);

 private:
  std::mt19937_64 random_;
};

}  // namespace ballast
