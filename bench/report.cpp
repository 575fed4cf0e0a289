#include "bench/report.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

namespace ballast::bench {

namespace {

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (const auto colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts)};
}

// Four digits that mean something, whatever the size.
std::string shown(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return *text;
  }
  if (const auto* count = std::get_if<std::uint64_t>(&value)) {
    return std::to_string(*count);
  }
  const double number = std::get<double>(value);
  const double size = std::fabs(number);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3, number);
  return text.data();
}

std::vector<std::string> columns_of(const Result& result) {
  std::vector<std::string> columns;
  for (const auto& row : result.rows) {
    for (const auto& [column, value] : row) {
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
        columns.push_back(column);
      }
    }
  }
  return columns;
}

std::string cell(const Row& row, const std::string& column) {
  const auto found = std::find_if(row.begin(), row.end(), [&](const auto& entry) { return entry.first == column; });
  return found == row.end() ? "-" : shown(found->second);
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.processor = processor_name();
  machine.cores = static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  if (getloadavg(&machine.load, 1) != 1) {
    machine.load = 0;
  }
  machine.date = today();
  return machine;
}

std::string as_table(const std::string& name, const Result& result) {
  std::vector<std::vector<std::string>> lines{columns_of(result)};
  for (const auto& row : result.rows) {
    auto& line = lines.emplace_back();
    for (const auto& column : lines.front()) {
      line.push_back(cell(row, column));
    }
  }
  std::string text = name + "\n";
  for (const auto& line : lines) {
    text += " ";
    for (std::size_t i = 0; i < line.size(); ++i) {
      std::size_t width = 0;
      for (const auto& other : lines) {
        width = std::max(width, other[i].size());
      }
      text += " " + line[i] + std::string(width - line[i].size() + 1, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text + "  " + result.how + "\n";
}

std::string as_json(const Machine& machine, const NamedResults& results) {
  nlohmann::ordered_json document;
  document["machine"] = {{"processor", machine.processor},
                         {"cores", machine.cores},
                         {"load_before", machine.load},
                         {"date", machine.date}};
  document["benchmarks"] = nlohmann::ordered_json::array();
  for (const auto& [name, result] : results) {
    nlohmann::ordered_json entry;
    entry["name"] = name;
    entry["how"] = result.how;
    entry["rows"] = nlohmann::ordered_json::array();
    for (const auto& row : result.rows) {
      nlohmann::ordered_json cells;
      for (const auto& [column, value] : row) {
        std::visit([&, &key = column](const auto& body) { cells[key] = body; }, value);
      }
      entry["rows"].push_back(std::move(cells));
    }
    document["benchmarks"].push_back(std::move(entry));
  }
  return document.dump(2) + "\n";
}

}  // namespace ballast::bench
