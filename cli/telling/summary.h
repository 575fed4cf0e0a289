// What a run came to, for people and for programs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "common/job/job.h"
#include "protocol/messages.h"

namespace ballast {

struct Summary {
  Status status;            // the lead's last word
  std::string weights;      // SHA-256 of the final weights
  std::string optimizer;    // of the optimizer's state; empty: the job has none
  double wall_seconds = 0;  // from the command's start to the last process's end
  double training_seconds = 0;
  double examples_per_second = 0;
  std::uint32_t worker_restarts = 0;
  std::uint32_t shard_restarts = 0;
  std::filesystem::path run_dir;
  double standstill_seconds = 0;           // of training_seconds
  std::optional<MetricKind> best_by = {};  // what the best validation is the best in, if that is known
  std::uint64_t corrupt_examples = 0;      // left out or replaced, as far as a worker has told
  std::string corrupt_log = {};            // the log that names the first of them
  const DataSpec* data = nullptr;          // of the job, if it is known: it says in which units errors are
};

// Accepted slots by session: under the worker's name where one session had it, else under "name@<session>", so that
// each life of a worker that was started again shows.
std::map<std::string, std::uint64_t> slots_by_session(const Status& status);
// Accepted slots of each worker's fingerprint: by more than one, the weights are bits that no single kind would give.
std::map<std::string, std::uint64_t> slots_by_fingerprint(const Status& status);

// One JSON object; numbers that are not finite, and digests that do not exist, are null. Keys: docs/cli.md.
std::string summary_json(const Job& job, const Summary& summary);

// The lines after a finished run; `shown_dir` is the run's folder as a person would type it.
// Without a hash of the weights, and without a folder, those lines are left out.
std::string summary_text(const Summary& summary, const std::string& shown_dir);

}  // namespace ballast
