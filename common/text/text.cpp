#include "common/text/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace ballast {
namespace {

// The number of bytes that a first byte announces; 0 if it cannot be one.
std::size_t announced(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;  // a continuation, or an overlong form of ASCII
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF5 ? 4 : 0;
}

bool allowed(char32_t code, TextKind kind) {
  return !is_control(code) || (kind == TextKind::lines && (code == '\n' || code == '\r' || code == '\t'));
}

std::string describe(const char* what, std::uint32_t value, std::size_t at) {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%s 0x%02x at byte %zu", what, value, at);
  return text.data();
}

}  // namespace

// By the table of well-formed sequences (Unicode 15, table 3-7).
Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const std::size_t bytes = announced(byte(0));
  if (bytes == 0 || bytes > text.size() - at) {
    return {};
  }
  if (bytes == 1) {
    return {byte(0), 1};
  }
  char32_t code = byte(0) & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) {
      return {};
    }
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kSmallest[bytes] || surrogate || code > 0x10FFFF ? Character{} : Character{code, bytes};
}

bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x2028 || code == 0x2029;
}

std::optional<std::string> text_fault(std::string_view text, TextKind kind) {
  for (std::size_t at = 0; at < text.size();) {
    const auto found = character_at(text, at);
    if (found.bytes == 0) {
      return describe("invalid UTF-8", static_cast<unsigned char>(text[at]), at);
    }
    if (!allowed(found.code, kind)) {
      return describe("the control character", found.code, at);
    }
    at += found.bytes;
  }
  return std::nullopt;
}

std::string as_line(std::string_view text, std::size_t limit) {
  std::string line;
  line.reserve(std::min(text.size(), limit));
  for (std::size_t at = 0; at < text.size();) {
    const auto found = character_at(text, at);
    const bool good = found.bytes != 0 && allowed(found.code, TextKind::line);
    const std::size_t taken = std::max<std::size_t>(found.bytes, 1);
    const auto piece = good ? text.substr(at, taken) : std::string_view(" ");
    if (line.size() + piece.size() > limit) {
      break;
    }
    line += piece;
    at += taken;
  }
  return line;
}

}  // namespace ballast
