#include "worker/data/text/message.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "common/text/text.h"

namespace ballast {
namespace {

std::string from_latin1(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto code = static_cast<std::uint8_t>(byte);
    if (code < 0x80U) {
      text.push_back(byte);
    } else {
      text.push_back(static_cast<char>(0xC0U | (code >> 6U)));
      text.push_back(static_cast<char>(0x80U | (code & 0x3FU)));
    }
  }
  return text;
}

constexpr std::string_view kBlanks = " \t\n\v\f\r";

std::string_view without_blanks_around(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::string_view without_headers(std::string_view text) {
  const auto end = text.find("\n\n");
  return end == std::string_view::npos ? text : text.substr(end + 2);
}

bool is_rule(std::string_view line) { return line.find_first_not_of(" \t\v\f\r-") == std::string_view::npos; }

std::string_view without_signature(std::string_view text) {
  text = without_blanks_around(text);
  for (auto end = text.size(); end > 0;) {
    const auto before = text.rfind('\n', end - 1);
    if (before == std::string_view::npos) {
      break;
    }
    if (is_rule(text.substr(before + 1, end - before - 1))) {
      return text.substr(0, before);
    }
    end = before;
  }
  return text;
}

bool is_quote(std::string_view line) {
  constexpr std::array<std::string_view, 4> kBegins = {">", "|", "In article", "Quoted from"};
  constexpr std::array<std::string_view, 5> kHolds = {"writes in", "writes:", "wrote:", "says:", "said:"};
  return std::ranges::any_of(kBegins, [&](auto word) { return line.starts_with(word); }) ||
         std::ranges::any_of(kHolds, [&](auto word) { return line.find(word) != std::string_view::npos; });
}

std::string without_quotes(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    if (!is_quote(text.substr(0, end))) {
      kept += text.substr(0, end);
    }
    text.remove_prefix(end);
  }
  return kept;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto bytes = character_at(text, at).bytes;
    if (bytes == 0) {
      return false;
    }
    at += bytes;
  }
  return true;
}

std::string message_text(std::string bytes) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool ends_line = bytes[i] == '\r' && i + 1 < bytes.size() && bytes[i + 1] == '\n';
    bytes[kept] = bytes[i];
    kept += ends_line ? 0 : 1;
  }
  bytes.resize(kept);
  return is_utf8(bytes) ? std::move(bytes) : from_latin1(bytes);
}

std::string strip_message(const std::string& text, const StripSpec& strip) {
  std::string_view left = text;
  if (strip.headers) {
    left = without_headers(left);
  }
  if (strip.signature) {
    left = without_signature(left);
  }
  return strip.quotes ? without_quotes(left) : std::string(left);
}

}  // namespace ballast
