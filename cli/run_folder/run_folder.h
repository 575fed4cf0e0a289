// Where a local run keeps its files.
//
//   job.yaml        the effective job            shard-<i>/   databases
//   processes.json  who runs, with which pid     logs/        what each process wrote
//   lead.address    where the lead is reached    lock         held while processes of a run live
//   keys/           of a run over tcp, while it lasts
//   targets.json    who serves metrics, with --metrics   prometheus/, prometheus.yml   with --watch
//   reshard.*       other databases, on their way in (storage/reshard/switch.h)
//   scale.*         what `ballast scale` asks of the run, while it does
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cli/run_folder/run_lock.h"

namespace ballast {

class RunFolder {
 public:
  // `wanted` empty: a new folder runs/<job>-<UTC time>[-n] here. Otherwise that folder, made if need be.
  // Throws std::runtime_error if it cannot be made, another run uses it, or it holds the databases of an earlier one.
  RunFolder(const std::string& wanted, const std::string& job);
  // Absolute, of the folder of an earlier run. Throws std::runtime_error if it is none.
  static std::filesystem::path path_of_earlier_run(const std::string& folder);
  // The folder of an earlier run, to go on in. Throws std::runtime_error if it is none, or another run uses it.
  static RunFolder of_earlier_run(const std::string& folder, RunLock::Use use = RunLock::Use::run);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // absolute
  [[nodiscard]] std::filesystem::path job_file() const { return path_ / "job.yaml"; }
  [[nodiscard]] std::filesystem::path address_file() const { return path_ / "lead.address"; }
  [[nodiscard]] std::filesystem::path processes_file() const { return path_ / "processes.json"; }
  [[nodiscard]] std::filesystem::path log(const std::string& process) const {
    return path_ / "logs" / (process + ".log");
  }
  // Forgets where the lead of an earlier run was, and what was asked of that run. For when a run is certain: one that
  // is refused changes nothing.
  void begin() const;
  [[nodiscard]] int lock_fd() const { return lock_.fd(); }
  // As a person would type it: relative to the current folder where that is shorter.
  [[nodiscard]] std::string shown() const;

 private:
  RunFolder(std::filesystem::path path, RunLock::Use use);

  std::filesystem::path path_;
  RunLock lock_;
};

// Where a run in this folder has the keys that it has made for itself.
inline std::filesystem::path keys_folder(const std::filesystem::path& run) { return run / "keys"; }

// Says that the folder is a run's, by a processes.json (without processes where there is none): what a person keeps in
// a folder of his own beside a job.yaml is not.
void mark_run_folder(const std::filesystem::path& folder);
bool is_marked_run_folder(const std::filesystem::path& folder);
// A run's folder that `gather`, `restore` or `reshard -o` has made, and in which nobody has run yet: neither `ballast
// run` nor servers that were started by hand.
bool was_never_started(const std::filesystem::path& folder);

// Writes the whole file or nothing: under another name first. What is there and no regular file (a device, a pipe, a
// link) is written to as it is. Throws std::runtime_error naming the file.
void write_atomically(const std::filesystem::path& file, const std::string& content);

// The folder of a run's unix sockets: in the run's folder, or a private one under $TMPDIR if paths would be too long
// for a socket (107 bytes). Removed, with what is in it, at the end.
class SocketFolder {
 public:
  SocketFolder(const std::filesystem::path& run_folder, std::uint32_t shards, std::uint32_t lanes);
  ~SocketFolder();
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;

  [[nodiscard]] std::string lead_address() const;
  [[nodiscard]] std::string shard_address(std::uint32_t shard) const;  // lanes append "-l<lane>"

 private:
  std::filesystem::path path_;
};

}  // namespace ballast
