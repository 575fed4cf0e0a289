#include "cli/models/prediction_lines.h"

#include <cmath>
#include <nlohmann/json.hpp>

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

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Calls the one of these that takes the value.
template <class... Takes>
struct ByKind : Takes... {
  using Takes::operator()...;
};
template <class... Takes>
ByKind(Takes...) -> ByKind<Takes...>;

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

  [[nodiscard]] std::string line(std::span<const PredictionColumn> columns,
                                 std::span<const PredictionValue> values) const override {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].of_list != 0U) {
        text += "," + field(columns[i], values[i]);
      }
    }
    return text.substr(1) + "\n";
  }

 private:
  // Of a list: its fields.
  static std::string field(const PredictionColumn& column, const PredictionValue& value) {
    return std::visit(ByKind{[&](std::monostate) { return std::string(column.of_list.value_or(1) - 1, ','); },
                             [](std::int64_t number) { return std::to_string(number); },
                             [](const std::string& text) { return csv_field(text); },
                             [](std::span<const float> list) { return joined(list, "nan"); }},
                      value);
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
      text += std::visit(ByKind{[](std::monostate) { return std::string("null"); },
                                [](std::int64_t number) { return std::to_string(number); },
                                [](const std::string& value) { return json_text(value); },
                                [](std::span<const float> list) { return "[" + joined(list, "null") + "]"; }},
                         values[i]);
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
