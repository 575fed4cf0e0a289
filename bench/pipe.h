// Commands of a shell, and what they print.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

namespace ballast::bench {

struct ClosePipe {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};

using Pipe = std::unique_ptr<std::FILE, ClosePipe>;

// Null if no process can be had.
inline Pipe pipe_from(const std::string& command) { return Pipe(popen(command.c_str(), "r")); }

// One word of the shell that stands for the text.
inline std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return word + "'";
}

}  // namespace ballast::bench
