#include "common/job/config_error.h"

#include <utility>

#include "common/text/text.h"

namespace ballast {
namespace {

std::vector<std::string> as_lines(std::vector<std::string> errors) {
  for (auto& error : errors) {
    error = as_line(error, kMaxConfigErrorBytes);
  }
  return errors;
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) {
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

}  // namespace

ConfigError::ConfigError(std::vector<std::string> errors)
    : std::runtime_error(joined_lines(as_lines(errors))), errors_(as_lines(std::move(errors))) {}

ConfigError::ConfigError(std::string error) : ConfigError(std::vector<std::string>{std::move(error)}) {}

}  // namespace ballast
