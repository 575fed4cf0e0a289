#include "cli/digest.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/job/job.h"
#include "common/job/load.h"
#include "common/store/run_reader.h"

namespace ballast {

namespace {

template <typename T>
T checked(StoreResult<T> result) {
  if (!result.ok()) {
    throw std::runtime_error(result.status().text());
  }
  return std::move(result.value());
}

// The databases themselves say which job they hold.
Job job_of(const std::filesystem::path& database) {
  const ShardStore store(checked(open_rocksdb(database, OpenMode::read_only)));
  const auto identity = checked(store.identity());
  if (!identity) {
    throw std::runtime_error(database.string() + ": the database has no identity: it is not a shard's");
  }
  return make_job(parse_job(identity->effective_job, database.string() + " (its job)"));
}

}  // namespace

int show_digest(const std::string& run_folder, std::optional<Step> step) {
  const auto databases = checked(find_shard_databases(run_folder));
  const auto job = job_of(databases.front());
  const auto run = checked(RunReader::open(databases, job.arena, job.layout_digest));
  const auto digest = checked(run.digest(checked(step ? run.at_step(*step) : run.finished())));
  nlohmann::ordered_json json;
  json["job"] = job.spec.job;
  json["step"] = digest.snapshot.step;
  json["weights_sha256"] = digest.weights;
  json["optimizer_sha256"] =
      digest.optimizer.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(digest.optimizer);
  std::puts(json.dump(2).c_str());
  return 0;
}

}  // namespace ballast
