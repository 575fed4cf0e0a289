#include "common/wire/check.h"

#include <cmath>
#include <limits>
#include <string>

#include "common/wire/wire_limits.h"

namespace ballast::wire {
namespace {

using Verdict = std::optional<Refused>;

Verdict out_of_range(const std::string& text) { return Refused{RefusalCode::out_of_range, text}; }

// ---- rules

Verdict zero(const std::string& field) { return out_of_range(field + " is 0; it must not be"); }

Verdict non_zero(const char* field, std::uint64_t value) { return value != 0 ? Verdict{} : zero(field); }

Verdict not_finite(const std::string& field, double value) {
  return out_of_range(field + " is " + std::to_string(value) + "; it must be finite");
}

std::string bounds(std::uint64_t begin, std::uint64_t end) {
  return std::string("[") + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

// The slots of some work.
Verdict work(const char* field, SlotRange range) {
  if (range.begin < range.end && range.end <= kMaxSlots) {
    return {};
  }
  return out_of_range(std::string(field) + " is " + bounds(range.begin, range.end) +
                      "; begin < end <= " + std::to_string(kMaxSlots) + " is allowed");
}

// The slots of a standing assignment: there may be none.
Verdict work_or_none(const char* field, SlotRange range) {
  if (range.begin <= range.end && range.end <= kMaxSlots) {
    return {};
  }
  return out_of_range(std::string(field) + " is " + bounds(range.begin, range.end) +
                      "; begin <= end <= " + std::to_string(kMaxSlots) + " is allowed");
}

Verdict at_most(const char* field, std::uint64_t value, std::uint64_t limit) {
  return value <= limit ? Verdict{}
                        : out_of_range(std::string(field) + " is " + std::to_string(value) + "; at most " +
                                       std::to_string(limit) + " is allowed");
}

Verdict lane_within(const char* field, LaneId lane, std::uint32_t shards, std::uint32_t lanes) {
  if (lane.shard < shards && lane.lane < lanes) {
    return {};
  }
  return out_of_range(std::string(field) + " is shard " + std::to_string(lane.shard) + ", lane " +
                      std::to_string(lane.lane) + "; below " + std::to_string(shards) + " shards and " +
                      std::to_string(lanes) + " lanes is allowed");
}

template <typename Enum>
Verdict known(const char* field, Enum value, Enum last) {
  return at_most(field, static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(last));
}

Verdict first_of(std::initializer_list<Verdict> verdicts) {
  for (const auto& verdict : verdicts) {
    if (verdict) {
      return verdict;
    }
  }
  return {};
}

std::string element(const char* list, std::size_t index, const char* field) {
  return std::string(list) + "[" + std::to_string(index) + "]." + field;
}

// ---- messages

// Any number is a good one here; what it means is the receiver's to judge.
template <typename Body>
Verdict check_body(const Body&) {
  return {};
}

Verdict check_body(const Push& push) { return work("Push.node", push.node); }
Verdict check_body(const LaneWelcome& welcome) { return non_zero("LaneWelcome.incarnation", welcome.incarnation); }
Verdict check_body(const Weights& weights) { return non_zero("Weights.incarnation", weights.incarnation); }
Verdict check_body(const Confirm& confirm) { return non_zero("Confirm.incarnation", confirm.incarnation); }

Verdict check_body(const Receipt& receipt) {
  const auto node = work("Receipt.node", receipt.node);
  return node ? node : known("Receipt.outcome", receipt.outcome, ReceiptOutcome::duplicate);
}

Verdict check_body(const Refused& refused) { return known("Refused.code", refused.code, RefusalCode::incarnation); }

Verdict check_body(const EvaluationResult& result) {
  return at_most("EvaluationResult.correct", result.correct, result.examples);
}

Verdict check_body(const WorkerWelcome& welcome) {
  auto verdict = first_of({at_most("WorkerWelcome.shards", welcome.shards, kMaxShards),
                           at_most("WorkerWelcome.lanes", welcome.lanes, kMaxLanes)});
  for (std::size_t i = 0; !verdict && i < welcome.addresses.size(); ++i) {
    verdict = lane_within("WorkerWelcome.addresses.lane", welcome.addresses[i].lane, welcome.shards, welcome.lanes);
  }
  return verdict;
}

Verdict check_body(const Assign& assign) {
  auto verdict = first_of({at_most("Assign.standing.from", assign.standing.from, assign.standing.until),
                           work_or_none("Assign.standing.slots", assign.standing.slots)});
  if (!verdict && assign.extra) {
    verdict = work("Assign.extra.slots", assign.extra->slots);
  }
  if (!verdict && assign.evaluation && assign.evaluation->begin >= assign.evaluation->end) {
    verdict = out_of_range("Assign.evaluation is " + bounds(assign.evaluation->begin, assign.evaluation->end) +
                           "; begin < end is allowed");
  }
  return verdict;
}

Verdict check_body(const ShardHello& hello) {
  return first_of({at_most("ShardHello.shards", hello.shards, kMaxShards),
                   at_most("ShardHello.lanes", hello.lanes, kMaxLanes),
                   lane_within("ShardHello.lane", hello.lane, hello.shards, hello.lanes),
                   non_zero("ShardHello.incarnation", hello.incarnation)});
}

Verdict check_body(const LaneReport& report) {
  auto verdict = first_of({lane_within("LaneReport.lane", report.lane, kMaxShards, kMaxLanes),
                           non_zero("LaneReport.incarnation", report.incarnation)});
  // The loss may be infinite or NaN: a diverging job has to be seen.
  for (std::size_t i = 0; !verdict && i < report.statistics.size(); ++i) {
    const auto& of_step = report.statistics[i];
    if (!std::isfinite(of_step.correct)) {
      verdict = not_finite(element("LaneReport.statistics", i, "correct"), of_step.correct);
    } else if (!std::isfinite(of_step.examples)) {
      verdict = not_finite(element("LaneReport.statistics", i, "examples"), of_step.examples);
    }
  }
  for (std::size_t i = 0; !verdict && i < report.slots_by_session.size(); ++i) {
    if (report.slots_by_session[i].session == 0) {
      verdict = zero(element("LaneReport.slots_by_session", i, "session"));
    }
  }
  return verdict;
}

Verdict check_body(const Plan& plan) {
  auto verdict =
      at_most("Plan.first", plan.first, std::numeric_limits<Step>::max() - static_cast<Step>(plan.factors.size()));
  for (std::size_t i = 0; !verdict && i < plan.factors.size(); ++i) {
    if (!std::isfinite(plan.factors[i].learning_rate)) {
      verdict = not_finite(element("Plan.factors", i, "learning_rate"), plan.factors[i].learning_rate);
    }
  }
  return verdict;
}

Verdict check_body(const Status& status) {
  Verdict verdict;
  if (!std::isfinite(status.test_accuracy)) {
    verdict = not_finite("Status.test_accuracy", status.test_accuracy);
  }
  for (std::size_t i = 0; !verdict && i < status.sessions.size(); ++i) {
    if (status.sessions[i].session == 0) {
      verdict = zero(element("Status.sessions", i, "session"));
    }
  }
  return verdict;
}

}  // namespace

std::optional<Refused> check(const Message& message) {
  return std::visit([](const auto& body) { return check_body(body); }, message);
}

}  // namespace ballast::wire
