#include "common/telling/status_json.h"

#include "common/telling/changes.h"
#include "common/telling/json_numbers.h"
#include "common/telling/quality.h"
#include "common/telling/rollbacks.h"
#include "common/telling/run_text.h"
#include "common/telling/staleness.h"

namespace ballast {

using Json = nlohmann::ordered_json;

namespace {

Json session_json(const SessionStatus& session) {
  Json json;
  json["session"] = session.session;
  json["name"] = session.name;
  json["live"] = session.live;
  json["step"] = session.step;
  json["slots"] = session.slots;
  json["fingerprint"] = session.fingerprint;
  json["refusal"] = session.refusal;
  json["overtaken_seconds"] = static_cast<double>(session.overtaken) / 1e6;
  json["phases"] = {{"data_wait", session.phases.data_wait},
                    {"pull", session.phases.pull},
                    {"forward", session.phases.forward},
                    {"backward", session.phases.backward},
                    {"push", session.phases.push}};
  json["held_up"] = session.held_up;
  json["slot_time"] = session.slot_time;
  json["lag"] = session.lag;
  json["up"] = session.up;
  json["down"] = session.down;
  json["share"] = session.share;
  json["said_goodbye"] = session.said_goodbye;
  return json;
}

Json told_json(const Told& told) {
  return told.value.empty() ? Json(nullptr) : Json{{"value", told.value}, {"by", told.by}};
}

Json copies_json(const CopyStatus& copies) {
  if (!copies.kept) {
    return nullptr;
  }
  const auto step = [](Step known) { return known == 0 ? Json(nullptr) : Json(known); };
  return {{"run", run_text(copies.run)},  {"copied", step(copies.copied)}, {"copying", step(copies.copying)},
          {"shards_done", copies.shards}, {"bytes", copies.bytes},         {"awaited", copies.awaited}};
}

}  // namespace

Json job_json(const Status& status, std::optional<MetricKind> best_by) {
  Json json;
  json["job"] = status.job;
  json["mode"] = status.mode;
  json["phase"] = name_of(status.phase);
  json["failure"] = status.failure;
  json["waits_for"] = awaited_by(status);
  json["trouble"] = all_trouble(status);
  json["timeline"] = status.timeline;
  json["base"] = {{"timeline", status.base.timeline}, {"step", status.base.step}};
  json["snapshot"] = status.snapshot;
  json["copies"] = copies_json(status.copies);
  json["step"] = status.step;
  json["steps"] = status.steps;
  json["epoch"] = status.epoch;
  json["epochs"] = status.epochs;
  json["start_workers"] = status.start_workers;
  json["training_seconds"] = static_cast<double>(status.training) / 1e6;
  json["examples"] = status.examples;
  json["examples_per_second"] = finite(status.examples_per_second);
  json["steps_per_second"] = finite(status.steps_per_second);
  json["learning_rate"] = finite(status.learning_rate);
  json["gradient_norm"] = finite(status.gradient_norm);
  json["train_loss"] = finite(status.train_loss);
  json["recent_loss"] = finite(status.recent_loss);
  json["validation"] = split_json(status.validation, status.validation_metrics);
  json["test"] = split_json(status.test, status.test_metrics);
  json["best"] = split_json(status.best, status.best_metrics);
  json["best_by"] = best_by ? Json(name_of(*best_by)) : Json(nullptr);
  json["duplicates"] = status.duplicates;
  json["superseded"] = status.superseded;
  json["lost_workers"] = status.lost_workers;
  json["refused_workers"] = status.refused_workers;
  json["backups"] = status.backups;
  json["slots_taken"] = status.slots_taken;
  json["slots_reassigned"] = status.slots_reassigned;
  json["slots_tried"] = status.slots_tried;
  json["rollbacks"] = status.rollbacks;
  json["rollbacks_by_cause"] = causes_json(status.rollback_causes);
  json["rolled_back_steps"] = status.rolled_back_steps;
  json["skipped_steps"] = status.skipped_steps;
  json["snapshots_missed"] = status.snapshots_missed;
  json["resumed_shards"] = status.resumed_shards;
  json["staleness"] = staleness_json(status.staleness);
  json["data"] = told_json(status.data);
  json["arithmetics"] = Json::array();
  for (const auto& kind : status.arithmetics) {
    json["arithmetics"].push_back(told_json(kind));
  }
  return json;
}

std::string status_json(const Status& status, std::optional<MetricKind> best_by) {
  auto json = job_json(status, best_by);
  json["sessions"] = Json::array();
  for (const auto& session : status.sessions) {
    json["sessions"].push_back(session_json(session));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ballast
