// What a command writes to standard output.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace ballast {

// Runs `command` with standard output going elsewhere, and returns what went there. What it throws passes through.
template <typename Command>
std::string captured(const Command& command) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "out";
  std::fflush(stdout);
  const int kept = ::dup(STDOUT_FILENO);
  std::FILE* const file = std::fopen(path.c_str(), "w");
  ::dup2(::fileno(file), STDOUT_FILENO);
  std::fclose(file);
  const auto restore = [kept] {
    std::fflush(stdout);
    ::dup2(kept, STDOUT_FILENO);
    ::close(kept);
  };
  try {
    command();
  } catch (...) {
    restore();
    throw;
  }
  restore();
  return read_file(path);
}

}  // namespace ballast
