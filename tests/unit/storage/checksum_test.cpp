#include "storage/checksum.h"

#include <doctest/doctest.h>

#include <string>

namespace ballast {
namespace {

std::string some_bytes(std::size_t count) {
  std::string bytes;
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    bytes.push_back(static_cast<char>(state >> 24U));
  }
  return bytes;
}

TEST_CASE("CRC-32C of RFC 3720's examples") {
  CHECK(crc32c("") == 0);
  CHECK(crc32c("123456789") == 0xE3069283U);
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AAU);
  CHECK(crc32c(std::string(32, '\xFF')) == 0x62A8AB43U);
}

TEST_CASE("the instruction and the table agree at every length and alignment") {
  const auto bytes = some_bytes(300);
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t size = 0; size + begin <= bytes.size(); ++size) {
      const auto part = std::string_view(bytes).substr(begin, size);
      REQUIRE(crc32c(part) == crc32c_by_table(part));
    }
  }
}

TEST_CASE("a checksum in pieces is the checksum of the whole") {
  const auto bytes = some_bytes(100);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::string_view whole(bytes);
    REQUIRE(crc32c(whole.substr(cut), crc32c(whole.substr(0, cut))) == crc32c(whole));
  }
}

}  // namespace
}  // namespace ballast
