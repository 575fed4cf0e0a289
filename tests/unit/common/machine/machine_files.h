// A machine whose files say what a test wants.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ballast::testing {

class MachineFiles {
 public:
  MachineFiles() : root_(std::filesystem::temp_directory_path() / ("ballast-machine-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(root_);
  }
  ~MachineFiles() { std::filesystem::remove_all(root_); }
  MachineFiles(const MachineFiles&) = delete;
  MachineFiles& operator=(const MachineFiles&) = delete;

  void file(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace ballast::testing
