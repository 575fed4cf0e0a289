#include "tests/simulation/words.h"

#include "protocol/slot_set.h"

namespace ballast::simulation {

namespace {

std::string list(const std::vector<ChunkId>& chunks) {
  std::string text;
  for (const auto chunk : chunks) {
    text += (text.empty() ? "" : ", ") + std::to_string(chunk);
  }
  return text;
}

std::string grants(const std::vector<Grant>& grants) {
  std::string text;
  for (const auto& grant : grants) {
    text += (text.empty() ? "" : ", ") + std::to_string(grant.item) + " (clock " + words(grant.clock) + ")";
  }
  return text;
}

std::string ids(const std::string& what, const std::vector<SnapshotId>& snapshots) {
  std::string text;
  for (const auto id : snapshots) {
    text += (text.empty() ? what + " " : ", ") + words(id);
  }
  return text;
}

std::string marks(const std::vector<JournalMark>& marks) {
  std::string text;
  for (const auto& mark : marks) {
    text += (text.empty() ? "" : ", ") + std::string("shard ") + std::to_string(mark.shard) + " life " +
            std::to_string(mark.incarnation) + " up to " + std::to_string(mark.sequence);
  }
  return text;
}

std::string ranges(const std::vector<ItemRange>& ranges) {
  std::string text;
  for (const auto& range : ranges) {
    text += (text.empty() ? "" : " ") + std::string("[") + std::to_string(range.begin) + ", " +
            std::to_string(range.end) + ")";
  }
  return text;
}

std::string text(const LaneHello&) { return "hello"; }
std::string text(const Pull& pull) {
  return std::string("pull ") + (pull.averages ? "averages at " : "") +
         (pull.version == kNewestVersion ? "the newest version, for clock " + words(pull.clock) + ","
                                         : "version " + std::to_string(pull.version)) +
         " of chunks " + list(pull.chunks);
}
std::string text(const Push& push) {
  return std::string("push ") + (push.call == 0 ? "" : "for call " + std::to_string(push.call) + " ") + "step " +
         std::to_string(push.step) + " chunk " + std::to_string(push.chunk) + " slots " + words(push.node) +
         (push.fault != kNoSlot ? ", slot " + std::to_string(push.fault) + " not finite" : "") +
         (push.items.clock != kNoLeadNumber ? ", wants the newest version for clock " + words(push.items.clock)
          : push.want_next                  ? ", wants version " + std::to_string(push.step + 1)
                                            : "") +
         (push.items.computed_from != 0 || push.items.clock != kNoLeadNumber || !push.items.marks.empty()
              ? ", from version " + std::to_string(push.items.computed_from)
              : "") +
         (push.items.marks.empty() ? "" : ", rests on " + marks(push.items.marks));
}
std::string place(const Work& work) {
  return "step " + std::to_string(work.step) + " chunk " + std::to_string(work.chunk) + " slots " + words(work.node);
}
std::string text(const Offers& offers) {
  std::string text;
  for (const auto& work : offers.works) {
    text += (text.empty() ? " " : ", ") + place(work);
  }
  return "offers" + (text.empty() ? " nothing" : text);
}
std::string text(const CallVoid& none) { return "nothing for call " + std::to_string(none.number); }
std::string text(const BytesReturned& returned) {
  return "returns " + std::to_string(returned.bytes) + " bytes" + (returned.number == 0 ? "" : ", as asked");
}
std::string text(const Call& call) { return "call " + std::to_string(call.number) + ": " + place(call.work); }
std::string text(const BytesAhead& ahead) { return "room for " + std::to_string(ahead.bytes) + " bytes"; }
std::string text(const ReturnAsked& /*asked*/) { return "wants the room back"; }
std::string text(const LaneWelcome& welcome) {
  return "welcome, timeline " + std::to_string(welcome.timeline) +
         (welcome.credit_bytes == 0 ? "" : ", credit " + std::to_string(welcome.credit_bytes));
}
std::string text(const Receipt& receipt) {
  static constexpr const char* kOutcomes[] = {"(accepted)", "(duplicate)", "(expired)", "(not yet)"};
  return std::string("receipt ") + kOutcomes[static_cast<std::size_t>(receipt.outcome)] + " step " +
         std::to_string(receipt.step) + " chunk " + std::to_string(receipt.chunk) + " slots " + words(receipt.node);
}
std::string text(const Weights& weights) {
  return std::string(weights.averages ? "averages" : "weights") + " of chunk " + std::to_string(weights.chunk) +
         " at version " + std::to_string(weights.version) +
         (weights.clock != kNoLeadNumber ? ", for clock " + words(weights.clock) : "") +
         (weights.sequence != 0 ? ", journal at " + std::to_string(weights.sequence) : "");
}
std::string text(const Gone& gone) {
  return "gone: chunk " + std::to_string(gone.chunk) + (gone.averages ? " average at version " : " version ") +
         std::to_string(gone.version) + ", is at " + std::to_string(gone.newest);
}
std::string list(const std::vector<SnapshotId>& snapshots) {
  std::string text;
  for (const auto id : snapshots) {
    text += (text.empty() ? "" : ", ") + words(id);
  }
  return text;
}

std::string text(const Stale& stale) { return "stale: timeline is " + std::to_string(stale.timeline); }
std::string text(const Refused& refused) { return "refused: " + refused.text; }
std::string text(const WorkerHello& hello) { return "hello, I am " + hello.name; }
std::string told(const char* what, const std::vector<LeadNumber>& clocks) {
  std::string text;
  for (const auto each : clocks) {
    text += (text.empty() ? std::string(", has ") + what + " clock " : ", ") + words(each);
  }
  return text;
}
std::string text(const Heartbeat& beat) {
  return "heartbeat, order " + words(beat.order) + ", next step " + std::to_string(beat.step) +
         (beat.ready ? "" : ", not ready") + (beat.idle ? ", idle" : "") + told("delivered", beat.delivered) +
         told("dropped", beat.dropped);
}
std::string text(const EvaluationResult& result) {
  return std::string("evaluated item ") + std::to_string(result.item) + " of the " + words(result.split) +
         " split at version " + std::to_string(result.version);
}
std::string text(const Goodbye& goodbye) { return "goodbye: " + goodbye.reason; }
std::string text(const WorkerWelcome& welcome) {
  return "welcome, timeline " + std::to_string(welcome.timeline) + ", " + std::to_string(welcome.addresses.size()) +
         " lanes";
}
std::string text(const Assign& assign) {
  std::string order = "assign, order " + words(assign.order) + ", generation " + std::to_string(assign.generation);
  if (!assign.rounds.standing.slots.empty()) {
    order += ": slots " + words(assign.rounds.standing.slots) + " of steps " +
             std::to_string(assign.rounds.standing.from) + " to " + std::to_string(assign.rounds.standing.until);
  }
  if (!assign.items.grants.empty()) {
    order += ": items " + grants(assign.items.grants);
  }
  if (const auto& now = assign.rounds.now) {
    order +=
        "; of step " + std::to_string(now->step) + (now->ranges.empty() ? " none" : " slots " + words(now->ranges));
  }
  if (assign.evaluation) {
    order += "; evaluate item " + std::to_string(assign.evaluation->item) + " of the " +
             words(assign.evaluation->split) + " split at version " + std::to_string(assign.evaluation->version);
  }
  return order;
}
std::string text(const ShardHello& hello) {
  return "hello, incarnation " + std::to_string(hello.incarnation) + ", life " + std::to_string(hello.database.count) +
         (hello.timeline > 0 ? ", knows of timeline " + std::to_string(hello.timeline) : "") +
         (hello.timeline > 0 && !hello.lives.empty()
              ? ", journal begins this life at " + std::to_string(hello.lives.back().begun)
              : "") +
         (hello.replayed ? ", has all items before " + std::to_string(hello.replayed->covered) + " and is told cut " +
                               std::to_string(hello.replayed->cut)
                         : "") +
         ids(", finds copies of", hello.copied) + ids(", cannot get", hello.lost) +
         (hello.copies_trouble.empty() ? "" : ", cannot look for copies: " + hello.copies_trouble);
}
std::string text(const LaneReport& report) {
  const auto missing = SlotSet::from_words(kMaxSlots, report.rounds.missing).runs();
  return "report " + std::to_string(report.sequence) + ": by plan " + words(report.plan) + ", open step " +
         std::to_string(report.open_step) + (missing.empty() ? "" : ", missing " + words(missing)) +
         (report.rounds.reached > report.open_step ? ", reached step " + std::to_string(report.rounds.reached) : "") +
         (report.items.covered.empty() ? "" : ", covers items " + ranges(report.items.covered)) +
         (report.items.reached == 0 ? "" : ", reached item " + std::to_string(report.items.reached)) +
         (report.items.synced == 0 ? "" : ", synced before item " + std::to_string(report.items.synced)) +
         (report.items.marks.empty() ? "" : ", rests on " + marks(report.items.marks)) + ", planned to " +
         std::to_string(report.planned) +
         (report.statistics.empty() ? "" : ", " + std::to_string(report.statistics.size()) + " statistics") +
         (report.measures.empty() ? "" : ", " + std::to_string(report.measures.size()) + " measures") +
         (report.held.empty() ? "" : ", holds " + list(report.held)) +
         (report.writing.empty() ? "" : ", writes " + list(report.writing)) +
         (report.failed.empty() ? "" : ", could not write " + list(report.failed)) +
         (report.copy.done ? ", has copied " + words(report.copy.snapshot) : "") + (report.leaving ? ", leaving" : "") +
         (report.departing ? ", told to end" : "") + (report.failure.empty() ? "" : ", failed: " + report.failure);
}
std::string text(const Confirm& confirm) {
  return "confirm timeline " + std::to_string(confirm.timeline) + " to incarnation " +
         std::to_string(confirm.incarnation) + (confirm.resumes ? ", to go on with its journal" : "") +
         ", from snapshot " + words(confirm.base) +
         (confirm.resumes ? ", cut " + std::to_string(confirm.cut) + (confirm.serves ? ", it may serve" : "") : "");
}
std::string text(const Plan& plan) {
  std::string text = "plan " + words(plan.number) + " up to " + std::to_string(plan.until);
  if (plan.factors.size() == 1 && plan.factors[0].skip) {
    text += ", skip step " + std::to_string(plan.first);
  } else if (!plan.factors.empty()) {
    text += ", factors of updates " + std::to_string(plan.first) + " to " +
            std::to_string(plan.first + plan.factors.size());
  }
  if (plan.prospect) {
    text += ", prospect of update " + std::to_string(plan.first + plan.factors.size());
  }
  for (const auto step : plan.snapshots) {
    text += ", snapshot of step " + std::to_string(step);
  }
  return text + (plan.may_depart ? ", it may end" : "");
}
std::string text(const Finish& finish) {
  static constexpr const char* kEndings[] = {"finished", "stopped", "failed"};
  return std::string(kEndings[static_cast<std::size_t>(finish.ending)]) + " at step " + std::to_string(finish.step) +
         (finish.failure.empty() ? "" : ": " + finish.failure);
}
std::string text(const Control& control) {
  static constexpr const char* kCommands[] = {"stop", "pause", "resume"};
  return kCommands[static_cast<std::size_t>(control.command)];
}
std::string text(const TraceAsked&) { return "trace?"; }
std::string text(const TracePart&) { return "trace"; }
std::string text(const StatusRequest&) { return "status?"; }
std::string text(const Status& status) { return std::string("status: ") + name_of(status.phase); }

}  // namespace

std::string words(LeadNumber number) { return std::to_string(number.life) + "." + std::to_string(number.number); }

std::string words(SlotRange range) {
  return "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
}

std::string words(const std::vector<SlotRange>& ranges) {
  std::string all;
  for (const auto range : ranges) {
    all += (all.empty() ? "" : " ") + words(range);
  }
  return all;
}

std::string words(SnapshotId id) { return std::to_string(id.timeline) + "/" + std::to_string(id.step); }

std::string words(Split split) { return split == Split::test ? "test" : "validation"; }

std::string words(const LedgerChange& change) {
  const auto& ledger = change.ledger;
  std::string text = "timeline " + std::to_string(ledger.timeline) + " from snapshot " + words(ledger.base) +
                     ", complete " + list(ledger.complete);
  text += ledger.cut > ledger.base.step ? ", cut " + std::to_string(*ledger.cut) : "";
  text += ledger.held ? ", held for a server that is told to end" : "";
  for (const auto step : ledger.kept) {
    text += ", step " + std::to_string(step) + " kept";
  }
  text += ledger.pause == Pause::held ? ", paused" : ledger.pause == Pause::wanted ? ", a pause wanted" : "";
  if (!ledger.provenance.data.value.empty()) {
    text += ", data of " + ledger.provenance.data.by;
  }
  for (const auto range : ledger.skipped) {
    text += ", skips " + words(SlotRange{static_cast<Slot>(range.from), static_cast<Slot>(range.until)});
  }
  if (change.trim_from) {
    text += ", trimmed from step " + std::to_string(*change.trim_from);
  }
  text += change.statistics.empty() ? "" : ", " + std::to_string(change.statistics.size()) + " statistics";
  text += change.evaluations.empty() ? "" : ", " + std::to_string(change.evaluations.size()) + " evaluations";
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
