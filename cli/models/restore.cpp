#include "cli/models/restore.h"

#include <cstdio>
#include <stdexcept>
#include <utility>

#include "cli/run_folder/run_folder.h"
#include "cli/run_folder/settle.h"
#include "common/job/job.h"
#include "common/job/load.h"
#include "common/telling/amounts.h"
#include "common/text/shell_word.h"
#include "storage/copies/restore.h"
#include "storage/store/run_reader.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

void list_sets(CopyPlace& place) {
  std::string job;
  const auto sets = value_or_throw(list_copies(place, job));
  std::printf("copies of %s in %s\n", job.empty() ? "a job" : job.c_str(), place.describe().c_str());
  std::printf("%12s %12s %8s  %-16s\n", "step", "timeline", "shards", "run");
  for (const auto& set : sets) {
    std::printf("%12llu %12llu %8u  %-16s%s\n", static_cast<unsigned long long>(set.snapshot.step),
                static_cast<unsigned long long>(set.snapshot.timeline), set.shards, run_text(set.run).c_str(),
                set.complete()         ? ""
                : set.has_all_shards() ? "  incomplete: losses of earlier steps are missing"
                                       : "  incomplete: copies of some shards are missing");
  }
}

StoreResult<Identity> identity_in(const fs::path& database) {
  auto opened = open_rocksdb(database, OpenMode::read_only);
  if (!opened.ok()) {
    return opened.status();
  }
  const ShardStore store(std::move(opened.value()));
  auto identity = store.identity();
  if (!identity.ok()) {
    return identity.status();
  }
  return identity.value() ? StoreResult<Identity>(std::move(*identity.value()))
                          : StoreStatus{StoreCode::corrupt, database.string() + ": the copy has no identity"};
}

struct Found {
  std::string weights;    // SHA-256
  bool finished = false;  // the snapshot is the job's end
};

// Reads every parameter: that every chunk is there, in the shard where the job looks for it.
StoreResult<Found> read_back(const std::vector<fs::path>& databases, const SnapshotId& snapshot) {
  const auto identity = identity_in(databases.front());
  if (!identity.ok()) {
    return identity.status();
  }
  const auto job = make_job(parse_job(identity.value().effective_job, databases.front().string() + " (its job)"));
  const auto run = RunReader::open(databases, job.arena, job.layout_digest);
  if (!run.ok()) {
    return run.status();
  }
  const auto digest = run.value().digest(snapshot);
  return digest.ok() ? StoreResult<Found>(Found{digest.value().weights, run.value().ledger().finished == snapshot})
                     : digest.status();
}

}  // namespace

int restore_run(const RestoreCommand& command) {
  const auto place = value_or_throw(open_copy_place({.place = command.copies,
                                                     .s3_endpoint = command.s3_endpoint,
                                                     .s3_credentials_file = command.s3_credentials_file,
                                                     .copy_key_file = command.copy_key_file,
                                                     .accept_plain = command.accept_plain}));
  if (command.list) {
    list_sets(*place);
    return 0;
  }
  if (command.run_dir.empty()) {
    throw std::runtime_error("restore: --run-dir names the folder to build the run in; --list shows what there is");
  }
  const auto run = command.run.empty() ? std::nullopt : parse_run(command.run);
  if (!command.run.empty() && !run) {
    throw std::runtime_error("--run " + command.run +
                             ": not a run's id: 16 hexadecimal digits as --list shows them, or none");
  }
  settle_run_folder(command.run_dir);
  std::string weights;
  bool finished = false;
  const auto restored = value_or_throw(
      restore(*place, {command.run_dir, command.step, run}, [&](const auto& databases, const SnapshotId& snapshot) {
        const auto found = read_back(databases, snapshot);
        if (found.ok()) {
          weights = found.value().weights;
          finished = found.value().finished;
        }
        return found.ok() ? StoreStatus{} : found.status();
      }));
  write_atomically(fs::path(command.run_dir) / "job.yaml",
                   value_or_throw(identity_in(restored.databases.front())).effective_job);
  mark_run_folder(command.run_dir);
  for (const auto& reason : restored.passed_over) {
    std::fprintf(stderr, "ballast: passed over: %s\n", reason.c_str());
  }
  std::printf("restored step %llu of timeline %llu of run %s into %s (%s, weights sha256 %s)\n",
              static_cast<unsigned long long>(restored.snapshot.step),
              static_cast<unsigned long long>(restored.snapshot.timeline), run_text(restored.run).c_str(),
              command.run_dir.c_str(), count_text(restored.databases.size(), "shard").c_str(), weights.c_str());
  std::printf(finished ? "that is the job's end; its weights: ballast export %s -o FILE.safetensors\n"
                       : "go on with: ballast run --resume %s\n",
              shell_word(command.run_dir).c_str());
  return 0;
}

}  // namespace ballast
