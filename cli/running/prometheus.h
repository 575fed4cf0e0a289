// A Prometheus of one local run's own, if one is installed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "cli/run_folder/run_folder.h"

namespace ballast {

// One thread, the main one. Its configuration, data and log are in the run's folder, and stay there; it reads from
// targets.json who is to be asked. It ends with this.
class Prometheus {
 public:
  // Throws std::runtime_error if it cannot be started.
  Prometheus(const std::filesystem::path& program, const RunFolder& folder);
  ~Prometheus();
  Prometheus(const Prometheus&) = delete;
  Prometheus& operator=(const Prometheus&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }  // http://127.0.0.1:PORT
  [[nodiscard]] pid_t pid() const { return pid_; }
  // It is no child of ours any more.
  void ended() { pid_ = 0; }

  // In a folder of $PATH; none: it is not installed.
  static std::optional<std::filesystem::path> find();

 private:
  std::string address_;
  pid_t pid_ = 0;
};

}  // namespace ballast
