#include "common/wire/check.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "common/wire/wire_limits.h"

namespace ballast::wire {
namespace {

using Verdict = std::optional<Refused>;

Verdict out_of_range(const std::string& text) { return Refused{RefusalCode::out_of_range, text}; }

// ---- rules

Verdict non_zero(const char* field, std::uint64_t value) {
  return value != 0 ? Verdict{} : out_of_range(std::string(field) + " is 0; it must not be");
}

Verdict finite(const char* field, double value) {
  return std::isfinite(value)
             ? Verdict{}
             : out_of_range(std::string(field) + " is " + std::to_string(value) + "; it must be finite");
}

Verdict finite_and_not_negative(const char* field, double value) {
  return std::isfinite(value) && value >= 0 ? Verdict{}
                                            : out_of_range(std::string(field) + " is " + std::to_string(value) +
                                                           "; it must be finite and not negative");
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

// A verdict on a part, named as a part of `whole`.
Verdict inside(const std::string& whole, Verdict part) {
  if (part) {
    part->text.insert(0, whole);
  }
  return part;
}

// Holds `rule` to the values of a list until one breaks it. A name is put together only then: lists may be long.
template <typename List, typename Rule>
Verdict each(const char* name, const List& list, Rule rule) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (auto verdict = rule(list[i])) {
      return inside(std::string(name) + "[" + std::to_string(i) + "]", std::move(verdict));
    }
  }
  return {};
}

// ---- messages

// Any number is a good one here; what it means is the receiver's to judge.
template <typename Body>
Verdict check_body(const Body&) {
  return {};
}

Verdict check_body(const Push& push) {
  const auto node = work("Push.node", push.node);
  if (node || push.fault == kNoSlot || push.node.contains(push.fault)) {
    return node;
  }
  return out_of_range("Push.fault is " + std::to_string(push.fault) + "; a slot of the node " +
                      bounds(push.node.begin, push.node.end) + " or " + std::to_string(kNoSlot) +
                      " for none is allowed");
}

Verdict check_body(const LaneWelcome& welcome) { return non_zero("LaneWelcome.incarnation", welcome.incarnation); }
Verdict check_body(const Weights& weights) { return non_zero("Weights.incarnation", weights.incarnation); }
Verdict check_body(const Confirm& confirm) { return non_zero("Confirm.incarnation", confirm.incarnation); }

Verdict check_body(const Receipt& receipt) {
  const auto node = work("Receipt.node", receipt.node);
  return node ? node : known("Receipt.outcome", receipt.outcome, ReceiptOutcome::expired);
}

Verdict check_body(const Refused& refused) { return known("Refused.code", refused.code, RefusalCode::wrong_bits); }

Verdict check_body(const EvaluationResult& result) {
  return first_of({known("EvaluationResult.split", result.split, Split::test),
                   at_most("EvaluationResult.correct", result.correct, result.examples)});
}

Verdict check_body(const WorkerWelcome& welcome) {
  const auto sizes = first_of({at_most("WorkerWelcome.shards", welcome.shards, kMaxShards),
                               at_most("WorkerWelcome.lanes", welcome.lanes, kMaxLanes)});
  if (sizes) {
    return sizes;
  }
  return each("WorkerWelcome.addresses", welcome.addresses, [&](const LaneAddress& address) {
    return first_of({lane_within(".lane", address.lane, welcome.shards, welcome.lanes),
                     non_zero(".incarnation", address.incarnation)});
  });
}

Verdict evaluation(const Evaluation& evaluation) {
  if (evaluation.begin >= evaluation.end) {
    return out_of_range(" is " + bounds(evaluation.begin, evaluation.end) + "; begin < end is allowed");
  }
  return known(".split", evaluation.split, Split::test);
}

Verdict check_body(const Assign& assign) {
  auto verdict = first_of({at_most("Assign.standing.from", assign.standing.from, assign.standing.until),
                           work_or_none("Assign.standing.slots", assign.standing.slots)});
  if (!verdict && assign.extra) {
    verdict = work("Assign.extra.slots", assign.extra->slots);
  }
  if (!verdict && assign.evaluation) {
    verdict = inside("Assign.evaluation", evaluation(*assign.evaluation));
  }
  return verdict;
}

Verdict check_body(const ShardHello& hello) {
  const auto lives = each("ShardHello.lives", hello.lives,
                          [](const ShardLife& life) { return non_zero(".incarnation", life.incarnation); });
  return first_of({lives, at_most("ShardHello.shards", hello.shards, kMaxShards),
                   at_most("ShardHello.lanes", hello.lanes, kMaxLanes),
                   lane_within("ShardHello.lane", hello.lane, hello.shards, hello.lanes),
                   non_zero("ShardHello.incarnation", hello.incarnation),
                   non_zero("ShardHello.database", hello.database.database),
                   non_zero("ShardHello.database_life", hello.database.count)});
}

// Sums of squares are what they can be, unless the measure says that its gradient is none.
Verdict measure(const ChunkMeasure& measure) {
  const auto parameter = at_most(".parameter", measure.parameter, kMaxParameters - 1);
  if (parameter) {
    return parameter;
  }
  if (measure.slot >= kMaxSlots && measure.slot != kNoSlot) {
    return out_of_range(".slot is " + std::to_string(measure.slot) + "; at most " + std::to_string(kMaxSlots - 1) +
                        ", or " + std::to_string(kNoSlot) + " for none, is allowed");
  }
  if (!measure.finite) {
    return {};
  }
  return each(".sums", measure.sums, [](double sum) { return finite_and_not_negative("", sum); });
}

Verdict factors(const StepFactors& factors) {
  const auto numbers =
      first_of({finite(".learning_rate", factors.learning_rate), finite(".step_size", factors.step_size),
                finite_and_not_negative(".second_moment_root", factors.second_moment_root)});
  return numbers ? numbers
                 : each(".scales", factors.scales, [](float scale) { return finite_and_not_negative("", scale); });
}

// The loss may be infinite or NaN: a diverging job has to be seen.
Verdict statistics(const StepStatistics& of_step) {
  return first_of({finite(".correct", of_step.correct), finite(".examples", of_step.examples)});
}

Verdict check_body(const LaneReport& report) {
  return first_of({
      lane_within("LaneReport.lane", report.lane, kMaxShards, kMaxLanes),
      non_zero("LaneReport.incarnation", report.incarnation),
      each("LaneReport.measures", report.measures, measure),
      each("LaneReport.decided", report.decided,
           [](const DecidedStep& step) { return inside(".factors", factors(step.factors)); }),
      each("LaneReport.statistics", report.statistics, statistics),
      each("LaneReport.covered", report.covered,
           [](const ItemRange& range) { return at_most(".begin", range.begin, range.end); }),
      each("LaneReport.slots_by_session", report.slots_by_session,
           [](const SessionSlots& slots) { return non_zero(".session", slots.session); }),
  });
}

Verdict check_body(const Plan& plan) {
  const auto first =
      at_most("Plan.first", plan.first, std::numeric_limits<Step>::max() - static_cast<Step>(plan.factors.size()));
  return first ? first : each("Plan.factors", plan.factors, factors);
}

Verdict check_body(const Finish& finish) { return known("Finish.ending", finish.ending, Ending::failed); }

Verdict check_body(const Control& control) {
  return known("Control.command", control.command, Control::Command::resume);
}

// Losses and the norm may be infinite or NaN, as above.
Verdict check_body(const Status& status) {
  const auto numbers = first_of({finite_and_not_negative("Status.examples_per_second", status.examples_per_second),
                                 finite_and_not_negative("Status.steps_per_second", status.steps_per_second),
                                 finite("Status.learning_rate", status.learning_rate),
                                 finite("Status.validation.accuracy", status.validation.accuracy),
                                 finite("Status.test.accuracy", status.test.accuracy),
                                 finite("Status.best.accuracy", status.best.accuracy)});
  if (numbers) {
    return numbers;
  }
  return each("Status.sessions", status.sessions,
              [](const SessionStatus& session) { return non_zero(".session", session.session); });
}

}  // namespace

std::optional<Refused> check(const Message& message) {
  return std::visit([](const auto& body) { return check_body(body); }, message);
}

}  // namespace ballast::wire
