// Every message, field by field: names, rules and limits. schemas/wire.fbs has the form of each.
#pragma once

#include <string_view>
#include <tuple>

#include "common/wire/fields.h"
#include "common/wire/parts_table.h"
#include "common/wire/wire_limits.h"
#include "protocol/messages.h"
#include "schemas/wire_generated.h"

namespace ballast::wire {

// ---- worker to lane

template <>
struct Described<LaneHello> : Plain<LaneHello, schema::LaneHello> {
  static constexpr std::tuple fields{BALLAST_FIELD(name, Line{}), BALLAST_FIELD(spec_digest, Line{}),
                                     BALLAST_FIELD(layout_digest, Line{}), since(14, BALLAST_FIELD(takes_calls))};
};

template <>
struct Described<Pull> : Plain<Pull, schema::Pull> {
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines), BALLAST_FIELD(version, kVersionsOrNewest),
                                     BALLAST_FIELD(chunks, List{kMaxPullChunks, kChunks}), BALLAST_FIELD(clock),
                                     BALLAST_FIELD(averages)};
  // A lane looks up and answers each of them.
  static constexpr std::string_view allowed = "chunks ascending, none of them twice";
  static Fault fault(const Pull& pull) { return ascending(".chunks", pull.chunks); }
};

template <>
struct Described<Push> : Plain<Push, schema::Push> {
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines),
                                     BALLAST_FIELD(step, kSteps),
                                     BALLAST_FIELD(chunk, kChunks),
                                     BALLAST_FIELD(node, SomeSlots{}),
                                     BALLAST_FIELD(want_next),
                                     BALLAST_FIELD(fault, SlotOrNone{}),
                                     BALLAST_FIELD(phases),
                                     BALLAST_FIELD(items),
                                     since(14, BALLAST_FIELD(call, kCounts))};
  static constexpr std::string_view allowed = "fault a slot of the node, or 4294967295: none";
  static Fault fault(const Push& push) {
    if (push.fault == kNoSlot || push.node.contains(push.fault)) {
      return {};
    }
    return ".fault is " + std::to_string(push.fault) + "; a slot of the node " +
           bounds(push.node.begin, push.node.end) + " or " + std::to_string(kNoSlot) + " for none is allowed";
  }
};

template <>
struct Described<Offers> : Plain<Offers, schema::Offers> {
  static constexpr std::uint32_t known_since = 14;
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines), BALLAST_FIELD(works, List{kMaxOffers})};
  static constexpr std::string_view allowed = "works ascending by step, chunk and node, none of them twice";
  static Fault fault(const Offers& offers) { return ascending(".works", offers.works); }
};

template <>
struct Described<CallVoid> : Plain<CallVoid, schema::CallVoid> {
  static constexpr std::uint32_t known_since = 14;
  static constexpr std::tuple fields{BALLAST_FIELD(number, Counted{kCounts})};
};

template <>
struct Described<BytesReturned> : Plain<BytesReturned, schema::BytesReturned> {
  static constexpr std::uint32_t known_since = 14;
  static constexpr std::tuple fields{BALLAST_FIELD(number, kCounts), BALLAST_FIELD(bytes, kBytes)};
};

// ---- lane to worker

template <>
struct Described<LaneWelcome> : Plain<LaneWelcome, schema::LaneWelcome> {
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines), BALLAST_FIELD(incarnation, NotZero{}),
                                     BALLAST_FIELD(credit_bytes, kBytes)};
};

template <>
struct Described<Receipt> : Plain<Receipt, schema::Receipt> {
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines), BALLAST_FIELD(step, kSteps),
                                     BALLAST_FIELD(chunk, kChunks), BALLAST_FIELD(node, SomeSlots{}),
                                     BALLAST_FIELD(outcome, Known{ReceiptOutcome::not_yet})};
};

template <>
struct Described<Call> : Plain<Call, schema::Call> {
  static constexpr std::uint32_t known_since = 14;
  static constexpr std::tuple fields{BALLAST_FIELD(number, Counted{kCounts}), BALLAST_FIELD(work)};
};

template <>
struct Described<BytesAhead> : Plain<BytesAhead, schema::BytesAhead> {
  static constexpr std::uint32_t known_since = 14;
  static constexpr std::tuple fields{BALLAST_FIELD(bytes, kBytes)};
};

template <>
struct Described<ReturnAsked> : Plain<ReturnAsked, schema::ReturnAsked> {
  static constexpr std::uint32_t known_since = 14;
  static constexpr std::tuple fields{BALLAST_FIELD(number, Counted{kCounts})};
};

template <>
struct Described<Weights> : Plain<Weights, schema::Weights> {
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines),
                                     BALLAST_FIELD(incarnation, NotZero{}),
                                     BALLAST_FIELD(chunk, kChunks),
                                     BALLAST_FIELD(version, kVersions),
                                     BALLAST_FIELD(clock),
                                     BALLAST_FIELD(sequence, kCounts),
                                     BALLAST_FIELD(averages)};
};

template <>
struct Described<Gone> : Plain<Gone, schema::Gone> {
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines), BALLAST_FIELD(chunk, kChunks),
                                     BALLAST_FIELD(version, kVersionsOrNewest), BALLAST_FIELD(newest, kVersions),
                                     BALLAST_FIELD(averages)};
};

template <>
struct Described<Stale> : Plain<Stale, schema::Stale> {
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines)};
};

template <>
struct Described<Refused> : Plain<Refused, schema::Refused> {
  static constexpr std::tuple fields{BALLAST_FIELD(code, Known{RefusalCode::wrong_bits}),
                                     BALLAST_FIELD(text, FreeText{}), BALLAST_FIELD(job, JobText{})};
};

// ---- worker to lead

template <>
struct Described<WorkerHello> : Plain<WorkerHello, schema::WorkerHello> {
  static constexpr std::tuple fields{BALLAST_FIELD(name, Line{})};
};

template <>
struct Described<Heartbeat> : Plain<Heartbeat, schema::Heartbeat> {
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines),
                                     BALLAST_FIELD(order),
                                     BALLAST_FIELD(step, kSteps),
                                     BALLAST_FIELD(ready),
                                     BALLAST_FIELD(idle),
                                     BALLAST_FIELD(waits_for, FreeText{}),
                                     BALLAST_FIELD(fingerprint, Line{}),
                                     BALLAST_FIELD(data_digest, Line{}),
                                     BALLAST_FIELD(phases),
                                     BALLAST_FIELD(slots, kCounts),
                                     BALLAST_FIELD(placement, kCounts),
                                     BALLAST_FIELD(delivered, List{kMaxGrants}),
                                     BALLAST_FIELD(dropped, List{kMaxGrants}),
                                     since(14, BALLAST_FIELD(progress))};
};

template <>
struct Described<EvaluationResult> : Plain<EvaluationResult, schema::EvaluationResult> {
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines),
                                     BALLAST_FIELD(split, Known{Split::test}),
                                     BALLAST_FIELD(item, kExamples),
                                     BALLAST_FIELD(version, kVersions),
                                     BALLAST_FIELD(loss_sum),
                                     BALLAST_FIELD(correct, kExamples),
                                     BALLAST_FIELD(examples, kExamples),
                                     BALLAST_FIELD(counts, List{kMaxMetricCounts, kBytes}),
                                     BALLAST_FIELD(sums, List{kMaxMetricSums})};
  static constexpr std::string_view allowed = "correct <= examples";
  static Fault fault(const EvaluationResult& result) {
    return inside(".correct", fault_by(AtMost{result.examples}, result.correct));
  }
};

template <>
struct Described<Goodbye> : Plain<Goodbye, schema::Goodbye> {
  static constexpr std::tuple fields{BALLAST_FIELD(reason, FreeText{})};
};

// ---- lead to worker

template <>
struct Described<WorkerWelcome> : Plain<WorkerWelcome, schema::WorkerWelcome> {
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines),
                                     BALLAST_FIELD(job, JobText{}),
                                     BALLAST_FIELD(spec_digest, Line{}),
                                     BALLAST_FIELD(layout_digest, Line{}),
                                     BALLAST_FIELD(shards, AtMost{kMaxShards}),
                                     BALLAST_FIELD(lanes, AtMost{kMaxLanes}),
                                     BALLAST_FIELD(addresses, List{kMaxAddresses}),
                                     BALLAST_FIELD(placement, kCounts)};
  static constexpr std::string_view allowed = "addresses within the message's shards and lanes";
  static Fault fault(const WorkerWelcome& welcome) {
    return each(".addresses", welcome.addresses, [&](const LaneAddress& address) {
      return lane_within(".lane", address.lane, welcome.shards, welcome.lanes);
    });
  }
};

template <>
struct Described<Assign> : Plain<Assign, schema::Assign> {
  static constexpr std::tuple fields{BALLAST_FIELD(order),
                                     BALLAST_FIELD(timeline, kTimelines),
                                     BALLAST_FIELD(generation, kCounts),
                                     BALLAST_FIELD(evaluation),
                                     BALLAST_FIELD(rounds),
                                     BALLAST_FIELD(items),
                                     since(14, BALLAST_FIELD(beats_apart, kSpans))};
};

// ---- lane to lead

template <>
struct Described<ShardHello> : Plain<ShardHello, schema::ShardHello> {
  static constexpr std::tuple fields{BALLAST_FIELD(lane),
                                     BALLAST_FIELD(shards, AtMost{kMaxShards}),
                                     BALLAST_FIELD(lanes, AtMost{kMaxLanes}),
                                     BALLAST_FIELD(incarnation, NotZero{}),
                                     BALLAST_FIELD(database),
                                     BALLAST_FIELD(spec_digest, Line{}),
                                     BALLAST_FIELD(layout_digest, Line{}),
                                     BALLAST_FIELD(initial_weights, Line{}),
                                     BALLAST_FIELD(address, Line{}),
                                     BALLAST_FIELD(timeline, kTimelines),
                                     BALLAST_FIELD(open_step, kSteps),
                                     BALLAST_FIELD(held, List{kMaxHeld}),
                                     BALLAST_FIELD(lives, List{kMaxShardLives + 1}),
                                     BALLAST_FIELD(replayed),
                                     since(14, BALLAST_FIELD(run, Name{})),
                                     since(14, BALLAST_FIELD(copied, List{kMaxCopied})),
                                     since(14, BALLAST_FIELD(lost, List{kMaxCopied})),
                                     since(14, BALLAST_FIELD(copies_trouble, FreeText{}))};
  static constexpr std::string_view allowed = "lane within shards and lanes";
  static Fault fault(const ShardHello& hello) { return lane_within(".lane", hello.lane, hello.shards, hello.lanes); }
};

template <>
struct Described<LaneReport> : Plain<LaneReport, schema::LaneReport> {
  static constexpr std::tuple fields{BALLAST_FIELD(lane),
                                     BALLAST_FIELD(incarnation, NotZero{}),
                                     BALLAST_FIELD(sequence, kCounts),
                                     BALLAST_FIELD(timeline, kTimelines),
                                     BALLAST_FIELD(serving),
                                     BALLAST_FIELD(open_step, kSteps),
                                     BALLAST_FIELD(planned, kVersions),
                                     BALLAST_FIELD(measures, List{kMaxMeasures}),
                                     NumbersOf{"measure_sums", &Struct::measures, kMaxSums},
                                     BALLAST_FIELD(held, List{kMaxSnapshots}),
                                     BALLAST_FIELD(writing, List{kMaxSnapshots}),
                                     BALLAST_FIELD(failed, List{kMaxSnapshots}),
                                     BALLAST_FIELD(trouble, FreeText{}),
                                     BALLAST_FIELD(statistics, List{kMaxPlanned}),
                                     BALLAST_FIELD(slots_by_session, List{kMaxSessions}),
                                     BALLAST_FIELD(duplicates, kCounts),
                                     BALLAST_FIELD(superseded, kCounts),
                                     BALLAST_FIELD(leaving),
                                     BALLAST_FIELD(failure, FreeText{}),
                                     BALLAST_FIELD(copy),
                                     BALLAST_FIELD(rounds),
                                     BALLAST_FIELD(items),
                                     BALLAST_FIELD(plan),
                                     since(14, BALLAST_FIELD(departing))};
};

// ---- lead to lane

template <>
struct Described<Confirm> : Plain<Confirm, schema::Confirm> {
  static constexpr std::tuple fields{BALLAST_FIELD(incarnation, NotZero{}),
                                     BALLAST_FIELD(timeline, kTimelines),
                                     BALLAST_FIELD(base),
                                     BALLAST_FIELD(resumes),
                                     BALLAST_FIELD(cut, kSteps),
                                     BALLAST_FIELD(serves)};
};

template <>
struct Described<Plan> : Plain<Plan, schema::Plan> {
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines),
                                     BALLAST_FIELD(first, kVersions),
                                     BALLAST_FIELD(factors, List{kMaxPlanned}),
                                     NumbersOf{"scales", &Struct::factors, kMaxScales},
                                     BALLAST_FIELD(snapshots, List{kMaxSnapshots, kSteps}),
                                     BALLAST_FIELD(keep, List{kMaxSnapshots}),
                                     BALLAST_FIELD(statistics_through, kSteps),
                                     BALLAST_FIELD(copies),
                                     BALLAST_FIELD(incarnation, Name{}),
                                     BALLAST_FIELD(number),
                                     BALLAST_FIELD(until, BelowOr{kVersions, "no end"}),
                                     BALLAST_FIELD(prospect),
                                     since(14, BALLAST_FIELD(may_depart)),
                                     since(14, BALLAST_FIELD(barred, List{kMaxBarred, NotZero{}}))};
};

// ---- lead to anyone, command line to lead and back

template <>
struct Described<Finish> : Plain<Finish, schema::JobFinish> {
  static constexpr const char* name = "Finish";
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines), BALLAST_FIELD(step, kSteps),
                                     BALLAST_FIELD(ending, Known{Ending::failed}), BALLAST_FIELD(failure, FreeText{})};
};

template <>
struct Described<StatusRequest> : Plain<StatusRequest, schema::StatusRequest> {
  static constexpr std::tuple fields{BALLAST_FIELD(last)};
};

template <>
struct Described<Control> : Plain<Control, schema::Control> {
  static constexpr std::tuple fields{BALLAST_FIELD(command, Known{Control::Command::resume})};
};

// Losses and the norm may be infinite or NaN, as above.
template <>
struct Described<Status> : Plain<Status, schema::Status> {
  static constexpr std::tuple fields{BALLAST_FIELD(job, Line{}),
                                     BALLAST_FIELD(phase, Known{JobPhase::failed}),
                                     BALLAST_FIELD(failure, FreeText{}),
                                     BALLAST_FIELD(waits_for, FreeText{}),
                                     BALLAST_FIELD(trouble, FreeText{}),
                                     BALLAST_FIELD(bits_trouble, FreeText{}),
                                     BALLAST_FIELD(timeline, kTimelines),
                                     BALLAST_FIELD(base),
                                     BALLAST_FIELD(snapshot, kSteps),
                                     BALLAST_FIELD(step, kSteps),
                                     BALLAST_FIELD(beyond_snapshot),
                                     BALLAST_FIELD(steps, kSteps),
                                     BALLAST_FIELD(epoch, kCounts),
                                     BALLAST_FIELD(epochs, kCounts),
                                     BALLAST_FIELD(start_workers, kExamples),
                                     BALLAST_FIELD(training, kCounts),
                                     BALLAST_FIELD(examples, kCounts),
                                     BALLAST_FIELD(examples_per_second, NotNegative{}),
                                     BALLAST_FIELD(steps_per_second, NotNegative{}),
                                     BALLAST_FIELD(learning_rate, Finite{}),
                                     BALLAST_FIELD(gradient_norm),
                                     BALLAST_FIELD(train_loss),
                                     BALLAST_FIELD(recent_loss),
                                     BALLAST_FIELD(validation),
                                     BALLAST_FIELD(test),
                                     BALLAST_FIELD(best),
                                     BALLAST_FIELD(duplicates, kCounts),
                                     BALLAST_FIELD(superseded, kCounts),
                                     BALLAST_FIELD(lost_workers, kCounts),
                                     BALLAST_FIELD(refused_workers, kCounts),
                                     BALLAST_FIELD(backups, kCounts),
                                     BALLAST_FIELD(rollbacks, kCounts),
                                     BALLAST_FIELD(rolled_back_steps, kCounts),
                                     BALLAST_FIELD(skipped_steps, kCounts),
                                     BALLAST_FIELD(snapshots_missed, kCounts),
                                     BALLAST_FIELD(data),
                                     BALLAST_FIELD(arithmetics, List{kMaxArithmetics}),
                                     BALLAST_FIELD(sessions, List{kMaxSessions}),
                                     BALLAST_FIELD(resumed_shards, kCounts),
                                     BALLAST_FIELD(staleness),
                                     BALLAST_FIELD(mode, Line{}),
                                     BALLAST_FIELD(copies),
                                     BALLAST_FIELD(rollback_causes),
                                     BALLAST_FIELD(validation_metrics, List{kMetricKinds}),
                                     BALLAST_FIELD(test_metrics, List{kMetricKinds}),
                                     BALLAST_FIELD(best_metrics, List{kMetricKinds}),
                                     since(14, BALLAST_FIELD(slots_taken, kCounts)),
                                     since(14, BALLAST_FIELD(slots_reassigned, kCounts)),
                                     since(14, BALLAST_FIELD(slots_tried, kCounts))};
};

// ---- of measurements

template <>
struct Described<TraceAsked> : Plain<TraceAsked, schema::TraceAsked> {
  static constexpr std::uint32_t known_since = 14;
  static constexpr std::tuple fields{BALLAST_FIELD(number, kCounts), BALLAST_FIELD(source),
                                     BALLAST_FIELD(from, kCounts), BALLAST_FIELD(first, kVersions)};
};

template <>
struct Described<TracePart> : Plain<TracePart, schema::TracePart> {
  static constexpr std::uint32_t known_since = 14;
  static constexpr std::tuple fields{BALLAST_FIELD(number, kCounts),
                                     BALLAST_FIELD(source),
                                     BALLAST_FIELD(sources, List{kMaxTraceSources}),
                                     BALLAST_FIELD(rules),
                                     BALLAST_FIELD(records, List{kMaxTraceRecords}),
                                     BALLAST_FIELD(next, kCounts),
                                     BALLAST_FIELD(lost, kCounts),
                                     BALLAST_FIELD(ends),
                                     BALLAST_FIELD(clock)};
};

// A description that contradicts the schema does not compile.
template <typename... T>
constexpr bool all_match(Types<T...> /*types*/) {
  return (matches_schema<T>() && ...);
}
template <typename... T>
constexpr bool all_match(const std::variant<T...>* /*message*/) {
  return (matches_schema<T>() && ...);
}
template <typename... T>
constexpr bool structs_unchanged(Types<T...> /*types*/) {
  return ((IsTable<T> || is_unchanged<T>()) && ...);
}
template <typename... T>
constexpr bool all_ranged(Types<T...> /*types*/) {
  return (has_ranges<T>() && ...);
}
template <typename... T>
constexpr bool all_ranged(const std::variant<T...>* /*message*/) {
  return (has_ranges<T>() && ...);
}
// Peers of a version know the kinds that come first.
template <typename... T>
constexpr bool newest_last(const std::variant<T...>* /*message*/) {
  std::uint32_t newest = 0;
  return ((Described<T>::known_since >= newest && ((newest = Described<T>::known_since), true)) && ...);
}
static_assert(all_match(Parts{}), "a part's fields are not those of schemas/wire.fbs, in their order");
static_assert(structs_unchanged(Parts{}), "a struct of schemas/wire.fbs has gained or lost a field: make another part");
static_assert(all_match(static_cast<const Message*>(nullptr)),
              "a message's fields are not those of schemas/wire.fbs, in their order");
static_assert(newest_last(static_cast<const Message*>(nullptr)), "a kind of messages between older ones");
static_assert(all_ranged(Parts{}) && all_ranged(static_cast<const Message*>(nullptr)),
              "a whole number without a range (common/wire/ranges.h)");

}  // namespace ballast::wire
