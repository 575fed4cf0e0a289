// Where predictions are written: standard output, or a file that appears whole or not at all.
#pragma once

#include <string>
#include <system_error>

#include "common/files/new_file.h"

namespace ballast {

// One thread. All throw std::runtime_error that names the file. Holds 64 KiB of text at most beside what is handed in.
class PredictionOutput {
 public:
  explicit PredictionOutput(const std::string& path);  // empty: standard output

  void write(const std::string& text);
  // The file has its name when this succeeds.
  void close();

 private:
  void flush();
  void check(const std::error_code& refused, const char* what) const;

  std::string path_;
  NewFile file_;
  std::string held_;
};

}  // namespace ballast
