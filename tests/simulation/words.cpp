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

std::string text(const LaneHello&) { return "hello"; }
std::string text(const Pull& pull) {
  return "pull version " + number(pull.version) + " of chunks " + list(pull.chunks);
}
std::string text(const Push& push) {
  return "push step " + number(push.step) + " chunk " + number(push.chunk) + " slots " + words(push.node) +
         (push.want_next ? ", wants version " + number(push.step + 1) : "");
}
std::string text(const LaneWelcome& welcome) {
  return "welcome, timeline " + number(welcome.timeline) + ", credit " + number(welcome.credit_bytes);
}
std::string text(const Receipt& receipt) {
  return std::string("receipt ") + (receipt.outcome == ReceiptOutcome::accepted ? "(accepted)" : "(duplicate)") +
         " step " + number(receipt.step) + " chunk " + number(receipt.chunk) + " slots " + words(receipt.node);
}
std::string text(const Weights& weights) {
  return "weights of chunk " + number(weights.chunk) + " at version " + number(weights.version);
}
std::string text(const Gone& gone) {
  return "gone: chunk " + number(gone.chunk) + " version " + number(gone.version) + ", is at " + number(gone.held);
}
std::string text(const Stale& stale) { return "stale: timeline is " + number(stale.timeline); }
std::string text(const Refused& refused) { return "refused: " + refused.text; }
std::string text(const WorkerHello& hello) { return "hello, I am " + hello.name; }
std::string text(const Heartbeat& beat) {
  return "heartbeat, order " + number(beat.order) + ", next step " + number(beat.step) +
         (beat.ready ? "" : ", not ready") + (beat.idle ? ", idle" : "");
}
std::string text(const EvaluationResult& result) {
  return "evaluated item " + number(result.item) + " at version " + number(result.version);
}
std::string text(const Goodbye& goodbye) { return "goodbye: " + goodbye.reason; }
std::string text(const WorkerWelcome& welcome) { return "welcome, " + number(welcome.addresses.size()) + " lanes"; }
std::string text(const Assign& assign) {
  std::string order = "assign, order " + number(assign.order) + ", generation " + number(assign.generation);
  if (!assign.standing.slots.empty()) {
    order += ": slots " + words(assign.standing.slots) + " of steps " + number(assign.standing.from) + " to " +
             number(assign.standing.until);
  }
  if (assign.extra) {
    order += "; extra slots " + words(assign.extra->slots) + " of step " + number(assign.extra->step);
  }
  if (assign.evaluation) {
    order += "; evaluate item " + number(assign.evaluation->item) + " at version " + number(assign.evaluation->version);
  }
  return order;
}
std::string text(const ShardHello& hello) { return "hello, incarnation " + number(hello.incarnation); }
std::string text(const LaneReport& report) {
  const auto missing = SlotSet::from_words(kMaxSlots, report.missing).runs();
  return "report " + number(report.sequence) + ": open step " + number(report.open_step) +
         (missing.empty() ? "" : ", missing " + words(missing)) + ", planned to " + number(report.planned) +
         (report.statistics.empty() ? "" : ", " + number(report.statistics.size()) + " statistics") +
         (report.persisted ? ", persisted" : "") + (report.leaving ? ", leaving" : "") +
         (report.failure.empty() ? "" : ", failed: " + report.failure);
}
std::string text(const Confirm& confirm) {
  return "confirm timeline " + number(confirm.timeline) + " from step " + number(confirm.base);
}
std::string text(const Plan& plan) {
  return plan.factors.empty()
             ? "plan, nothing new, statistics through " + number(plan.statistics_through)
             : "plan for steps " + number(plan.first) + " to " + number(plan.first + plan.factors.size());
}
std::string text(const Persist& persist) { return "persist step " + number(persist.step); }
std::string text(const Finish& finish) {
  return "finish at step " + number(finish.step) + (finish.failure.empty() ? "" : ": " + finish.failure);
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

std::string words(const Message& message) {
  return std::visit([](const auto& body) { return text(body); }, message);
}

bool is_sign_of_life(const Message& message) {
  if (const auto* plan = std::get_if<Plan>(&message)) {
    return plan->factors.empty();
  }
  if (const auto* report = std::get_if<LaneReport>(&message)) {
    return !report->persisted && report->failure.empty();
  }
  return std::holds_alternative<Heartbeat>(message);
}

}  // namespace ballast::simulation
