// A run that nobody works on, opened as the source of a `ballast reshard`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "cli/models/closed_database.h"
#include "common/job/job.h"
#include "storage/store/run_reader.h"

namespace ballast {

// Changes nothing in the folder; as long as it lives, no server opens one of the databases. One thread.
class StoppedRun {
 public:
  // `folder` is a run's, whose lock the caller has. Throws std::runtime_error naming the database and the remedy, if
  // the databases are not those of the folder's job.yaml, one is gone, damaged, too many or open elsewhere, or there is
  // no complete snapshot, or one without all its parts.
  explicit StoppedRun(std::filesystem::path folder);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path job_file() const { return folder_ / "job.yaml"; }
  [[nodiscard]] const Job& job() const { return job_; }  // of job.yaml
  [[nodiscard]] const RunReader& reader() const { return *reader_; }
  [[nodiscard]] const std::vector<std::filesystem::path>& databases() const { return databases_; }
  [[nodiscard]] const std::vector<SnapshotId>& snapshots() const { return snapshots_; }  // complete; ascending

  // The furthest step of which the journals have updates that are in no complete snapshot; none: there are no such, or
  // a run that is resumed would not go on from them. Throws std::runtime_error if a journal cannot be read.
  [[nodiscard]] std::optional<Step> journaled_step() const;

  // Ends the reading: the databases stay closed to servers.
  void close() { reader_.reset(); }

 private:
  std::filesystem::path folder_;
  Job job_;
  std::vector<std::filesystem::path> databases_;
  std::vector<ClosedDatabase> closed_;
  std::optional<RunReader> reader_;
  std::vector<SnapshotId> snapshots_;
};

}  // namespace ballast
