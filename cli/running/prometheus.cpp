#include "cli/running/prometheus.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "cli/processes/free_port.h"
#include "cli/processes/process.h"

namespace ballast {
namespace {

// The targets' file is named beside the configuration: file names in it are relative to its folder.
constexpr const char* kConfiguration =
    "global: {scrape_interval: 2s, evaluation_interval: 15s}\n"
    "scrape_configs:\n"
    "  - job_name: ballast\n"
    "    file_sd_configs: [{files: [targets.json], refresh_interval: 2s}]\n";

}  // namespace

std::optional<std::filesystem::path> Prometheus::find() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto program = std::filesystem::path(folder) / "prometheus";
    if (!folder.empty() && access(program.c_str(), X_OK) == 0 && !std::filesystem::is_directory(program)) {
      return program;
    }
  }
  return std::nullopt;
}

Prometheus::Prometheus(const std::filesystem::path& program, const RunFolder& folder) {
  const auto configuration = folder.path() / "prometheus.yml";
  write_atomically(configuration, kConfiguration);
  const auto own = "127.0.0.1:" + std::to_string(free_port());
  Command command;
  command.program = program;
  command.arguments = {"--config.file=" + configuration.string(),
                       "--storage.tsdb.path=" + (folder.path() / "prometheus").string(), "--web.listen-address=" + own,
                       "--log.level=warn"};
  command.log = folder.log("prometheus");
  pid_ = start_process(command);
  address_ = "http://" + own;
}

// It writes what it has in memory when it is told to end; one that does not end is killed.
Prometheus::~Prometheus() {
  if (pid_ == 0) {
    return;
  }
  signal_group(pid_, SIGTERM);
  constexpr std::chrono::milliseconds kPause{20};
  constexpr int kPauses = 250;
  for (int i = 0; i < kPauses; ++i) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) {
      return;
    }
    std::this_thread::sleep_for(kPause);
  }
  signal_group(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace ballast
