// What the targets of job and worker files share: how an input is a file with overrides, and what errors promise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/job/config_error.h"
#include "common/job/schema.h"
#include "tests/fuzz/expect.h"

namespace ballast::fuzz {

// Ends the file and each override. No file with it is readable, so that nothing is lost for the file itself.
inline constexpr char kSeparator = '\x1E';

struct ConfigurationInput {
  std::string file;
  std::vector<std::string> overrides;
};

inline ConfigurationInput configuration_input(std::string_view bytes) {
  ConfigurationInput input;
  auto end = bytes.find(kSeparator);
  input.file = std::string(bytes.substr(0, end));
  while (end != std::string_view::npos) {
    bytes.remove_prefix(end + 1);
    end = bytes.find(kSeparator);
    input.overrides.emplace_back(bytes.substr(0, end));
  }
  return input;
}

// "--workers: ", say.
inline bool names_option(std::string_view line) {
  const auto end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz-");
  return line.starts_with("--") && end != std::string_view::npos && end > 2 && line.substr(end).starts_with(": ");
}

inline void expect_told(const ConfigError& error, std::string_view label) {
  expect(!error.errors().empty() && error.errors().size() <= kMaxConfigErrors + 1,
         "mistakes are told, but not endless");
  for (const auto& line : error.errors()) {
    expect(line.starts_with(label) || names_option(line), "a mistake names the file or the option that was typed");
    expect_line(line);
  }
}

// The value of every key, whether or not it means something.
inline std::vector<std::string> values_of(const Schema& schema) {
  std::vector<std::string> values;
  for (const auto& key : schema.keys) {
    values.push_back(value_text(key));
  }
  return values;
}

}  // namespace ballast::fuzz
