#include "cli/models/prediction_lines.h"

#include <cmath>

#include "common/job/words.h"

namespace ballast {
namespace {

// `other` for what is no number.
std::string text_of(float value, const char* other) { return std::isfinite(value) ? float_text(value) : other; }

std::string joined(std::span<const float> values, const char* other) {
  std::string text;
  for (const auto value : values) {
    text += (text.empty() ? "" : ",") + text_of(value, other);
  }
  return text;
}

class Csv : public LineFormat {
 public:
  [[nodiscard]] std::string head(std::span<const PredictionColumn> columns) const override {
    std::string text;
    for (const auto& column : columns) {
      if (!column.of_list) {
        text += "," + std::string(column.name);
      }
      for (std::uint32_t i = 0; i < column.of_list.value_or(0); ++i) {
        text += "," + std::string(column.numbered) + std::to_string(i);
      }
    }
    return text.substr(1) + "\n";
  }

  [[nodiscard]] std::string line(std::span<const PredictionColumn> /*columns*/,
                                 std::span<const PredictionValue> values) const override {
    std::string text;
    for (const auto& value : values) {
      if (const auto* const list = std::get_if<std::span<const float>>(&value)) {
        text += "," + joined(*list, "nan");
      } else {
        const auto number = std::get<std::optional<std::int64_t>>(value);
        text += "," + (number ? std::to_string(*number) : "");
      }
    }
    return text.substr(1) + "\n";
  }
};

class JsonLines : public LineFormat {
 public:
  [[nodiscard]] std::string head(std::span<const PredictionColumn> /*columns*/) const override { return {}; }

  [[nodiscard]] std::string line(std::span<const PredictionColumn> columns,
                                 std::span<const PredictionValue> values) const override {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      text += (i == 0 ? "{\"" : ",\"") + std::string(columns[i].name) + "\":";
      if (const auto* const list = std::get_if<std::span<const float>>(&values[i])) {
        text += "[" + joined(*list, "null") + "]";
      } else {
        const auto number = std::get<std::optional<std::int64_t>>(values[i]);
        text += number ? std::to_string(*number) : "null";
      }
    }
    return text + "}\n";
  }
};

}  // namespace

std::unique_ptr<LineFormat> line_format(const std::string& name) {
  if (name == "csv") {
    return std::make_unique<Csv>();
  }
  return std::make_unique<JsonLines>();
}

}  // namespace ballast
