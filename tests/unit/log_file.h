// A log that a test reads.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>  // NOLINT: mkdtemp is POSIX

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/log/log.h"

namespace ballast {

// What this process logs goes there, until this goes. While it is made and when it goes no other thread may log. Lines
// of one kind are held back over several of these as over one: a test that wants to read a line must not be one of many
// that have it written.
class LogFile {
 public:
  explicit LogFile(LogLevel level = LogLevel::info) {
    std::string name = (std::filesystem::temp_directory_path() / "ballast-log-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    start_logging({"shard", "0", path(), level});
  }
  ~LogFile() {
    start_logging({"test", "", "", LogLevel::warn});
    std::filesystem::remove_all(folder_);
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  [[nodiscard]] std::string path() const { return (folder_ / "logs" / "shard-0.log").string(); }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> found;
    std::ifstream file(path());
    for (std::string line; std::getline(file, line);) {
      found.push_back(line);
    }
    return found;
  }
  // How many lines have this in them.
  [[nodiscard]] std::ptrdiff_t count(std::string_view text) const {
    return std::ranges::count_if(lines(), [text](const auto& line) { return line.find(text) != std::string::npos; });
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace ballast
