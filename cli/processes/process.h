// Child processes: start, tell how they ended, read the end of what they wrote.
//
// A child is its own process group, so that Ctrl-C reaches it only through us, and dies with us: the kernel sends it
// SIGKILL when the thread that started it ends, however that happens. Start children from the main thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ballast {

struct Command {
  std::filesystem::path program;
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // "NAME=value", in addition to ours
  std::filesystem::path log;             // standard output and error are appended to it
  int inherited = -1;                    // a descriptor that the child keeps open; -1: none
};

// Returns the process id. Throws std::runtime_error, naming the program and the reason, if it cannot be executed.
pid_t start_process(const Command& command);

struct Exit {
  bool by_signal = false;
  int number = 0;  // the signal, or the exit code
  [[nodiscard]] bool good() const { return !by_signal && number == 0; }
};

// "exited with code 1", "was killed by signal 9 (SIGKILL)"
std::string describe(const Exit& exit);

struct Ended {
  pid_t pid = 0;
  Exit exit;
};
// A child that has ended and was not reaped yet; never waits.
std::optional<Ended> reap();

// To the child and whatever it started.
void signal_group(pid_t pid, int signal);

// The last `lines` lines of a file, without empty ones; empty if it cannot be read.
std::vector<std::string> last_lines(const std::filesystem::path& file, std::size_t lines);

// The program beside this one: in the same folder, or in ../<folder> of a build tree. Throws std::runtime_error naming
// every place looked at.
std::filesystem::path find_program(const std::string& name, const std::string& folder);

}  // namespace ballast
