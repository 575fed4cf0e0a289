// A check for the option that takes a number of shards.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

#include "common/wire/wire_limits.h"

namespace ballast {

// Empty: fine, as cluster.shards is. Otherwise what is wrong. CLI11 itself says of other texts only that it cannot
// convert them.
inline std::string shard_count_fault(const std::string& text) {
  std::uint32_t count = 0;
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, count);
  const bool fine = read.ec == std::errc() && read.ptr == end && count >= 1 && count <= wire::kMaxShards;
  return fine ? std::string()
              : "'" + text + "' is no number of shards; allowed: whole numbers from 1 to " +
                    std::to_string(wire::kMaxShards);
}

}  // namespace ballast
