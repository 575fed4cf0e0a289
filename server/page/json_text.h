// JSON written at once, without a tree: what the page asks for each second is long.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ballast {

// Appends to a text. Commas are the caller's.
class JsonText {
 public:
  JsonText& raw(std::string_view text) {
    text_ += text;
    return *this;
  }
  // Six digits are more than can be drawn; what is not finite is null.
  JsonText& number(double value) {
    if (!std::isfinite(value)) {
      return raw("null");
    }
    char digits[32];
    text_.append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof(digits), "%.6g", value)));
    return *this;
  }
  // A moment, or a span of time, in milliseconds' steps, however large.
  JsonText& seconds(double value) {
    char digits[32];
    text_.append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof(digits), "%.3f", value)));
    return *this;
  }
  JsonText& integer(std::uint64_t value) { return raw(std::to_string(value)); }
  JsonText& boolean(bool value) { return raw(value ? "true" : "false"); }
  // Whatever is in it: pure ASCII, what is no UTF-8 replaced.
  JsonText& text(const std::string& value) {
    return raw(nlohmann::json(value).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  }
  // A comma, but before the first one of a list.
  JsonText& next(bool& is_first) {
    if (!is_first) {
      text_ += ',';
    }
    is_first = false;
    return *this;
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace ballast
