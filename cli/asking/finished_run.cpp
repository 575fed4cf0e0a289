#include "cli/asking/finished_run.h"

#include <exception>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/asking/status.h"
#include "cli/run_folder/run_folder.h"
#include "cli/run_folder/run_lock.h"
#include "cli/run_folder/settle.h"
#include "cli/telling/target_units.h"
#include "common/job/evaluation_metrics.h"
#include "common/job/job.h"
#include "common/job/load.h"
#include "common/telling/quality.h"
#include "common/telling/rollbacks.h"
#include "common/telling/status_json.h"
#include "common/text/shell_word.h"
#include "protocol/lead/ledger_status.h"
#include "storage/store/shard_store.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

Status status_of(const Job& job, const LedgerContent& content) {
  const auto& ledger = content.ledger;
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  Status status;
  status.job = job.spec.job;
  status.mode = name_of(job.spec.training.mode);
  status.phase = JobPhase::finished;
  status.timeline = ledger.timeline;
  status.base = ledger.base;
  status.step = ledger.finished->step;
  status.snapshot = ledger.finished->step;
  status.steps = job.steps.steps;
  status.epoch = status.step / job.steps.steps_per_epoch;
  status.epochs = (job.steps.steps + job.steps.steps_per_epoch - 1) / job.steps.steps_per_epoch;
  status.start_workers = job.spec.cluster.start_workers;
  for (auto* unknown : {&status.examples_per_second, &status.steps_per_second, &status.learning_rate,
                        &status.gradient_norm, &status.train_loss, &status.recent_loss}) {
    *unknown = kUnknown;
  }
  tell_evaluations(content.evaluations, best_by_of(job), status);
  tell_ledger(ledger, status);
  status.data = ledger.provenance.data;
  status.arithmetics = ledger.provenance.arithmetics;
  return status;
}

std::optional<LedgerContent> ledger_of(const std::string& folder) {
  try {
    const ShardStore store(value_or_throw(open_rocksdb(shard_database(folder, 0), OpenMode::read_only)));
    return value_or_throw(store.read_ledger());
  } catch (const std::exception&) {  // what is wrong is for `ballast inspect` to tell
    return std::nullopt;
  }
}

}  // namespace

std::optional<Job> job_of_run(const std::string& where) {
  if (!fs::is_directory(where)) {
    return std::nullopt;
  }
  settle_run_folder(where);
  try {
    return make_job(load_job((fs::path(where) / "job.yaml").string()));
  } catch (const std::exception&) {  // of a folder that servers by hand have made, say
    return std::nullopt;
  }
}

MetricKind best_by_of(const Job& job) { return best_by(job.spec.training, metric_rules(job.spec.model, job.shape)); }

std::optional<Status> finished_run(const Job& job, const std::string& folder) {
  return has_living_run(folder) ? std::nullopt : finish_in_databases(job, folder);
}

std::optional<Status> finish_in_databases(const Job& job, const std::string& folder) {
  const auto content = ledger_of(folder);
  return content && content->ledger.finished ? std::optional(status_of(job, *content)) : std::nullopt;
}

std::optional<bool> holds_end(const std::string& folder) {
  const auto content = ledger_of(folder);
  return content ? std::optional(content->ledger.finished.has_value()) : std::nullopt;
}

std::string finished_lines(const Job& job, const Status& status, const std::string& folder) {
  auto text = "job " + status.job + ": finished, at step " + std::to_string(status.step) + " of " +
              std::to_string(status.steps) + ", mode " + status.mode + "; " +
              (has_living_run(folder) ? "its lead has gone" : "no process of it lives any more") + "\n" +
              split_line("test", status.test, status.test_metrics, &job.spec.data) +
              split_line("validation", status.validation, status.validation_metrics, &job.spec.data);
  if (status.best.evaluated) {
    text += best_text(status.best, status.best_metrics, best_by_of(job)) + "\n";
  }
  if (status.rollbacks > 0) {
    text += "recoveries: " + std::to_string(status.rollbacks) + " (" + causes_text(status.rollback_causes) + ")\n";
  }
  if (status.skipped_steps > 0) {
    text += "steps skipped for gradients that were not finite: " + std::to_string(status.skipped_steps) + "\n";
  }
  const auto word = shell_word(folder);
  return text + "its weights are in its databases: `ballast digest " + word + "`, `ballast export " + word +
         " -o FILE.safetensors`\n";
}

std::string finished_json(const Status& status, std::optional<MetricKind> best_by) {
  auto json = nlohmann::ordered_json::parse(status_json(status, best_by));
  for (const auto* unknown :
       {"training_seconds", "examples", "copies", "duplicates", "superseded", "lost_workers", "refused_workers",
        "backups", "slots_taken", "slots_reassigned", "slots_tried", "staleness", "sessions"}) {
    json.at(unknown) = nullptr;
  }
  return json.dump(2) + "\n";
}

}  // namespace ballast
