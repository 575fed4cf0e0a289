#include "cli/models/opened_run.h"

#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "cli/run_folder/settle.h"
#include "common/job/load.h"
#include "common/numeric/sha256.h"

namespace ballast {

namespace {

std::vector<std::filesystem::path> databases_of(const std::string& folder) {
  settle_run_folder(folder);
  return value_or_throw(find_shard_databases(folder));
}

// The databases themselves say which job they hold.
Job job_of(const std::string& folder) {
  const auto databases = databases_of(folder);
  const ShardStore store(value_or_throw(open_rocksdb(databases.front(), OpenMode::read_only)));
  const auto identity = value_or_throw(store.identity());
  if (!identity) {
    throw std::runtime_error(databases.front().string() + ": the database has no identity: it is not a shard's");
  }
  return make_job(parse_job(identity->effective_job, databases.front().string() + " (its job)"));
}

}  // namespace

OpenedRun::OpenedRun(const std::string& folder) : OpenedRun(folder, job_of(folder)) {}

OpenedRun::OpenedRun(const std::string& folder, Job job)
    : folder_(folder),
      job_(std::make_unique<const Job>(std::move(job))),
      reader_(value_or_throw(RunReader::open(databases_of(folder), job_->arena, job_->layout_digest))) {}

OpenedRun::Chosen OpenedRun::choose(const SnapshotChoice& choice) const {
  const bool has_averages = averages_weights(job_->spec.training);
  const bool averages = has_averages && !choice.last_weights;
  const auto chosen = [&](const SnapshotId& id, const std::string& what) {
    const auto place =
        " of " + folder_ + ": step " + std::to_string(id.step) + " of timeline " + std::to_string(id.timeline);
    return Chosen{id,
                  what + place +
                      (averages       ? ", averages of the weights"
                       : has_averages ? ", last weights"
                                      : ""),
                  averages};
  };
  if (choice.best) {
    return chosen(value_or_throw(reader_.best()), "the best snapshot");
  }
  if (choice.step) {
    return chosen(value_or_throw(reader_.at_step(*choice.step)), "a snapshot");
  }
  if (reader_.ledger().finished) {
    return chosen(*reader_.ledger().finished, "the final weights");
  }
  const auto newest = value_or_throw(reader_.newest());
  if (newest.timeline == 0 && job_->spec.training.init_from.empty()) {  // drawn anew, not kept
    throw std::runtime_error(folder_ +
                             ": the run has no snapshot yet: wait for its first one (durability.every_steps)");
  }
  return chosen(newest, "the newest snapshot (the run has not finished)");
}

void OpenedRun::visit(const Chosen& chosen, const RunReader::Visitor& visitor) const {
  throw_unless_ok(chosen.averages ? reader_.visit_averages(chosen.id, visitor)
                                  : reader_.visit(chosen.id, TensorKind::weights, visitor));
}

std::vector<float> OpenedRun::weights(const Chosen& chosen) const {
  const auto& arena = job_->arena;
  std::vector<float> weights(arena.elements);
  std::vector<std::size_t> filled(arena.parameters.size());  // bytes
  visit(chosen, [&](std::size_t parameter, std::span<const std::byte> piece) {
    auto* const begin = reinterpret_cast<std::byte*>(weights.data() + arena.extents[parameter].offset);
    std::memcpy(begin + filled[parameter], piece.data(), piece.size());
    filled[parameter] += piece.size();
  });
  return weights;
}

std::string OpenedRun::weights_sha256(const Chosen& chosen) const {
  Sha256 sum;
  visit(chosen, [&sum](std::size_t, std::span<const std::byte> piece) { sum.update(piece); });
  return sum.hex();
}

WeightsDigest OpenedRun::digest(const SnapshotId& snapshot) const { return value_or_throw(reader_.digest(snapshot)); }

}  // namespace ballast
