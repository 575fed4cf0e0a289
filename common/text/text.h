// Text from elsewhere (messages, files): UTF-8 that can be written to a log, a terminal, JSON or a metric's label.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ballast {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The character that begins at `at`, an index of `text`.
Character character_at(std::string_view text, std::size_t at);

// U+0000 to U+001F, U+007F to U+009F (C1 moves terminals), U+2028 and U+2029 (line breaks).
bool is_control(char32_t code);

enum class TextKind {
  line,   // no control characters
  lines,  // newline, carriage return and tab as well
};

// What is wrong with `text`, for a person, with the offending byte and its place; nothing if all is well.
std::optional<std::string> text_fault(std::string_view text, TextKind kind);

// `text` as a line of at most `limit` bytes: each byte or character at fault becomes a space; cut between characters.
std::string as_line(std::string_view text, std::size_t limit);

}  // namespace ballast
