// CRC-32C (Castagnoli; RFC 3720, appendix B.4): detects damage to records at rest, not malice.
#pragma once

#include <cstdint>
#include <string_view>

namespace ballast {

// The checksum of what `so_far` covers followed by `bytes`; 0 covers nothing.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t so_far = 0);

// The same by table, a byte at a time: what processors without the instruction run, and what tests compare with.
std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t so_far = 0);

}  // namespace ballast
