#include "cli/running/run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cli/before/backend_probe.h"
#include "cli/before/check.h"
#include "cli/before/gpus.h"
#include "cli/processes/signals.h"
#include "cli/run_folder/run_folder.h"
#include "cli/running/cluster.h"
#include "cli/running/corrupt_examples.h"
#include "cli/running/resume.h"
#include "cli/running/supervisor.h"
#include "cli/telling/copies_text.h"
#include "cli/telling/events.h"
#include "cli/telling/exit_codes.h"
#include "cli/telling/progress.h"
#include "cli/telling/summary.h"
#include "common/job/evaluation_metrics.h"
#include "common/job/job.h"
#include "common/job/load.h"
#include "common/job/memory_budget.h"
#include "common/job/mode_text.h"
#include "common/machine/memory.h"
#include "common/safetensors/initial_weights.h"
#include "common/text/shell_word.h"
#include "storage/store/run_reader.h"
#include "worker/data/datasets.h"
#include "worker/data/example_files.h"
#include "worker/data/failures.h"

namespace ballast {

namespace {

// The shortcuts are overrides like any other. Fewer workers than the job's start_workers means: all of them, unless
// somebody asked for that very number.
std::vector<std::string> all_overrides(const RunOptions& options, const JobSpec& base) {
  auto overrides = options.overrides;
  const auto add = [&](const char* option, const char* key, std::uint32_t value) {
    overrides.push_back(std::string(option) + " " + key + "=" + std::to_string(value));
  };
  const auto workers = options.workers.value_or(base.cluster.workers);
  if (options.workers) {
    add("--workers", "cluster.workers", workers);
  }
  const bool asked = std::any_of(overrides.begin(), overrides.end(),
                                 [](const auto& text) { return text.starts_with("cluster.start_workers="); });
  // No workers at all are refused by what was typed.
  if (workers > 0 && (options.hold_start || (base.cluster.start_workers > workers && !asked))) {
    add(options.hold_start ? "--hold-start" : "--workers", "cluster.start_workers", workers);
  }
  if (options.shards) {
    add("--shards", "cluster.shards", *options.shards);
  }
  if (options.lanes) {
    add("--lanes", "cluster.lanes", *options.lanes);
  }
  return overrides;
}

template <typename Faults>
void check_faults(const char* option, const Faults& faults, const char* role, std::uint32_t count) {
  for (const auto& [index, fault] : faults) {
    if (index >= count) {
      throw std::runtime_error(std::string(option) + " " + std::to_string(index) + ": the run has " +
                               std::to_string(count) + " " + role + ", numbered from 0");
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

// Found out now rather than by workers, where it takes no reading. Throws BadData.
void check_data_files(const Job& job) {
  reading_data([&] {
    if (job.spec.data.name == "mnist") {
      find_mnist(job.spec.data, "");
    } else if (is_example_files(job.spec.data)) {
      example_root(job.spec.data, "");
    } else if (reads_files(job.spec.data)) {
      data_folder(job.spec.data, "");
    }
  });
}

// The same.
void check_backend(const RunOptions& options, const Job& job) {
  if (options.backend == "cuda") {
    if (const auto probe = probe_backend(options.backend, job.spec.training.precision); !probe.available) {
      throw std::runtime_error("--backend cuda: " + (probe.lines.empty() ? "it cannot be had" : probe.lines.back()));
    }
  }
}

// The same.
void check_initial_weights(const Job& job) {
  const auto& file = job.spec.training.init_from;
  if (file.empty()) {
    return;
  }
  if (const auto loaded = load_initial(file, job.arena, drawn_seed(job.spec.training)); !loaded.ok()) {
    throw std::runtime_error("training.init_from: " + loaded.status().text());
  }
}

// A path in the job file means a place, wherever the run is resumed from.
JobSpec with_absolute_places(JobSpec spec) {
  const auto settle = [](std::string& path) {
    if (!path.empty() && !path.starts_with("s3://")) {
      path = std::filesystem::absolute(path).lexically_normal().string();
    }
  };
  settle(spec.data.path);
  settle(spec.durability.copy_to);
  settle(spec.durability.s3_credentials_file);
  settle(spec.durability.copy_key_file);
  return spec;
}

void check(const RunOptions& options, const Job& job) {
  check_faults("--worker-fault", options.worker_faults, "workers", job.spec.cluster.workers);
  check_faults("--server-fault", options.server_faults, "shards", job.spec.cluster.shards);
  check_summary_file(options.summary);
  check_backend(options, job);
  check_data_files(job);
  if (const auto why = why_too_little_memory(job, memory_here())) {
    throw ConfigError("cluster.memory_mib: " + *why);
  }
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

EventStream::Json report(const Job& job, const RunOptions& options, const RunFolder& folder, Progress& progress,
                         Cluster& cluster, Summary summary) {
  const auto final_weights = digest(job, folder);
  summary.weights = final_weights.weights;
  summary.optimizer = final_weights.optimizer;
  summary.run_dir = folder.path();
  summary.data = &job.spec.data;
  std::vector<std::filesystem::path> logs;
  for (const auto& member : cluster.members()) {
    if (member.role == Role::worker) {
      logs.push_back(cluster.log_of(member));
    }
  }
  if (const auto corrupt = corrupt_examples(logs)) {
    summary.corrupt_examples = corrupt->examples;
    summary.corrupt_log = corrupt->log.string();
  }
  const auto json = summary_json(job, summary);
  if (!options.summary.empty()) {
    write_atomically(options.summary, json);
  }
  progress.result(summary_text(summary, folder.shown()));
  return EventStream::Json::parse(json);
}

// How a run ended that has not come to its job's end, once all processes are gone.
std::string end_text(const std::optional<Status>& status, const Job& job, const RunFolder& folder, Outlook outlook,
                     const std::string& job_file) {
  const bool is_stopped = status && status->phase == JobPhase::stopped;
  const auto where = status && status->steps > 0
                         ? " at step " + std::to_string(status->step) + " of " + std::to_string(status->steps)
                         : std::string();
  std::string text;
  if (status && status->copies.kept) {
    text = copies_text(status->copies) + (status->trouble.empty() ? "" : "; " + status->trouble) + "\n";
  }
  if (is_stopped && !status->beyond_snapshot) {
    return text + "stopped" + where + ", with a snapshot of step " + std::to_string(status->snapshot) +
           "; go on with: ballast run --resume " + shell_word(folder.shown());
  }
  return text + (is_stopped ? "stopped without a snapshot of its own" : "ended") + where + ": " +
         what_is_left(folder, job, outlook, job_file);
}

// A server that was stopped before it had room for it, say: all weights are durable, but not all has come to its end.
void check_ends(const Job& job, const RunFolder& folder) {
  if (const auto names = shards_without_end(folder, job); !names.empty()) {
    throw std::runtime_error(
        "the job has finished and its weights are durable, but its end is missing in the databases of " + names +
        "; make room on a disk that is full, then: ballast run --resume " + shell_word(folder.shown()));
  }
}

// For programs.
void tell_end(Progress& progress, const char* outcome, int exit_code, EventStream::Json summary = nullptr) {
  progress.event("end", {{"outcome", outcome}, {"exit_code", exit_code}, {"summary", std::move(summary)}});
}

const char* outcome_of(const std::optional<Status>& status, int exit_code) {
  if (status && status->phase == JobPhase::stopped) {
    return "stopped";
  }
  return exit_code > kExitSignal ? "killed" : "failed";
}

// What cannot be gone on after is told as any other end, when no process is left that has a database open.
int watched(Supervisor& supervisor, Cluster& cluster, Progress& progress) {
  try {
    return supervisor.watch();
  } catch (const std::exception& error) {
    cluster.end();
    progress.error(error.what());
    return 1;
  }
}

int finish(const Job& job, const RunOptions& options, const RunFolder& folder, Progress& progress, Cluster& cluster,
           Signals& signals, Clock::time_point began, bool was_paused) {
  Supervisor supervisor(cluster, signals, progress, !options.resume.empty(), was_paused,
                        std::chrono::seconds(job.spec.cluster.stop_patience));
  const int exit_code = watched(supervisor, cluster, progress);
  if (exit_code != 0) {
    const auto text = end_text(supervisor.status(), job, folder, supervisor.outlook(), options.job);
    if (exit_code == kExitSignal + SIGPIPE) {  // nobody reads the output
      progress.error(text);
    } else {
      progress.result(text);
    }
    tell_end(progress, outcome_of(supervisor.status(), exit_code), exit_code);
    return exit_code;
  }
  if (!supervisor.status() || supervisor.status()->phase != JobPhase::finished) {
    throw std::runtime_error("the servers left as if the job had finished, but the lead never said so; see " +
                             folder.log("shard-0").string());
  }
  check_ends(job, folder);
  const auto wall = std::chrono::duration<double>(Clock::now() - began).count();
  const auto& trained = supervisor.training_time();
  tell_end(progress, "finished", 0,
           report(job, options, folder, progress, cluster,
                  {*supervisor.status(),
                   {},
                   {},
                   wall,
                   trained.seconds(),
                   trained.examples_per_second(),
                   cluster.restarts(Role::worker),
                   cluster.restarts(Role::server),
                   {},
                   0,
                   best_by(job.spec.training, metric_rules(job.spec.model, job.shape))}));
  return 0;
}

std::string watch(Cluster& cluster) {
  const auto program = Prometheus::find();
  if (!program) {
    return "no Prometheus is installed (Debian: apt-get install prometheus): targets.json in the run's folder says "
           "whom "
           "another one can ask";
  }
  cluster.watch_with(*program);
  return "Prometheus at " + cluster.watched_at();
}

// `resumed`: what is gone on from; empty for a new run.
int run_cluster(const Job& job, const RunOptions& options, const RunFolder& folder, Signals& signals,
                EventStream* events, const std::string& resumed, bool was_paused) {
  const auto began = Clock::now();
  Progress progress(stdout, stderr, line_style(options.show, stdout, stderr), events);
  folder.begin();
  progress.event("begin", {{"job", job.spec.job},
                           {"mode", name_of(job.spec.training.mode)},
                           {"steps", job.steps.steps},
                           {"run_dir", folder.path().string()},
                           {"resumed", !resumed.empty()}});
  if (!resumed.empty()) {
    progress.line(resumed);
  }
  progress.line("job " + job.spec.job + ": run folder " + folder.shown());
  progress.line("mode " + mode_text(job.spec.training));
  const auto gpus = options.backend == "cpu" ? 0 : count_gpus();
  if (gpus > 0) {
    progress.line(gpus_text(gpus));
  }
  for (const auto& line : precision_notes(options.backend, job.spec.training.precision)) {
    progress.line(line);
  }
  try {
    Cluster cluster(job, folder,
                    {.metrics = options.metrics || options.watch,
                     .page = options.page,
                     .keys = true,
                     .backend = options.backend,
                     .gpus = gpus,
                     .worker_faults = options.worker_faults,
                     .server_faults = options.server_faults});
    if (options.watch) {
      progress.line(watch(cluster));
    }
    return finish(job, options, folder, progress, cluster, signals, began, was_paused);
  } catch (const std::exception& error) {
    progress.event("error", {{"text", error.what()}});
    tell_end(progress, "failed", 1);
    throw;
  }
}

// By a signal that has come meanwhile: the exit code.
std::optional<int> told_to_end(const Signals& signals) {
  while (const auto signal = signals.next()) {
    if (*signal == SIGINT || *signal == SIGTERM || *signal == SIGHUP) {
      return kExitSignal + *signal;
    }
  }
  return std::nullopt;
}

int run_new(const RunOptions& options) {
  const auto base = load_job(options.job, options.overrides);
  const auto job = make_job(with_absolute_places(load_job(options.job, all_overrides(options, base), Fit::judged)));
  check(options, job);
  check_initial_weights(job);
  const auto events = open_events(options.show.events);  // before there is a folder that a refusal would leave behind
  const RunFolder folder(options.run_dir, job.spec.job);
  mark_run_folder(folder.path());
  write_atomically(folder.job_file(), job.yaml);
  Signals signals;
  return run_cluster(job, options, folder, signals, events.get(), {}, false);
}

int run_again(const RunOptions& options) {
  const auto folder = RunFolder::of_earlier_run(options.resume);
  const auto base = load_effective_job(folder.job_file().string(), options.overrides);
  const auto job = job_to_resume(folder, all_overrides(options, base), options.job);
  check(options, job);
  // Before databases are read: RocksDB's threads stay, and a signal that they do not block ends the process.
  Signals signals;
  const auto ledger = ledger_to_resume(folder, job);
  const auto text = resume_text(folder, job, ledger);
  if (const auto code = told_to_end(signals)) {
    return *code;  // nothing has been changed
  }
  const auto events = open_events(options.show.events);
  const FormerJobFile former(folder);
  write_atomically(folder.job_file(), job.yaml);
  const int exit_code = run_cluster(job, options, folder, signals, events.get(), text, ledger.pause != Pause::none);
  if (exit_code == kExitBadJob && former.put_back_unless_trained(folder, ledger)) {
    std::fprintf(stderr, "%s is as it was before: what this command changed (--set and the like) is not kept\n",
                 folder.job_file().c_str());
  }
  return exit_code;
}

}  // namespace

int run(const RunOptions& options) {
  try {
    return options.resume.empty() ? run_new(options) : run_again(options);
  } catch (const ConfigError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kExitBadJob;
  } catch (const BadData& error) {
    std::fprintf(stderr, "ballast: %s\n", error.what());
    return kExitBadJob;
  }
}

}  // namespace ballast
