// `ballast run --resume DIR`: what an earlier run left, and whether it can go on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/run_folder/run_folder.h"
#include "common/job/job.h"
#include "protocol/ledger.h"

namespace ballast {

// The job of the run in the folder, with `overrides` ("key.path=value"). What decides the job's bits, and the number of
// shards, must stay as they were. `job_file`: a job file that the user named as well, empty for none; it must be the
// same job. Throws std::runtime_error naming what differs, or ConfigError.
Job job_to_resume(const RunFolder& folder, const std::vector<std::string>& overrides, const std::string& job_file);

// The names of the shards ("shard 1, shard 3") whose databases do not have the job's end, of a job that has finished by
// the lead's ledger: they had no room for it, say. Empty if all have it. Throws std::runtime_error if one
// cannot be read.
std::string shards_without_end(const RunFolder& folder, const Job& job);

// The ledger of the run in the folder. Throws std::runtime_error if the job has finished (tells where its result is)
// and all databases have its end, if the databases are not this job's, or if one is gone, damaged or without its part
// of the newest complete snapshot. Only reads.
Ledger ledger_to_resume(const RunFolder& folder, const Job& job);

// "job mnist goes on from the snapshot of step 400 of 937, epoch 4", of a journaled job with "and from the journals of
// what came after it", or naming the shards that have none, which take the whole job back to the snapshot; or "... had
// not begun: it starts"; or "... has finished, at step 937: what lacks its end gets it".
std::string resume_text(const RunFolder& folder, const Job& job, const Ledger& ledger);

// `job.yaml` of a run's folder, as it was before the values of this try, which may be mistaken, went into it.
class FormerJobFile {
 public:
  // Throws std::runtime_error if it cannot be read.
  explicit FormerJobFile(const RunFolder& folder);

  // After a try that ended without `ledger`'s run having come further: puts it back, so that the next one does not meet
  // what this one said. Returns whether something changed by that. Throws std::runtime_error naming the file.
  [[nodiscard]] bool put_back_unless_trained(const RunFolder& folder, const Ledger& ledger) const;

 private:
  std::string text_;
};

// What a run that goes on would meet.
enum class Outlook : std::uint8_t {
  open,
  ends_again,  // what ended this one: another arithmetic, say
  bad_data,    // the same, unless the data become what the job says
};

// Of a run whose processes are all gone before its job's end: what is durable, and what can be done: the command that
// goes on from there, or how to start anew with `job_file` (empty: not known). If the databases do not let a run go on,
// the reason. Never throws.
std::string what_is_left(const RunFolder& folder, const Job& job, Outlook outlook, const std::string& job_file = {});

}  // namespace ballast
