// How the lines of `ballast predict` are written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace ballast {

// A value of a line, or a list of values.
struct PredictionColumn {
  const char* name = "";                      // of the value or the list in JSON, and of the value in CSV
  const char* numbered = "";                  // of each of the list's values in CSV, before its number
  std::optional<std::uint32_t> of_list = {};  // how many values a list has; none: it is one value
};

// Of one column: nothing, a whole number, a text, or a list of as many numbers as the column says.
using PredictionValue = std::variant<std::monostate, std::int64_t, std::string, std::span<const float>>;

// How a line is written. Floats are written so that they read back as the same.
class LineFormat {
 public:
  virtual ~LineFormat() = default;
  [[nodiscard]] virtual std::string head(std::span<const PredictionColumn> columns) const = 0;
  [[nodiscard]] virtual std::string line(std::span<const PredictionColumn> columns,
                                         std::span<const PredictionValue> values) const = 0;
};

// csv    a line of names first; an empty field for each value of what there is none of, nan for what is no number;
// texts
//        in quotes where they need them (RFC 4180)
// jsonl  an object a line; null for either; bytes that are no UTF-8 become U+FFFD
std::unique_ptr<LineFormat> line_format(const std::string& name);

}  // namespace ballast
