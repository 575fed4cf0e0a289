#include "cli/telling/status_events.h"
#include "common/telling/quality.h"

#include <algorithm>

#include "common/telling/json_numbers.h"

namespace ballast {

namespace {

using Json = nlohmann::ordered_json;

Json rate(std::optional<double> value) { return value ? finite(*value) : Json(nullptr); }

JobEvent phase_event(const Status& status) {
  Json fields = {{"phase", name_of(status.phase)}, {"step", status.step}, {"timeline", status.timeline}};
  if (!status.waits_for.empty()) {
    fields["waits_for"] = status.waits_for;
  }
  if (!status.failure.empty()) {
    fields["failure"] = status.failure;
  }
  return {"phase", std::move(fields)};
}

JobEvent progress_event(const Status& status, std::optional<double> examples_per_second) {
  const auto live =
      std::count_if(status.sessions.begin(), status.sessions.end(), [](const auto& session) { return session.live; });
  return {"progress",
          {{"step", status.step},
           {"steps", status.steps},
           {"epoch", status.epoch},
           {"epochs", status.epochs},
           {"examples", status.examples},
           {"loss", finite(status.recent_loss)},
           {"learning_rate", finite(status.learning_rate)},
           {"examples_per_second", rate(examples_per_second)},
           {"workers", live},
           {"snapshot", status.snapshot}}};
}

}  // namespace

std::vector<JobEvent> StatusEvents::observe(const Status& status, std::optional<double> examples_per_second,
                                            Moment now) {
  std::vector<JobEvent> events;
  const bool changed = status.phase != phase_;
  if (changed) {
    phase_ = status.phase;
    events.push_back(phase_event(status));
  }
  if (status.timeline > 0 && snapshot_ != status.snapshot) {
    snapshot_ = status.snapshot;
    events.push_back({"snapshot", {{"step", status.snapshot}, {"timeline", status.timeline}}});
  }
  const bool due = status.phase == JobPhase::training && (!progress_at_ || now - *progress_at_ >= kProgressEvery);
  if (due || (changed && is_over(status.phase))) {
    progress_at_ = now;
    events.push_back(progress_event(status, examples_per_second));
  }
  return events;
}

JobEvent epoch_event(const Status& status, std::optional<double> examples_per_second) {
  return {"epoch",
          {{"epoch", status.epoch},
           {"epochs", status.epochs},
           {"step", status.step},
           {"train_loss", finite(status.train_loss)},
           {"validation", split_json(status.validation, status.validation_metrics)},
           {"test", split_json(status.test, status.test_metrics)},
           {"examples_per_second", rate(examples_per_second)}}};
}

}  // namespace ballast
