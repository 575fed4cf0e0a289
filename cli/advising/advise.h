// `ballast advise`: how many shards, lanes and workers pay for a job that has not run yet, and how long its steps will
// take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ballast {

struct AdviseOptions {
  std::string job;
  std::vector<std::string> overrides;
  std::vector<std::string>
      servers;  // files of `ballast probe`; with `workers`, or none of both: this machine is probed
  std::vector<std::string> workers;
  std::optional<std::uint32_t> server_machines;  // that there are; else as many as files; only with these
  std::optional<std::uint32_t> worker_machines;
  double server_mbit = 0;  // of a server's link; 0: as much as was seen of any link; only with files
  std::string data_path;
  std::string backend = "auto";
  double seconds = 20;  // for which replays are begun
  bool json = false;
};

// The exit code.
int advise(const AdviseOptions& options);

}  // namespace ballast
