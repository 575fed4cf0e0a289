#include "cli/resharding/stopped_run.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "cli/models/run_removal.h"
#include "cli/run_folder/own_databases.h"
#include "cli/run_folder/snapshot_parts.h"
#include "common/job/load.h"
#include "common/telling/amounts.h"
#include "common/text/shell_word.h"
#include "storage/reshard/build.h"
#include "storage/reshard/journal_end.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

// By shard: those of the job, and no other.
std::vector<fs::path> databases_of_run(const fs::path& folder, const Job& job) {
  const auto shards = job.spec.cluster.shards;
  if (!holds_something(shard_database(folder, 0))) {
    throw std::runtime_error("there is nothing to reshard in " + folder.string() + ": it has no database " +
                             shard_database(folder, 0).string() + "; start the job with `ballast run JOB --shards M`");
  }
  std::vector<fs::path> databases;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    check_there(databases.emplace_back(shard_database(folder, shard)), shard);
  }
  for (const auto& there : databases_in(folder)) {
    if (std::find(databases.begin(), databases.end(), there) == databases.end()) {
      throw std::runtime_error(there.string() + " is none of the databases of this run, which has " +
                               count_text(shards, "shard") + " by its job.yaml; move it out of the folder");
    }
  }
  return databases;
}

RunReader opened_to_read(const std::vector<fs::path>& databases, const Job& job) {
  std::vector<std::unique_ptr<ShardStore>> stores;
  for (const auto& database : databases) {
    stores.push_back(std::make_unique<ShardStore>(value_or_throw(open_rocksdb(database, OpenMode::read_only))));
    check_identity(*stores.back(), job);
  }
  return value_or_throw(RunReader::open(std::move(stores), job.arena, job.layout_digest));
}

std::vector<SnapshotId> whole_snapshots(const RunReader& run, const Job& job, const fs::path& folder) {
  auto snapshots = kept_snapshots(run.ledger(), job.spec.training.init_from.empty());
  if (snapshots.empty() || snapshots.back() == SnapshotId{}) {
    const auto word = shell_word(folder.string());
    throw std::runtime_error(
        "the run in " + folder.string() +
        " has no complete snapshot yet, so there is nothing to reshard; start the job anew with "
        "`ballast run JOB --shards M`, or let this one come to a snapshot: `ballast run --resume " +
        word + "`, then `ballast stop " + word + "`");
  }
  for (std::uint32_t shard = 0; shard < run.shards(); ++shard) {
    for (const auto& snapshot : snapshots) {
      check_snapshot_part(run.shard(shard), shard, snapshot);
    }
  }
  return snapshots;
}

}  // namespace

StoppedRun::StoppedRun(fs::path folder)
    : folder_(std::move(folder)),
      job_(make_job(load_job(job_file().string()))),
      databases_(databases_of_run(folder_, job_)) {
  for (const auto& database : databases_) {
    closed_.push_back(ClosedDatabase::to_read(database));
  }
  reader_ = opened_to_read(databases_, job_);
  snapshots_ = whole_snapshots(*reader_, job_, folder_);
}

std::optional<Step> StoppedRun::journaled_step() const {
  const auto& ledger = reader().ledger();
  if (!is_journaled(job_.spec) || ledger.finished) {
    return std::nullopt;
  }
  const auto newest =
      value_or_throw(newest_journaled_item(databases_, {job_.spec.job, job_.spec_digest, 0}, ledger.timeline));
  const auto step = newest ? std::optional<Step>(*newest / job_.spec.training.slots) : std::nullopt;
  return step && *step >= snapshots_.back().step ? step : std::nullopt;
}

}  // namespace ballast
