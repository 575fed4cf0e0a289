#include "storage/checksum.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace ballast {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78U;  // bit-reversed

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    auto remainder = byte;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1U) ^ ((remainder & 1U) != 0 ? kPolynomial : 0U);
    }
    table[byte] = remainder;
  }
  return table;
}

constexpr auto kTable = make_table();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(std::string_view bytes, std::uint32_t so_far) {
  std::uint64_t state = ~so_far;
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    state = _mm_crc32_u64(state, word);
    bytes.remove_prefix(sizeof(word));
  }
  auto tail = static_cast<std::uint32_t>(state);
  for (const char byte : bytes) {
    tail = _mm_crc32_u8(tail, static_cast<unsigned char>(byte));
  }
  return ~tail;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t so_far) {
  auto state = ~so_far;
  for (const char byte : bytes) {
    state = (state >> 8U) ^ kTable[(state ^ static_cast<unsigned char>(byte)) & 0xFFU];
  }
  return ~state;
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t so_far) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) {
    return crc32c_by_instruction(bytes, so_far);
  }
#endif
  return crc32c_by_table(bytes, so_far);
}

}  // namespace ballast
