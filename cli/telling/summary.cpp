#include "cli/telling/summary.h"
#include "common/telling/amounts.h"
#include "common/telling/quality.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/telling/progress.h"
#include "cli/telling/target_units.h"
#include "common/telling/json_numbers.h"
#include "common/telling/rollbacks.h"
#include "common/telling/staleness.h"
#include "storage/copies/format.h"

namespace ballast {

namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

Json accuracy_of(const SplitStatus& split, const std::vector<Metric>& metrics) {
  const auto accuracy = told_accuracy(split.accuracy, metrics);
  return split.evaluated && accuracy ? finite(*accuracy) : Json(nullptr);
}

// Data may have no such split.
Json evaluated(const SplitStatus& split, double value) { return split.evaluated ? finite(value) : Json(nullptr); }

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f %%", 100 * share);
  return text.data();
}

std::string quality_line(const Status& status, std::optional<MetricKind> best_by, const DataSpec* data) {
  std::array<char, 64> loss{};
  std::snprintf(loss.data(), loss.size(), "train loss %.4f\n", status.train_loss);
  std::string line;
  if (status.test.evaluated) {
    std::array<char, 64> test{};
    std::snprintf(test.data(), test.size(), "test loss %.4f, ", status.test.loss);
    const auto accuracy = told_accuracy(status.test.accuracy, status.test_metrics);
    line += (accuracy ? "test accuracy " + percent(*accuracy) + ", " : "") + test.data();
  }
  line += loss.data();
  if (!status.test_metrics.empty()) {
    const auto units = units_text(status.test_metrics, data);
    line += "test " + metrics_text(status.test_metrics) + (units.empty() ? "" : " (" + units + ")") + "\n";
  }
  if (status.validation.evaluated) {
    line += "validation " +
            quality_text(status.validation.loss, status.validation.accuracy, status.validation_metrics) + "\n";
  }
  if (status.best.evaluated) {
    line += best_text(status.best, status.best_metrics, best_by) + "\n";
  }
  return line;
}

// Backend and precision are a part of it, whatever the job asked for.
std::string fingerprints_line(const Status& status) {
  const auto slots = slots_by_fingerprint(status);
  std::string line;
  for (const auto& [fingerprint, count] : slots) {
    line += (line.empty() ? "computed by " : ", ") + (fingerprint.empty() ? "unknown" : fingerprint);
    line += slots.size() > 1 ? " (" + count_text(count, "slot") + ")" : "";
  }
  return line.empty() ? line : line + "\n";
}

// What did not go smoothly; no line for what did.
std::string incidents(const Summary& summary) {
  const auto& status = summary.status;
  std::string lines;
  if (summary.standstill_seconds >= 1) {
    lines += "stood still for " + time_text(summary.standstill_seconds) +
             " of that, which examples/s leaves out: a disk was full, or somebody was waited for\n";
  }
  if (status.lost_workers > 0) {
    lines += "workers lost on the way: " + std::to_string(status.lost_workers) + " (no contribution was)\n";
  }
  if (status.arithmetics.size() > 1) {
    lines += "not the bits of one arithmetic: " + std::to_string(status.arithmetics.size()) +
             " kinds were given work of this job, ";
    for (const auto& kind : status.arithmetics) {
      lines += (&kind == &status.arithmetics.front() ? "" : ", ") + kind.value + " (" + kind.by + ")";
    }
    lines += "; training.exact: required allows one only\n";
  }
  if (status.refused_workers > 0) {
    lines += "workers refused for other data or another arithmetic: " + std::to_string(status.refused_workers) + "\n";
  }
  if (status.rollbacks > 0) {
    lines += "recoveries: " + std::to_string(status.rollbacks) + " (" + causes_text(status.rollback_causes) +
             "), with " + count_text(status.rolled_back_steps, "step") + " trained again\n";
  }
  if (status.resumed_shards > 0) {
    lines += "shards that came back with all they had: " + std::to_string(status.resumed_shards) + "\n";
  }
  if (status.skipped_steps > 0) {
    lines += "steps skipped for gradients that were not finite: " + std::to_string(status.skipped_steps) + "\n";
  }
  if (status.snapshots_missed > 0) {
    lines += "snapshots missed: " + std::to_string(status.snapshots_missed) + "\n";
  }
  if (summary.corrupt_examples > 0) {
    lines +=
        "corrupt examples, left out or replaced (data.corrupt: skip): " + std::to_string(summary.corrupt_examples) +
        "; " + summary.corrupt_log + (summary.corrupt_examples == 1 ? " names it" : " names the first of them") +
        "; `ballast check --examples` names all\n";
  }
  if (const auto trouble = all_trouble(status); !trouble.empty()) {
    lines += "trouble: " + trouble + "\n";
  }
  return lines;
}

}  // namespace

std::map<std::string, std::uint64_t> slots_by_session(const Status& status) {
  std::map<std::string, int> sessions_of;
  for (const auto& session : status.sessions) {
    ++sessions_of[session.name];
  }
  std::map<std::string, std::uint64_t> slots;
  for (const auto& session : status.sessions) {
    const bool alone = sessions_of[session.name] == 1 && !session.name.empty();
    slots[alone ? session.name : session.name + "@" + hexadecimal(session.session)] += session.slots;
  }
  return slots;
}

std::map<std::string, std::uint64_t> slots_by_fingerprint(const Status& status) {
  std::map<std::string, std::uint64_t> slots;
  for (const auto& session : status.sessions) {
    if (session.slots > 0) {
      slots[session.fingerprint] += session.slots;
    }
  }
  return slots;
}

std::string summary_json(const Job& job, const Summary& summary) {
  const auto& status = summary.status;
  const auto& cluster = job.spec.cluster;
  Json json;
  json["job"] = job.spec.job;
  json["mode"] = name_of(job.spec.training.mode);
  json["workers"] = cluster.workers;
  json["shards"] = cluster.shards;
  json["lanes"] = cluster.lanes;
  json["transport"] = cluster.transport;
  json["steps"] = status.step;
  json["epochs"] = status.epoch;
  json["train_loss"] = finite(status.train_loss);
  json["test_loss"] = evaluated(status.test, status.test.loss);
  json["test_accuracy"] = accuracy_of(status.test, status.test_metrics);
  json["test_metrics"] = metrics_json(status.test_metrics);
  json["validation_loss"] = evaluated(status.validation, status.validation.loss);
  json["validation_accuracy"] = accuracy_of(status.validation, status.validation_metrics);
  json["validation_metrics"] = metrics_json(status.validation_metrics);
  json["best_validation_accuracy"] = accuracy_of(status.best, status.best_metrics);
  json["best_validation_metrics"] = metrics_json(status.best_metrics);
  json["best_by"] = summary.best_by ? Json(name_of(*summary.best_by)) : Json(nullptr);
  json["best_step"] = status.best.evaluated ? Json(status.best.step) : Json(nullptr);
  json["weights_sha256"] = text_or_null(summary.weights);
  json["optimizer_sha256"] = text_or_null(summary.optimizer);
  json["wall_seconds"] = finite(summary.wall_seconds);
  json["training_seconds"] = finite(summary.training_seconds);
  json["standstill_seconds"] = finite(summary.standstill_seconds);
  json["examples_per_second"] = finite(summary.examples_per_second);
  json["slots_by_session"] = slots_by_session(status);
  json["slots_by_fingerprint"] = slots_by_fingerprint(status);
  json["data_digest"] = text_or_null(status.data.value);
  json["arithmetics"] = Json::array();
  for (const auto& kind : status.arithmetics) {
    json["arithmetics"].push_back(kind.value);
  }
  json["duplicates"] = status.duplicates;
  json["superseded"] = status.superseded;
  json["lost_workers"] = status.lost_workers;
  json["refused_workers"] = status.refused_workers;
  json["worker_restarts"] = summary.worker_restarts;
  json["restarted_shards"] = summary.shard_restarts;
  json["timeline"] = status.timeline;
  json["base_step"] = status.base.step;
  json["copied_step"] = status.copies.copied == 0 ? Json(nullptr) : Json(status.copies.copied);
  json["copies_run"] = status.copies.run == 0 ? Json(nullptr) : Json(run_text(status.copies.run));
  json["rollbacks"] = status.rollbacks;
  json["rollbacks_by_cause"] = causes_json(status.rollback_causes);
  json["rolled_back_steps"] = status.rolled_back_steps;
  json["skipped_steps"] = status.skipped_steps;
  json["corrupt_examples"] = summary.corrupt_examples;
  json["snapshots_missed"] = status.snapshots_missed;
  json["backups"] = status.backups;
  json["slots_tried"] = status.slots_tried;
  json["resumed_shards"] = status.resumed_shards;
  json["staleness"] = staleness_json(status.staleness);
  json["run_dir"] = summary.run_dir.string();
  // A worker's name is checked UTF-8, but a folder's may be anything.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary_text(const Summary& summary, const std::string& shown_dir) {
  const auto& status = summary.status;
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), "finished: %s, %s in %.1f s, %.0f examples/s\n",
                count_text(status.step, "step").c_str(), count_text(status.epoch, "epoch").c_str(),
                summary.training_seconds, summary.examples_per_second);
  std::string all = "job " + status.job + " " + text.data();
  all += quality_line(status, summary.best_by, summary.data);
  if (const auto staleness = staleness_text(status.staleness); !staleness.empty()) {
    all += staleness + "\n";
  }
  all += incidents(summary);
  all += fingerprints_line(status);
  if (!summary.weights.empty()) {
    all += "weights sha256 " + summary.weights + "\n";
  }
  return shown_dir.empty() ? all : all + "run folder " + shown_dir + "\n";
}

}  // namespace ballast
