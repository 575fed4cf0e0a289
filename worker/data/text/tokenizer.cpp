#include "worker/data/text/tokenizer.h"

#include "common/text/text.h"

namespace ballast {
namespace {

enum class Class { part, apostrophe, sign, blank };

Class class_of(const Character& character) {
  const auto code = character.code;
  if (character.bytes == 0 || code == U' ' || is_control(code)) {
    return Class::blank;
  }
  if (code < 0x80U) {
    const bool letter = (code >= U'a' && code <= U'z') || (code >= U'A' && code <= U'Z');
    return letter || (code >= U'0' && code <= U'9') ? Class::part : code == U'\'' ? Class::apostrophe : Class::sign;
  }
  const bool space = code == 0xA0U || (code >= 0x2000U && code <= 0x200FU) || code == 0x202FU || code == 0x205FU ||
                     (code >= 0x2060U && code <= 0x206FU) || code == 0x3000U;
  if (space) {
    return Class::blank;
  }
  const bool sign = code <= 0xBFU || code == 0xD7U || code == 0xF7U || (code >= 0x2000U && code <= 0x206FU) ||
                    (code >= 0x3000U && code <= 0x303FU);
  return sign ? Class::sign : Class::part;
}

// Of the token so far; both forms have as many bytes.
void append_small(std::string_view bytes, std::string& token) {
  token += bytes;
  auto& last = token.back();
  const auto value = static_cast<std::uint8_t>(last);
  if (bytes.size() == 1 && value >= 'A' && value <= 'Z') {
    last = static_cast<char>(value + ('a' - 'A'));
  } else if (bytes.size() == 2 && static_cast<std::uint8_t>(bytes[0]) == 0xC3U && value <= 0x9EU && value != 0x97U) {
    last = static_cast<char>(value + 0x20U);
  }
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string small;
  for (std::size_t at = 0; at < text.size();) {
    const auto bytes = std::max<std::size_t>(character_at(text, at).bytes, 1);
    append_small(text.substr(at, bytes), small);
    at += bytes;
  }
  return small;
}

void for_each_token(std::string_view text, const std::function<bool(std::string_view token)>& take) {
  std::string word;
  const auto end_word = [&] {
    const bool goes_on = word.empty() || take(word);
    word.clear();
    return goes_on;
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto character = character_at(text, at);
    const auto bytes = std::max<std::size_t>(character.bytes, 1);
    const auto next = at + bytes;
    auto kind = class_of(character);
    if (kind == Class::apostrophe) {
      const bool between = !word.empty() && next < text.size() && class_of(character_at(text, next)) == Class::part;
      kind = between ? Class::part : Class::sign;
    }
    if (kind == Class::part) {
      append_small(text.substr(at, bytes), word);
    } else if (!end_word() || (kind == Class::sign && !take(text.substr(at, bytes)))) {
      return;
    }
    at = next;
  }
  end_word();
}

}  // namespace ballast
