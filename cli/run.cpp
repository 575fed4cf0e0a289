#include "cli/run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "cli/check.h"
#include "cli/cluster.h"
#include "cli/progress.h"
#include "cli/run_folder.h"
#include "cli/signals.h"
#include "cli/summary.h"
#include "cli/supervisor.h"
#include "common/job/job.h"
#include "common/job/load.h"
#include "common/store/final_weights.h"

namespace ballast {

namespace {

// The shortcuts are overrides like any other. Fewer workers than the job's start_workers means: all of them, unless
// somebody asked for that very number.
std::vector<std::string> all_overrides(const RunOptions& options) {
  auto overrides = options.overrides;
  const auto add = [&](const char* key, std::uint32_t value) {
    overrides.push_back(std::string(key) + "=" + std::to_string(value));
  };
  const auto base = load_job(options.job, overrides);
  const auto workers = options.workers.value_or(base.cluster.workers);
  if (options.workers) {
    add("cluster.workers", workers);
  }
  const bool asked = std::any_of(overrides.begin(), overrides.end(),
                                 [](const auto& text) { return text.starts_with("cluster.start_workers="); });
  if (options.hold_start || (base.cluster.start_workers > workers && !asked)) {
    add("cluster.start_workers", workers);
  }
  if (options.shards) {
    add("cluster.shards", *options.shards);
  }
  if (options.lanes) {
    add("cluster.lanes", *options.lanes);
  }
  return overrides;
}

void check_faults(const RunOptions& options, const Job& job) {
  for (const auto& [worker, fault] : options.worker_faults) {
    if (worker >= job.spec.cluster.workers) {
      throw std::runtime_error("--worker-fault " + std::to_string(worker) + ":" + fault + ": the run has " +
                               std::to_string(job.spec.cluster.workers) + " workers, numbered from 0");
    }
  }
}

// Found out now rather than after hours of training.
void check_summary_file(const std::string& file) {
  if (file.empty()) {
    return;
  }
  const auto folder = std::filesystem::absolute(file).parent_path();
  if (std::filesystem::is_directory(file) || access(folder.c_str(), W_OK | X_OK) != 0) {
    throw std::runtime_error("--summary " + file +
                             ": no file can be written there; it must be a file in a folder that exists");
  }
}

std::uint64_t epochs_of(const Job& job) {
  return (job.steps.steps + job.steps.steps_per_epoch - 1) / job.steps.steps_per_epoch;
}

WeightsDigest digest(const Job& job, const RunFolder& folder) {
  std::vector<std::filesystem::path> databases;
  for (std::uint32_t shard = 0; shard < job.spec.cluster.shards; ++shard) {
    databases.push_back(shard_database(folder.path(), shard));
  }
  auto result = digest_final(databases, job.arena, job.layout_digest);
  if (!result.ok()) {
    throw std::runtime_error("the final weights cannot be read back: " + result.status().text());
  }
  return result.value();
}

void report(const Job& job, const RunOptions& options, const RunFolder& folder, Summary summary) {
  const auto final_weights = digest(job, folder);
  summary.weights = final_weights.weights;
  summary.optimizer = final_weights.momentum;
  summary.run_dir = folder.path();
  if (!options.summary.empty()) {
    write_atomically(options.summary, summary_json(job, summary));
  }
  std::fputs(summary_text(job, summary, folder.shown()).c_str(), stdout);
}

int run_cluster(const Job& job, const RunOptions& options, const RunFolder& folder) {
  const auto began = Clock::now();
  Signals signals;  // before anything that has threads
  Progress progress(stdout, isatty(STDOUT_FILENO) == 1, job.spec.cluster.start_workers, epochs_of(job));
  progress.line("job " + job.spec.job + ": run folder " + folder.shown());
  Cluster cluster(job, folder, {options.metrics, options.worker_faults});
  Supervisor supervisor(cluster, signals, progress);
  const int exit_code = supervisor.watch();
  if (exit_code != 0) {
    return exit_code;
  }
  if (!supervisor.status() || supervisor.status()->phase != "finished") {
    throw std::runtime_error("the servers left as if the job had finished, but the lead never said so; see " +
                             folder.log("shard-0").string());
  }
  const auto wall = std::chrono::duration<double>(Clock::now() - began).count();
  report(job, options, folder, {*supervisor.status(), {}, {}, wall, cluster.restarts(), {}});
  return 0;
}

}  // namespace

int run(const RunOptions& options) {
  try {
    const auto job = make_job(load_job(options.job, all_overrides(options)));
    check_faults(options, job);
    check_summary_file(options.summary);
    const RunFolder folder(options.run_dir, job.spec.job);
    write_atomically(folder.job_file(), job.yaml);
    return run_cluster(job, options, folder);
  } catch (const ConfigError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kExitBadJob;
  }
}

}  // namespace ballast
