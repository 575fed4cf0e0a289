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

// Of one column: a whole number or none, or a list.
using PredictionValue = std::variant<std::optional<std::int64_t>, std::span<const float>>;

// How a line is written. Floats are written so that they read back as the same.
class LineFormat {
 public:
  virtual ~LineFormat() = default;
  [[nodiscard]] virtual std::string head(std::span<const PredictionColumn> columns) const = 0;
  [[nodiscard]] virtual std::string line(std::span<const PredictionColumn> columns,
                                         std::span<const PredictionValue> values) const = 0;
};

// csv    a line of names first; an empty field for what there is none of, nan for what is no number
// jsonl  an object a line; null for either
std::unique_ptr<LineFormat> line_format(const std::string& name);

}  // namespace ballast
