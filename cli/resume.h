// `ballast run --resume DIR`: what an earlier run left, and whether it can go on.
#pragma once

#include <string>
#include <vector>

#include "cli/run_folder.h"
#include "common/job/job.h"
#include "common/protocol/ledger.h"

namespace ballast {

// The job of the run in the folder, with `overrides` ("key.path=value"). What decides the job's bits, and the number of
// shards, must stay as they were. `job_file`: a job file that the user named as well, empty for none; it must be the
// same job. Throws std::runtime_error naming what differs, or ConfigError.
Job job_to_resume(const RunFolder& folder, const std::vector<std::string>& overrides, const std::string& job_file);

// The ledger of the run in the folder. Throws std::runtime_error if the job has finished (tells where its result is),
// if the databases are not this job's, or if one is gone that holds a part of the snapshots. Only reads.
Ledger ledger_to_resume(const RunFolder& folder, const Job& job);

// "job mnist goes on from the snapshot of step 400 of 937, epoch 4", of a journaled job with "and from the journals of
// what came after it"; or "... had not begun: it starts".
std::string resume_text(const Job& job, const Ledger& ledger);

}  // namespace ballast
