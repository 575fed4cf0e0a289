// Every part of messages, field by field: names, rules and limits. schemas/wire.fbs has the form of each.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include "common/wire/fields.h"
#include "common/wire/ranges.h"
#include "common/wire/wire_limits.h"
#include "protocol/messages.h"
#include "schemas/wire_generated.h"

namespace ballast::wire {

// Of a list's numbers.
inline Fault fault_of_number(double value) { return fault_by(NotNegative{}, value); }

template <>
struct Described<LaneId> : Plain<LaneId, schema::LaneId> {
  static constexpr std::tuple fields{BALLAST_FIELD(shard, AtMost{kMaxShards - 1}),
                                     BALLAST_FIELD(lane, AtMost{kMaxLanes - 1})};
};

template <>
struct Described<DatabaseLife> : Plain<DatabaseLife, schema::DatabaseLife> {
  static constexpr std::tuple fields{BALLAST_FIELD(database, NotZero{}), BALLAST_FIELD(count, Counted{kCounts})};
};

template <>
struct Described<SlotRange> : Plain<SlotRange, schema::SlotRange> {
  static constexpr std::tuple fields{BALLAST_FIELD(begin, AtMost{kMaxSlots}), BALLAST_FIELD(end, AtMost{kMaxSlots})};
};

template <>
struct Described<Work> : Plain<Work, schema::Work> {
  static constexpr std::tuple fields{BALLAST_FIELD(step, kSteps), BALLAST_FIELD(chunk, kChunks),
                                     BALLAST_FIELD(node, SomeSlots{})};
};

template <>
struct Described<ItemRange> : Plain<ItemRange, schema::ItemRange> {
  static constexpr std::tuple fields{BALLAST_FIELD(begin, kVersions), BALLAST_FIELD(end, kVersions)};
  static constexpr std::string_view allowed = "begin <= end";
  static Fault fault(const ItemRange& range) { return inside(".begin", fault_by(AtMost{range.end}, range.begin)); }
};

template <>
struct Described<JournalMark> : Plain<JournalMark, schema::JournalMark> {
  static constexpr std::tuple fields{BALLAST_FIELD(shard, AtMost{kMaxShards - 1}), BALLAST_FIELD(incarnation, Name{}),
                                     BALLAST_FIELD(sequence, kCounts)};
};

template <>
struct Described<ShardLife> : Plain<ShardLife, schema::ShardLife> {
  static constexpr std::tuple fields{BALLAST_FIELD(incarnation, NotZero{}), BALLAST_FIELD(begun, kCounts)};
};

template <>
struct Described<LeadNumber> : Plain<LeadNumber, schema::LeadNumber> {
  static constexpr std::tuple fields{BALLAST_FIELD(life, kCounts), BALLAST_FIELD(number, kCounts)};
};

template <>
struct Described<Grant> : Plain<Grant, schema::Grant> {
  static constexpr std::tuple fields{BALLAST_FIELD(item, kVersions), BALLAST_FIELD(clock, OfALead{})};
};

template <>
struct Described<SnapshotId> : Plain<SnapshotId, schema::SnapshotId> {
  static constexpr std::tuple fields{BALLAST_FIELD(timeline, kTimelines), BALLAST_FIELD(step, kSteps)};
};

template <>
struct Described<PhaseTimes> : Plain<PhaseTimes, schema::PhaseTimes> {
  static constexpr std::tuple fields{BALLAST_FIELD(data_wait, kSpans), BALLAST_FIELD(pull, kSpans),
                                     BALLAST_FIELD(forward, kSpans), BALLAST_FIELD(backward, kSpans),
                                     BALLAST_FIELD(push, kSpans)};
};

template <>
struct Described<StepFactors> : Plain<StepFactors, schema::StepFactors> {
  static constexpr std::tuple fields{BALLAST_FIELD(learning_rate, Finite{}), BALLAST_FIELD(step_size, Finite{}),
                                     BALLAST_FIELD(second_moment_root, NotNegative{}),
                                     Count{"scale_count", &Struct::scales}, BALLAST_FIELD(skip)};
  static constexpr std::string_view allowed = "scales finite and not negative";
  static Fault fault(const StepFactors& factors) { return each(".scales", factors.scales, fault_of_number); }
};

template <>
struct Described<Prospect> : Plain<Prospect, schema::Prospect> {
  static constexpr std::tuple fields{BALLAST_FIELD(step_size, Finite{}),
                                     BALLAST_FIELD(second_moment_root, NotNegative{})};
};

template <>
struct Described<ChunkMeasure> : Plain<ChunkMeasure, schema::ChunkMeasure> {
  static constexpr std::tuple fields{
      BALLAST_FIELD(step, kSteps),       BALLAST_FIELD(chunk, kChunks),
      Count{"sum_count", &Struct::sums}, BALLAST_FIELD(parameter, AtMost{kMaxParameters - 1}),
      BALLAST_FIELD(slot, SlotOrNone{}), BALLAST_FIELD(finite)};
  static constexpr std::string_view allowed = "sums finite and not negative, unless the gradient is not finite";
  static Fault fault(const ChunkMeasure& measure) {
    return measure.finite ? each(".sums", measure.sums, fault_of_number) : Fault{};
  }
};

// The loss may be infinite or NaN: a diverging job has to be seen.
template <>
struct Described<StepStatistics> : Plain<StepStatistics, schema::StepStatistics> {
  static constexpr std::tuple fields{BALLAST_FIELD(step, kSteps), BALLAST_FIELD(loss), BALLAST_FIELD(correct, Finite{}),
                                     BALLAST_FIELD(examples, Finite{})};
};

template <>
struct Described<SessionSlots> : Plain<SessionSlots, schema::SessionSlots> {
  static constexpr std::tuple fields{BALLAST_FIELD(session, NotZero{}), BALLAST_FIELD(slots, kCounts)};
};

template <>
struct Described<Standing> : Plain<Standing, schema::Standing> {
  static constexpr std::tuple fields{BALLAST_FIELD(from, kSteps), BALLAST_FIELD(until, kSteps),
                                     BALLAST_FIELD(slots, SlotsIfAny{})};
  static constexpr std::string_view allowed = "from <= until";
  static Fault fault(const Standing& standing) {
    return inside(".from", fault_by(AtMost{standing.until}, standing.from));
  }
};

template <>
struct Described<Extra> : Plain<Extra, schema::Extra> {
  static constexpr std::tuple fields{BALLAST_FIELD(step, kSteps), BALLAST_FIELD(slots, SomeSlots{})};
};

template <>
struct Described<Evaluation> : Plain<Evaluation, schema::Evaluation> {
  static constexpr std::tuple fields{BALLAST_FIELD(split, Known{Split::test}), BALLAST_FIELD(item, kExamples),
                                     BALLAST_FIELD(version, kVersions), BALLAST_FIELD(begin, kExamples),
                                     BALLAST_FIELD(end, kExamples)};
  static constexpr std::string_view allowed = "begin < end";
  static Fault fault(const Evaluation& evaluation) {
    return evaluation.begin < evaluation.end
               ? Fault{}
               : " is " + bounds(evaluation.begin, evaluation.end) + "; begin < end is allowed";
  }
};

template <>
struct Described<CopyState> : Plain<CopyState, schema::CopyState> {
  static constexpr std::tuple fields{BALLAST_FIELD(run, Name{}), BALLAST_FIELD(named), BALLAST_FIELD(complete),
                                     BALLAST_FIELD(life, Name{}), BALLAST_FIELD(turn, kCounts)};
};

template <>
struct Described<CopyProgress> : Plain<CopyProgress, schema::CopyProgress> {
  static constexpr std::tuple fields{BALLAST_FIELD(run, Name{}),   BALLAST_FIELD(snapshot),
                                     BALLAST_FIELD(bytes, kBytes), BALLAST_FIELD(failures, kSmallCounts),
                                     BALLAST_FIELD(done),          BALLAST_FIELD(taken)};
};

template <>
struct Described<CopyStatus> : Plain<CopyStatus, schema::CopyStatus> {
  static constexpr std::tuple fields{BALLAST_FIELD(run, Name{}),
                                     BALLAST_FIELD(copied, kSteps),
                                     BALLAST_FIELD(copying, kSteps),
                                     BALLAST_FIELD(bytes, kCounts),
                                     BALLAST_FIELD(shards, AtMost{kMaxShards}),
                                     BALLAST_FIELD(of, AtMost{kMaxShards}),
                                     BALLAST_FIELD(kept),
                                     BALLAST_FIELD(awaited)};
};

// So may a metric.
template <>
struct Described<Metric> : Plain<Metric, schema::Metric> {
  static constexpr std::tuple fields{BALLAST_FIELD(kind, Known{MetricKind::absolute_error}), BALLAST_FIELD(value)};
};

// A loss may be infinite or NaN, as above.
template <>
struct Described<SplitStatus> : Plain<SplitStatus, schema::SplitStatus> {
  static constexpr std::tuple fields{BALLAST_FIELD(evaluated), BALLAST_FIELD(step, kSteps), BALLAST_FIELD(loss),
                                     BALLAST_FIELD(accuracy, Finite{})};
};

template <>
struct Described<StalenessCounts> : Plain<StalenessCounts, schema::StalenessCounts> {
  static constexpr std::tuple fields{BALLAST_FIELD(counts, List{kMaxStalenessCounts, kCounts}),
                                     BALLAST_FIELD(sum, kCounts), BALLAST_FIELD(largest, kVersions),
                                     BALLAST_FIELD(expired, kCounts), BALLAST_FIELD(skipped, kCounts)};
};

template <>
struct Described<RollbackCounts> : Plain<RollbackCounts, schema::RollbackCounts> {
  static constexpr std::tuple fields{BALLAST_FIELD(shard, kCounts),          BALLAST_FIELD(mark, kCounts),
                                     BALLAST_FIELD(below_cut, kCounts),      BALLAST_FIELD(lives, kCounts),
                                     BALLAST_FIELD(non_finite, kCounts),     BALLAST_FIELD(unknown, kCounts),
                                     since(14, BALLAST_FIELD(torn, kCounts))};
};

template <>
struct Described<ItemPush> : Plain<ItemPush, schema::ItemPush> {
  static constexpr std::tuple fields{BALLAST_FIELD(computed_from, kVersions), BALLAST_FIELD(clock),
                                     BALLAST_FIELD(marks, List{kMaxMarks})};
};

template <>
struct Described<StepWork> : Plain<StepWork, schema::StepWork> {
  static constexpr std::tuple fields{BALLAST_FIELD(step, kSteps), BALLAST_FIELD(ranges, List<SomeSlots>{kMaxSlots}),
                                     BALLAST_FIELD(as_well)};
};

// A session of version 13 does all of its standing range, and one more range that it is told of: the shortest that has
// all the rest, because it may never hear of another. What others have of it is computed twice, and counts once.
inline std::optional<Extra> extra_of(const RoundOrder& order) {
  if (!order.now || order.now->ranges.empty()) {
    return std::nullopt;
  }
  if (order.now->as_well) {
    return Extra{order.now->step, order.now->ranges.front()};
  }
  const auto own = order.standing.from <= order.now->step ? order.standing.slots : SlotRange{};
  std::optional<Extra> extra;
  for (const auto range : order.now->ranges) {
    const auto before = own.empty() ? range : SlotRange{range.begin, std::min(range.end, own.begin)};
    const auto after = own.empty() ? SlotRange{} : SlotRange{std::max(range.begin, own.end), range.end};
    for (const auto part : {before, after}) {
      if (!part.empty()) {
        const auto known = extra ? extra->slots : part;
        extra = Extra{order.now->step, {std::min(known.begin, part.begin), std::max(known.end, part.end)}};
      }
    }
  }
  return extra;
}
inline void take_extra(RoundOrder& order, const std::optional<Extra>& extra) {
  if (extra) {
    order.now = StepWork{extra->step, {extra->slots}, true};
  }
}

template <>
struct Described<RoundOrder> : Plain<RoundOrder, schema::RoundOrder> {
  static constexpr std::tuple fields{BALLAST_FIELD(standing), Former{"extra", 13, &extra_of, &take_extra},
                                     since(14, BALLAST_FIELD(now))};
};

template <>
struct Described<SlotProgress> : Plain<SlotProgress, schema::SlotProgress> {
  static constexpr std::tuple fields{BALLAST_FIELD(step, kSteps),
                                     BALLAST_FIELD(computed, List<SomeSlots>{kMaxSlots}),
                                     BALLAST_FIELD(in_hand, SlotOrNone{}),
                                     BALLAST_FIELD(in_hand_for, kSpans),
                                     BALLAST_FIELD(begun, kSpans),
                                     BALLAST_FIELD(slot_time, kSpans),
                                     BALLAST_FIELD(up, kBytes),
                                     BALLAST_FIELD(down, kBytes),
                                     BALLAST_FIELD(without_receipt, kBytes),
                                     BALLAST_FIELD(leaving)};
};

template <>
struct Described<ItemOrder> : Plain<ItemOrder, schema::ItemOrder> {
  static constexpr std::tuple fields{BALLAST_FIELD(grants, List{kMaxGrants})};
};

template <>
struct Described<RoundReport> : Plain<RoundReport, schema::RoundReport> {
  static constexpr std::tuple fields{BALLAST_FIELD(missing, List{kMaxMissingWords, Bits{}}),
                                     BALLAST_FIELD(reached, kSteps),
                                     since(14, BALLAST_FIELD(reached_by, List{kMaxReachedBy, NotZero{}})),
                                     since(14, BALLAST_FIELD(wanted, SlotOrNone{})),
                                     since(14, BALLAST_FIELD(offered_by, List{kMaxReachedBy, NotZero{}})),
                                     since(14, BALLAST_FIELD(out_of_standing, List{kMaxOutOfStanding, NotZero{}})),
                                     since(14, BALLAST_FIELD(unpaying, List{kMaxOutOfStanding, NotZero{}}))};
};

template <>
struct Described<ItemReport> : Plain<ItemReport, schema::ItemReport> {
  static constexpr std::tuple fields{BALLAST_FIELD(covered, List{kMaxCoveredRanges}), BALLAST_FIELD(reached, kVersions),
                                     BALLAST_FIELD(staleness), BALLAST_FIELD(marks, List{kMaxReportMarks}),
                                     BALLAST_FIELD(synced, kVersions)};
};

template <>
struct Described<Replayed> : Plain<Replayed, schema::Replayed> {
  static constexpr std::tuple fields{BALLAST_FIELD(covered, kVersions), BALLAST_FIELD(cut, kSteps)};
};

template <>
struct Described<LaneAddress> : Plain<LaneAddress, schema::LaneAddress> {
  static constexpr std::tuple fields{BALLAST_FIELD(lane), BALLAST_FIELD(incarnation, NotZero{}),
                                     BALLAST_FIELD(address, Line{})};
};

template <>
struct Described<SessionStatus> : Plain<SessionStatus, schema::SessionStatus> {
  static constexpr std::tuple fields{BALLAST_FIELD(session, NotZero{}),
                                     BALLAST_FIELD(name, Line{}),
                                     BALLAST_FIELD(live),
                                     BALLAST_FIELD(step, kSteps),
                                     BALLAST_FIELD(slots, kCounts),
                                     BALLAST_FIELD(fingerprint, Line{}),
                                     BALLAST_FIELD(refusal, FreeText{}),
                                     BALLAST_FIELD(phases),
                                     since(14, BALLAST_FIELD(overtaken, kSpans)),
                                     since(14, BALLAST_FIELD(held_up, FreeText{})),
                                     since(14, BALLAST_FIELD(slot_time, kSpans)),
                                     since(14, BALLAST_FIELD(lag, kSpans)),
                                     since(14, BALLAST_FIELD(up, kBytes)),
                                     since(14, BALLAST_FIELD(down, kBytes)),
                                     since(14, BALLAST_FIELD(share, AtMost{kMaxSlots})),
                                     since(14, BALLAST_FIELD(said_goodbye))};
};

template <>
struct Described<Told> : Plain<Told, schema::Told> {
  static constexpr std::tuple fields{BALLAST_FIELD(value, Line{}),
                                     BALLAST_FIELD(by, FreeText{})};  // a name and a word before it
};

template <>
struct Described<TraceSource> : Plain<TraceSource, schema::TraceSource> {
  static constexpr std::tuple fields{BALLAST_FIELD(role, Known{TraceRole::worker}), BALLAST_FIELD(lane),
                                     BALLAST_FIELD(session, Name{})};
};

template <>
struct Described<TraceRecord> : Plain<TraceRecord, schema::TraceRecord> {
  static constexpr std::tuple fields{
      BALLAST_FIELD(step, kVersions), BALLAST_FIELD(peer, Name{}),        BALLAST_FIELD(first, kSpans),
      BALLAST_FIELD(second, kSpans),  BALLAST_FIELD(third, kSpans),       BALLAST_FIELD(fourth, kSpans),
      BALLAST_FIELD(chunk, kChunks),  BALLAST_FIELD(slots, SlotsIfAny{}), BALLAST_FIELD(kind, Known{kLastTraceKind})};
};

template <>
struct Described<ClockReading> : Plain<ClockReading, schema::ClockReading> {
  static constexpr std::tuple fields{BALLAST_FIELD(own, kSpans), BALLAST_FIELD(lead, kSpans),
                                     BALLAST_FIELD(error, kSpans), BALLAST_FIELD(round_trip, kSpans)};
};

template <>
struct Described<SharingRules> : Plain<SharingRules, schema::SharingRules> {
  static constexpr std::tuple fields{BALLAST_FIELD(slots, AtMost{kMaxSlots}), BALLAST_FIELD(chunks, kChunks),
                                     BALLAST_FIELD(bytes, kBytes), BALLAST_FIELD(by_speed),
                                     BALLAST_FIELD(redistributes)};
};

// All of them, in the order of docs/messages.md.
using Parts =
    Types<LaneId, DatabaseLife, SlotRange, Work, ItemRange, JournalMark, ShardLife, LeadNumber, Grant, SnapshotId,
          PhaseTimes, StepFactors, Prospect, ChunkMeasure, StepStatistics, SessionSlots, Standing, Extra, Evaluation,
          CopyState, CopyProgress, CopyStatus, Metric, SplitStatus, StalenessCounts, ItemPush, StepWork, RoundOrder,
          SlotProgress, ItemOrder, RoundReport, ItemReport, Replayed, LaneAddress, SessionStatus, Told, RollbackCounts,
          TraceSource, TraceRecord, ClockReading, SharingRules>;

}  // namespace ballast::wire
