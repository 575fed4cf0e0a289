// What is wrong with a job file, a worker file or a `--set key=value`.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace ballast {

inline constexpr std::size_t kMaxConfigErrors = 20;        // told at once; more are counted
inline constexpr std::size_t kMaxConfigErrorBytes = 8192;  // of one; what is longer is cut

// what() is one line for each mistake, in the order of the file:
//   file:line: key.path: what is wrong; what is allowed; did you mean 'x'?
// A mistake in an override begins with "--set: " instead of the file and line. Control characters, which a file can
// smuggle in by YAML's escapes, are blanks.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<std::string> errors);
  explicit ConfigError(std::string error);

  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }

 private:
  std::vector<std::string> errors_;
};

}  // namespace ballast
