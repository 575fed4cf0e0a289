// What a shell's command prints.
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

}  // namespace ballast::bench
