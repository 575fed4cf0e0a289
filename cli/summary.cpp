#include "cli/summary.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace ballast {

namespace {

using Json = nlohmann::ordered_json;

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

double training_seconds(const Status& status) { return static_cast<double>(status.training) / 1e6; }

double examples_per_second(const Status& status) {
  return status.training > 0 ? static_cast<double>(status.examples) / training_seconds(status) : 0;
}

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

// A job that ends amid an epoch, or whose data has no test split, may never have been evaluated.
Json evaluated(const Status& status, double value) { return status.evaluated ? finite(value) : Json(nullptr); }

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

std::string summary_json(const Job& job, const Summary& summary) {
  const auto& status = summary.status;
  const auto& cluster = job.spec.cluster;
  Json json;
  json["job"] = job.spec.job;
  json["mode"] = "sync";
  json["workers"] = cluster.workers;
  json["shards"] = cluster.shards;
  json["lanes"] = cluster.lanes;
  json["transport"] = cluster.transport;
  json["steps"] = status.step;
  json["epochs"] = status.epoch;
  json["train_loss"] = finite(status.train_loss);
  json["test_loss"] = evaluated(status, status.test_loss);
  json["test_accuracy"] = evaluated(status, status.test_accuracy);
  json["weights_sha256"] = text_or_null(summary.weights);
  json["optimizer_sha256"] = text_or_null(summary.optimizer);
  json["wall_seconds"] = finite(summary.wall_seconds);
  json["training_seconds"] = finite(training_seconds(status));
  json["examples_per_second"] = finite(examples_per_second(status));
  json["slots_by_session"] = slots_by_session(status);
  json["duplicates"] = status.duplicates;
  json["superseded"] = status.superseded;
  json["lost_workers"] = status.lost_workers;
  json["worker_restarts"] = summary.worker_restarts;
  json["restarted_shards"] = 0;   // a shard that dies ends the run
  json["rolled_back_steps"] = 0;  // and so nothing is ever rolled back
  json["backups"] = status.backups;
  json["run_dir"] = summary.run_dir.string();
  // A worker's name is checked UTF-8, but a folder's may be anything.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary_text(const Job& job, const Summary& summary, const std::string& shown_dir) {
  const auto& status = summary.status;
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), "finished: %llu steps, %llu epoch%s in %.1f s, %.0f images/s\n",
                static_cast<unsigned long long>(status.step), static_cast<unsigned long long>(status.epoch),
                status.epoch == 1 ? "" : "s", training_seconds(status), examples_per_second(status));
  std::string all = "job " + job.spec.job + " " + text.data();
  if (status.evaluated) {
    std::snprintf(text.data(), text.size(), "test accuracy %.2f %%, test loss %.4f, train loss %.4f\n",
                  100 * status.test_accuracy, status.test_loss, status.train_loss);
  } else {
    std::snprintf(text.data(), text.size(), "train loss %.4f\n", status.train_loss);
  }
  all += text.data();
  if (status.lost_workers > 0) {
    all += "workers lost on the way: " + std::to_string(status.lost_workers) + " (no contribution was)\n";
  }
  all += "weights sha256 " + summary.weights + "\n";
  return all + "run folder " + shown_dir + "\n";
}

}  // namespace ballast
