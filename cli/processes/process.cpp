#include "cli/processes/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace ballast {

namespace {

constexpr std::streamoff kTailBytes = 16 << 10;

std::string reason(int error) { return std::strerror(error); }

// What exec takes: null-terminated lists. Made before the fork, because the child may allocate nothing.
class CStrings {
 public:
  explicit CStrings(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (auto& text : texts_) {
      pointers_.push_back(text.data());
    }
    pointers_.push_back(nullptr);
  }
  char* const* get() { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

std::vector<std::string> environment_with(const std::vector<std::string>& additions) {
  std::vector<std::string> all = additions;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view ours = *entry;
    const auto name = ours.substr(0, ours.find('=') + 1);
    if (std::none_of(additions.begin(), additions.end(),
                     [&](const std::string& addition) { return addition.starts_with(name); })) {
      all.emplace_back(ours);
    }
  }
  return all;
}

std::vector<std::string> argument_list(const Command& command) {
  std::vector<std::string> all{command.program.string()};
  all.insert(all.end(), command.arguments.begin(), command.arguments.end());
  return all;
}

// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const char* program, char* const* arguments, char* const* environment, int log, int inherited,
                         int error_pipe, pid_t parent) {
  setpgid(0, 0);
  const auto give_up = [error_pipe] {
    const int error = errno;
    [[maybe_unused]] const auto written = write(error_pipe, &error, sizeof(error));
    _exit(127);
  };
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    give_up();
  }
  if (getppid() != parent) {
    _exit(127);  // the parent died before the kernel was told
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  const int null = open("/dev/null", O_RDONLY);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) {
    give_up();
  }
  // A descriptor that a library forgot to mark would keep our sockets open in the child.
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  if (inherited >= 0) {
    fcntl(inherited, F_SETFD, 0);
  }
  execve(program, arguments, environment);
  give_up();
  _exit(127);
}

}  // namespace

pid_t start_process(const Command& command) {
  const auto fail = [&](const std::string& what) -> void {
    throw std::runtime_error("cannot start " + command.program.string() + ": " + what);
  };
  CStrings arguments(argument_list(command));
  CStrings environment(environment_with(command.environment));
  const auto program = command.program.string();
  const int log = open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) {
    fail("its log " + command.log.string() + " cannot be opened: " + reason(errno));
  }
  std::array<int, 2> error_pipe{};
  if (pipe2(error_pipe.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    close(log);
    fail(reason(error));
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    become(program.c_str(), arguments.get(), environment.get(), log, command.inherited, error_pipe[1], parent);
  }
  const int fork_error = errno;
  close(log);
  close(error_pipe[1]);
  // Closed by a successful exec; holds the reason after a failed one.
  int error = 0;
  const bool failed = pid > 0 && read(error_pipe[0], &error, sizeof(error)) == sizeof(error);
  close(error_pipe[0]);
  if (pid < 0) {
    fail(reason(fork_error));
  }
  if (failed) {
    waitpid(pid, nullptr, 0);
    fail(reason(error));
  }
  return pid;
}

std::string describe(const Exit& exit) {
  if (!exit.by_signal) {
    return "exited with code " + std::to_string(exit.number);
  }
  const char* name = sigabbrev_np(exit.number);
  return "was killed by signal " + std::to_string(exit.number) +
         (name == nullptr ? "" : " (SIG" + std::string(name) + ")");
}

std::optional<Ended> reap() {
  int status = 0;
  const pid_t pid = waitpid(-1, &status, WNOHANG);
  if (pid <= 0) {
    return std::nullopt;
  }
  if (WIFSIGNALED(status)) {
    return Ended{pid, {true, WTERMSIG(status)}};
  }
  return Ended{pid, {false, WEXITSTATUS(status)}};
}

void signal_group(pid_t pid, int signal) {
  // The group is the child's own doing: until it is there, the child itself must do.
  if (kill(-pid, signal) != 0) {
    kill(pid, signal);
  }
}

std::vector<std::string> last_lines(const std::filesystem::path& file, std::size_t lines) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(0, std::ios::end);
  const auto size = static_cast<std::streamoff>(in.tellg());
  if (!in) {
    return {};
  }
  in.seekg(std::max<std::streamoff>(0, size - kTailBytes));
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      all.push_back(line);
    }
  }
  if (all.size() > lines) {
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(lines));
  }
  return all;
}

std::filesystem::path find_program(const std::string& name, const std::string& folder) {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto beside = here / name;
  const auto in_build = here.parent_path() / folder / name;
  for (const auto& place : {beside, in_build}) {
    if (access(place.c_str(), X_OK) == 0) {
      return place;
    }
  }
  throw std::runtime_error("cannot find " + name + ": neither " + beside.string() + " nor " + in_build.string() +
                           " can be executed; build or install all of Ballast's programs together");
}

}  // namespace ballast
