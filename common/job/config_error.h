// What is wrong with a job file, a worker file or a `--set key=value`.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ballast {

inline constexpr std::size_t kMaxConfigErrors = 20;  // told at once; more are counted

// what() is one line for each mistake, in the order of the file:
//   file:line: key.path: what is wrong; what is allowed; did you mean 'x'?
// A mistake in an override begins with "--set: " instead of the file and line.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<std::string> errors)
      : std::runtime_error(joined(errors)), errors_(std::move(errors)) {}
  explicit ConfigError(std::string error) : ConfigError(std::vector<std::string>{std::move(error)}) {}

  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }

 private:
  static std::string joined(const std::vector<std::string>& errors) {
    std::string text;
    for (const auto& error : errors) {
      text += (text.empty() ? "" : "\n") + error;
    }
    return text;
  }

  std::vector<std::string> errors_;
};

}  // namespace ballast
