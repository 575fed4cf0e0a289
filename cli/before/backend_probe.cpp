#include "cli/before/backend_probe.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "cli/processes/process.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLines = 16;

// A file of its own that goes with it.
class Answer {
 public:
  Answer() : path_((fs::temp_directory_path() / "ballast-probe-XXXXXX").string()) {
    const int file = ::mkstemp(path_.data());
    if (file < 0) {
      throw std::runtime_error("no temporary file can be made: " + path_);
    }
    ::close(file);
  }
  ~Answer() {
    std::error_code error;
    fs::remove(path_, error);
  }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

bool ended_well(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      return false;
    }
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

BackendProbe probe_backend(const std::string& backend, const std::string& precision) {
  try {
    const Answer answer;
    const auto pid = start_process({find_program("ballast-worker", "worker"),
                                    {"--probe-backend", precision, "--backend", backend},
                                    {},
                                    answer.path()});
    const bool available = ended_well(pid);
    return {available, last_lines(answer.path(), kLines)};
  } catch (const std::exception& error) {
    return {false, {error.what()}};
  }
}

std::vector<std::string> precision_notes(const std::string& backend, const std::string& precision) {
  return precision == "float32" ? std::vector<std::string>{} : probe_backend(backend, precision).lines;
}

}  // namespace ballast
