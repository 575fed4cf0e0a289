#include "tests/simulation/words.h"

#include "common/protocol/slot_set.h"

namespace ballast::simulation {

namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string list(const std::vector<ChunkId>& chunks) {
  std::string text;
  for (const auto chunk : chunks) {
    text += (text.empty() ? "" : ", ") + number(chunk);
  }
  return text;
}

// Clocks of one life of the lead begin at a high number of its own.
std::string clock(std::uint64_t clock) { return number(clock & ((std::uint64_t{1} << 40U) - 1)); }

std::string grants(const std::vector<Grant>& grants) {
  std::string text;
  for (const auto& grant : grants) {
    text += (text.empty() ? "" : ", ") + number(grant.item) + " (clock " + clock(grant.clock) + ")";
  }
  return text;
}

std::string marks(const std::vector<JournalMark>& marks) {
  std::string text;
  for (const auto& mark : marks) {
    text += (text.empty() ? "" : ", ") + std::string("shard ") + number(mark.shard) + " life " +
            number(mark.incarnation) + " up to " + number(mark.sequence);
  }
  return text;
}

std::string ranges(const std::vector<ItemRange>& ranges) {
  std::string text;
  for (const auto& range : ranges) {
    text += (text.empty() ? "" : " ") + std::string("[") + number(range.begin) + ", " + number(range.end) + ")";
  }
  return text;
}

std::string text(const LaneHello&) { return "hello"; }
std::string text(const Pull& pull) {
  return "pull " +
         (pull.version == kNewestVersion ? "the newest version, for clock " + clock(pull.ticket) + ","
                                         : "version " + number(pull.version)) +
         " of chunks " + list(pull.chunks);
}
std::string text(const Push& push) {
  return "push step " + number(push.step) + " chunk " + number(push.chunk) + " slots " + words(push.node) +
         (push.fault != kNoSlot ? ", slot " + number(push.fault) + " not finite" : "") +
         (push.ticket != 0 ? ", wants the newest version for clock " + clock(push.ticket)
          : push.want_next ? ", wants version " + number(push.step + 1)
                           : "") +
         (push.base != 0 || push.ticket != 0 || !push.marks.empty() ? ", from version " + number(push.base) : "") +
         (push.marks.empty() ? "" : ", rests on " + marks(push.marks));
}
std::string text(const LaneWelcome& welcome) {
  return "welcome, timeline " + number(welcome.timeline) + ", credit " + number(welcome.credit_bytes);
}
std::string text(const Receipt& receipt) {
  static constexpr const char* kOutcomes[] = {"(accepted)", "(duplicate)", "(expired)"};
  return std::string("receipt ") + kOutcomes[static_cast<std::size_t>(receipt.outcome)] + " step " +
         number(receipt.step) + " chunk " + number(receipt.chunk) + " slots " + words(receipt.node);
}
std::string text(const Weights& weights) {
  return "weights of chunk " + number(weights.chunk) + " at version " + number(weights.version) +
         (weights.ticket != 0 ? ", for clock " + clock(weights.ticket) : "") +
         (weights.sequence != 0 ? ", journal at " + number(weights.sequence) : "");
}
std::string text(const Gone& gone) {
  return "gone: chunk " + number(gone.chunk) + " version " + number(gone.version) + ", is at " + number(gone.held);
}
std::string list(const std::vector<SnapshotId>& snapshots) {
  std::string text;
  for (const auto id : snapshots) {
    text += (text.empty() ? "" : ", ") + words(id);
  }
  return text;
}

std::string text(const Stale& stale) { return "stale: timeline is " + number(stale.timeline); }
std::string text(const Refused& refused) { return "refused: " + refused.text; }
std::string text(const WorkerHello& hello) { return "hello, I am " + hello.name; }
std::string brought(const std::vector<std::uint64_t>& clocks) {
  std::string text;
  for (const auto each : clocks) {
    text += (text.empty() ? ", has brought clock " : ", ") + clock(each);
  }
  return text;
}
std::string text(const Heartbeat& beat) {
  return "heartbeat, order " + number(beat.order) + ", next step " + number(beat.step) +
         (beat.ready ? "" : ", not ready") + (beat.idle ? ", idle" : "") + brought(beat.brought);
}
std::string text(const EvaluationResult& result) {
  return std::string("evaluated item ") + number(result.item) + " of the " + words(result.split) +
         " split at version " + number(result.version);
}
std::string text(const Goodbye& goodbye) { return "goodbye: " + goodbye.reason; }
std::string text(const WorkerWelcome& welcome) {
  return "welcome, timeline " + number(welcome.timeline) + ", " + number(welcome.addresses.size()) + " lanes";
}
std::string text(const Assign& assign) {
  std::string order = "assign, order " + number(assign.order) + ", generation " + number(assign.generation);
  if (!assign.standing.slots.empty()) {
    order += ": slots " + words(assign.standing.slots) + " of steps " + number(assign.standing.from) + " to " +
             number(assign.standing.until);
  }
  if (!assign.grants.empty()) {
    order += ": items " + grants(assign.grants);
  }
  if (assign.extra) {
    order += "; extra slots " + words(assign.extra->slots) + " of step " + number(assign.extra->step);
  }
  if (assign.evaluation) {
    order += "; evaluate item " + number(assign.evaluation->item) + " of the " + words(assign.evaluation->split) +
             " split at version " + number(assign.evaluation->version);
  }
  return order;
}
std::string text(const ShardHello& hello) {
  return "hello, incarnation " + number(hello.incarnation) + ", life " + number(hello.database.count) +
         (hello.timeline > 0 ? ", knows of timeline " + number(hello.timeline) : "") +
         (hello.timeline > 0 && !hello.lives.empty()
              ? ", journal begins this life at " + number(hello.lives.back().begun)
              : "");
}
std::string text(const LaneReport& report) {
  const auto missing = SlotSet::from_words(kMaxSlots, report.missing).runs();
  return "report " + number(report.sequence) + ": open step " + number(report.open_step) +
         (missing.empty() ? "" : ", missing " + words(missing)) +
         (report.covered.empty() ? "" : ", covers items " + ranges(report.covered)) +
         (report.reached == 0 ? "" : ", reached item " + number(report.reached)) +
         (report.marks.empty() ? "" : ", rests on " + marks(report.marks)) + ", planned to " + number(report.planned) +
         (report.statistics.empty() ? "" : ", " + number(report.statistics.size()) + " statistics") +
         (report.measures.empty() ? "" : ", " + number(report.measures.size()) + " measures") +
         (report.held.empty() ? "" : ", holds " + list(report.held)) +
         (report.writing.empty() ? "" : ", writes " + list(report.writing)) +
         (report.failed.empty() ? "" : ", could not write " + list(report.failed)) +
         (report.copy.done ? ", has copied " + words(report.copy.snapshot) : "") + (report.leaving ? ", leaving" : "") +
         (report.failure.empty() ? "" : ", failed: " + report.failure);
}
std::string text(const Confirm& confirm) {
  return "confirm timeline " + number(confirm.timeline) + " to incarnation " + number(confirm.incarnation) +
         (confirm.resumes ? ", to go on with its journal" : "") + ", from snapshot " + words(confirm.base);
}
std::string text(const Plan& plan) {
  std::string text = plan.factors.empty()
                         ? "plan, no new factors"
                         : "plan for updates " + number(plan.first) + " to " + number(plan.first + plan.factors.size());
  if (plan.factors.size() == 1 && plan.factors[0].skip) {
    text = "plan: skip step " + number(plan.first);
  }
  for (const auto step : plan.snapshots) {
    text += ", snapshot of step " + number(step);
  }
  return text;
}
std::string text(const Finish& finish) {
  static constexpr const char* kEndings[] = {"finished", "stopped", "failed"};
  return std::string(kEndings[static_cast<std::size_t>(finish.ending)]) + " at step " + number(finish.step) +
         (finish.failure.empty() ? "" : ": " + finish.failure);
}
std::string text(const Control& control) {
  static constexpr const char* kCommands[] = {"stop", "pause", "resume"};
  return kCommands[static_cast<std::size_t>(control.command)];
}
std::string text(const StatusRequest&) { return "status?"; }
std::string text(const Status& status) { return "status: " + status.phase; }

}  // namespace

std::string words(SlotRange range) { return "[" + number(range.begin) + ", " + number(range.end) + ")"; }

std::string words(const std::vector<SlotRange>& ranges) {
  std::string all;
  for (const auto range : ranges) {
    all += (all.empty() ? "" : " ") + words(range);
  }
  return all;
}

std::string words(SnapshotId id) { return number(id.timeline) + "/" + number(id.step); }

std::string words(Split split) { return split == Split::test ? "test" : "validation"; }

std::string words(const LedgerChange& change) {
  const auto& ledger = change.ledger;
  std::string text = "timeline " + number(ledger.timeline) + " from snapshot " + words(ledger.base) + ", complete " +
                     list(ledger.complete);
  text += ledger.pause == Pause::held ? ", paused" : ledger.pause == Pause::wanted ? ", a pause wanted" : "";
  if (!ledger.provenance.data.value.empty()) {
    text += ", data of " + ledger.provenance.data.by;
  }
  for (const auto range : ledger.skipped) {
    text += ", skips " + words(SlotRange{static_cast<Slot>(range.from), static_cast<Slot>(range.until)});
  }
  if (change.trim_from) {
    text += ", trimmed from step " + number(*change.trim_from);
  }
  text += change.statistics.empty() ? "" : ", " + number(change.statistics.size()) + " statistics";
  text += change.evaluations.empty() ? "" : ", " + number(change.evaluations.size()) + " evaluations";
  text += ledger.copies.named == SnapshotId{} ? "" : ", to be copied " + words(ledger.copies.named);
  text += ledger.copies.complete == SnapshotId{} ? "" : ", copied " + words(ledger.copies.complete);
  return text + (ledger.best ? ", best " + words(*ledger.best) : "") + (ledger.finished ? ", finished" : "");
}

std::string words(const Message& message) {
  return std::visit([](const auto& body) { return text(body); }, message);
}

bool is_sign_of_life(const Message& message) {
  if (const auto* plan = std::get_if<Plan>(&message)) {
    return plan->factors.empty() && plan->snapshots.empty();
  }
  if (const auto* report = std::get_if<LaneReport>(&message)) {
    return report->held.empty() && report->failure.empty() && !report->leaving;
  }
  return std::holds_alternative<Heartbeat>(message);
}

}  // namespace ballast::simulation
