#include "cli/asking/status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cli/asking/finished_run.h"
#include "cli/asking/lead_address.h"
#include "cli/asking/status_client.h"
#include "cli/keys/operator_keys.h"
#include "cli/telling/copies_text.h"
#include "cli/telling/progress.h"
#include "cli/telling/target_units.h"
#include "common/command/exit_codes.h"
#include "common/telling/amounts.h"
#include "common/telling/changes.h"
#include "common/telling/quality.h"
#include "common/telling/rollbacks.h"
#include "common/telling/staleness.h"
#include "common/telling/status_json.h"
#include "insight/absent.h"

namespace ballast {

namespace {

// The lead cannot be asked: no version of the protocol is common to us.
class NoCommonVersion : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What is asked, and what its run's folder tells if it is one.
class Asked {
 public:
  Asked(const std::string& where, bool json) : where_(where), json_(json), job_(job_of_run(where)) {
    best_by_ = job_ ? std::optional(best_by_of(*job_)) : std::nullopt;
  }

  // The text of a run that has finished; none while processes of it live, unless its lead is known to be gone.
  [[nodiscard]] std::optional<std::string> end(bool lead_gone = false) const {
    const auto status = !job_       ? std::nullopt
                        : lead_gone ? finish_in_databases(*job_, where_)
                                    : finished_run(*job_, where_);
    if (!status) {
      return std::nullopt;
    }
    return json_ ? finished_json(*status, best_by_) : finished_lines(*job_, *status, where_);
  }

  // Of the lead, or of the run's end, should it come to it meanwhile.
  // Throws NoCommonVersion.
  [[nodiscard]] std::optional<std::string> answer(const std::string& lead, const std::string& keys,
                                                  std::chrono::milliseconds patience) {
    zmq::context_t context(1);
    StatusClient client(context, lead, operator_keys(where_, keys));
    Poll poll;
    poll.add(client.socket());
    const auto until = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < until) {
      client.ask();
      poll.wait(kAskEvery.count());
      if (const auto status = client.take()) {
        return json_ ? status_json(*status, best_by_)
                     : status_lines(*status, best_by_, job_ ? &job_->spec.data : nullptr);
      }
      if (const auto why = client.hopeless()) {
        throw NoCommonVersion(*why);
      }
      if (auto text = end()) {
        return text;
      }
      if (client.is_refused()) {
        break;
      }
    }
    why_silent_ = client.why_silent();
    is_refused_ = client.is_refused();
    return end(true);
  }
  // After answer() came to nothing.
  [[nodiscard]] const std::string& why_silent() const { return why_silent_; }
  [[nodiscard]] bool is_refused() const { return is_refused_; }

  // As lead_address, but nothing where the job has finished just now.
  [[nodiscard]] std::optional<std::string> lead() const {
    try {
      return lead_address(where_);
    } catch (const std::runtime_error&) {
      if (end()) {
        return std::nullopt;
      }
      throw;
    }
  }

 private:
  std::string where_;
  bool json_;
  std::string why_silent_;
  bool is_refused_ = false;
  std::optional<Job> job_;
  std::optional<MetricKind> best_by_;
};

std::string training_lines(const Status& status, std::optional<MetricKind> best_by, const DataSpec* data) {
  auto text =
      "loss " + fixed(status.recent_loss, 4) + " over the last steps, learning rate " + fixed(status.learning_rate, 6);
  if (status.gradient_norm > 0) {
    text += ", gradient norm " + fixed(status.gradient_norm, 4);
  }
  if (const auto pace = pace_of(status); pace && status.phase == JobPhase::training) {
    text += "\n" + pace_text(status, *pace, ", ");
  }
  return text + "\n" + split_line("validation", status.validation, status.validation_metrics, data) +
         (status.best.evaluated ? best_text(status.best, status.best_metrics, best_by) + "\n" : "") +
         split_line("test", status.test, status.test_metrics, data);
}

// What the job's bits rest on.
std::string provenance_lines(const Status& status) {
  std::string text;
  if (!status.data.value.empty()) {
    text += "data " + status.data.value + " (" + status.data.by + ")\n";
  }
  for (const auto& kind : status.arithmetics) {
    text += "arithmetic " + kind.value + " (" + kind.by + ")\n";
  }
  return text;
}

std::string durability_line(const Status& status) {
  auto text = "newest complete snapshot: step " + std::to_string(status.snapshot) + "; timeline " +
              std::to_string(status.timeline) + ", from step " + std::to_string(status.base.step);
  if (status.rollbacks > 0) {
    text += "; " + count_text(status.rollbacks, "recovery", "recoveries") + " (" + causes_text(status.rollback_causes) +
            "), " + count_text(status.rolled_back_steps, "step") + " trained again";
  }
  if (status.resumed_shards > 0) {
    text += "; " + count_text(status.resumed_shards, "shard") + " came back within a timeline";
  }
  if (status.skipped_steps > 0) {
    text += "; " + count_text(status.skipped_steps, "step") + " skipped";
  }
  if (status.snapshots_missed > 0) {
    text += "; " + count_text(status.snapshots_missed, "snapshot") + " missed";
  }
  return text + "\n";
}

std::string session_row(const char* name, const char* state, const std::string& step, const std::string& slots) {
  std::array<char, 160> line{};
  std::snprintf(line.data(), line.size(), "%-24s %-7s %10s %10s\n", name, state, step.c_str(), slots.c_str());
  return line.data();
}

std::string session_rows(const Status& status, bool live) {
  std::string text;
  for (const auto& session : status.sessions) {
    if (session.live == live && (live || !session.refusal.empty())) {
      text += session_row(session.name.c_str(), live ? "live" : "refused", std::to_string(session.step),
                          std::to_string(session.slots));
      text += session.held_up.empty() ? "" : "  held up: " + session.held_up + "\n";
    }
  }
  return text;
}

// Lives that are over and were not refused, in one line: of preemptible machines there are many.
std::string gone_line(const Status& status) {
  const auto gone = std::ranges::count_if(status.sessions,
                                          [](const auto& session) { return !session.live && session.refusal.empty(); });
  if (gone == 0) {
    return {};
  }
  constexpr std::size_t kMostNames = 5;
  const auto names = insight::names_not_back(status, kMostNames);
  return "gone: " + std::to_string(gone) + (names.empty() ? "" : ", of them not back: " + names) +
         "; lost without a goodbye: " + std::to_string(status.lost_workers) + " (--json lists each life)\n";
}

std::string sessions_table(const Status& status) {
  return session_row("worker", "", "step", "slots") + session_rows(status, true) + session_rows(status, false) +
         gone_line(status);
}

}  // namespace

std::string status_lines(const Status& status, std::optional<MetricKind> best_by, const DataSpec* data) {
  auto text = "job " + status.job + ": " + name_of(status.phase) + ", step " + std::to_string(status.step) + " of " +
              std::to_string(status.steps) + ", " + std::to_string(status.epoch) + " of " +
              count_text(status.epochs, "epoch") + " done, mode " + status.mode + "\n";
  const auto trouble = all_trouble(status);
  const auto awaited = awaited_by(status);
  for (const auto& [name, value] :
       {std::pair{"failure", &status.failure}, {"waits for", &awaited}, {"trouble", &trouble}}) {
    if (!value->empty()) {
      text += std::string(name) + ": " + *value + "\n";
    }
  }
  text += training_lines(status, best_by, data);
  if (const auto staleness = staleness_text(status.staleness); !staleness.empty()) {
    text += staleness + "\n";
  }
  text += durability_line(status);
  if (const auto copies = copies_text(status.copies); !copies.empty()) {
    text += copies + "\n";
  }
  return text + provenance_lines(status) + sessions_table(status);
}

int show_status(const std::string& where, bool json, std::chrono::milliseconds patience, const std::string& keys) try {
  Asked asked(where, json);
  auto text = asked.end();
  if (!text) {
    const auto lead = asked.lead();
    text = lead ? asked.answer(*lead, keys, patience) : asked.end();
  }
  if (!text) {
    const auto lead = lead_address(where);  // says so if the run's processes have gone meanwhile
    if (asked.is_refused()) {
      std::fprintf(stderr, "the lead at %s%s\n", lead.c_str(), asked.why_silent().c_str());
      return 1;
    }
    std::fprintf(stderr, "no lead answers at %s within %.3g s%s\n", lead.c_str(),
                 std::chrono::duration<double>(patience).count(),
                 asked.why_silent().empty() ? "; is the job still running?" : asked.why_silent().c_str());
    return 1;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
} catch (const NoCommonVersion& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return kExitForGood;
}

}  // namespace ballast
