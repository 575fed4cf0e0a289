#include "tests/unit/common/wire/random_message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "common/wire/wire_limits.h"
#include "tests/unit/common/wire/each_number.h"

namespace ballast {
namespace {

using Random = std::mt19937_64;

// From low to high, both included.
std::uint64_t between(Random& random, std::uint64_t low, std::uint64_t high) {
  return low + random() % (high - low + 1);
}

// In the range of nearly every number (common/wire/ranges.h).
void fill(Random& random, std::uint64_t& value) { value = between(random, 1, (std::uint64_t{1} << 40U) - 1); }
void fill(Random& random, std::uint32_t& value) { value = static_cast<std::uint32_t>(between(random, 1, 0xFFFFFFFU)); }
void fill(Random& random, bool& value) { value = random() % 2 == 0; }
void fill(Random& random, double& value) { value = static_cast<double>(between(random, 1, 1U << 30U)) / 1024 - 99999; }
void fill(Random& random, float& value) { value = static_cast<float>(between(random, 1, 1U << 20U)) / 64 - 999; }

void fill(Random& random, std::string& value) {
  constexpr std::array<const char*, 8> kPieces = {
      "a", "Z", "0", " ", "tcp://", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x9A\xA2"};
  value.clear();
  for (auto left = between(random, 1, 40); left > 0; --left) {
    value += kPieces[random() % kPieces.size()];
  }
}

void fill(Random& random, SlotRange& range) {
  range.begin = static_cast<Slot>(between(random, 0, kMaxSlots - 1));
  range.end = static_cast<Slot>(between(random, range.begin + 1, kMaxSlots));
}

void fill(Random& random, ReceiptOutcome& outcome) { outcome = static_cast<ReceiptOutcome>(random() % 4); }
void fill(Random& random, RefusalCode& code) { code = static_cast<RefusalCode>(random() % 10); }
void fill(Random& random, Split& split) { split = static_cast<Split>(random() % 2); }
void fill(Random& random, Ending& ending) { ending = static_cast<Ending>(random() % 3); }
void fill(Random& random, JobPhase& phase) { phase = static_cast<JobPhase>(random() % kJobPhaseNames.size()); }
void fill(Random& random, TraceKind& kind) {
  kind = static_cast<TraceKind>(random() % (static_cast<unsigned>(kLastTraceKind) + 1));
}
void fill(Random& random, TraceRole& role) { role = static_cast<TraceRole>(random() % 3); }
void fill(Random& random, Control::Command& command) { command = static_cast<Control::Command>(random() % 3); }

// Sums of squares and what scales a gradient.
template <typename Number>
void fill_not_negative(Random& random, Number& value) {
  fill(random, value);
  value = std::abs(value);
}

template <typename Number>
void fill_not_negative(Random& random, std::vector<Number>& values) {
  values.resize(between(random, 0, 4));
  for (auto& value : values) {
    fill_not_negative(random, value);
  }
}

// One of the slots, or none.
void fill_slot_or_none(Random& random, Slot& slot, SlotRange slots) {
  slot = random() % 2 == 0 ? kNoSlot : static_cast<Slot>(between(random, slots.begin, slots.end - 1));
}

template <typename Value>
void fill(Random& random, std::vector<Value>& values);

template <typename Value>
void fill(Random& random, std::optional<Value>& value);

void fill(Random& random, LaneId& value);
void fill(Random& random, DatabaseLife& value);
void fill(Random& random, LeadNumber& value);
void fill(Random& random, Work& value);
void fill(Random& random, PhaseTimes& value);
void fill(Random& random, SnapshotId& value);
void fill(Random& random, Standing& value);
void fill(Random& random, StepFactors& value);
void fill(Random& random, Prospect& value);
void fill(Random& random, Metric& value);
void fill(Random& random, SplitStatus& value);
void fill(Random& random, Told& value);
void fill(Random& random, StalenessCounts& value);
void fill(Random& random, RollbackCounts& value);
void fill(Random& random, CopyState& value);
void fill(Random& random, CopyProgress& value);
void fill(Random& random, CopyStatus& value);
void fill(Random& random, ItemPush& value);
void fill(Random& random, SlotProgress& value);
void fill(Random& random, StepWork& value);
void fill(Random& random, RoundOrder& value);
void fill(Random& random, ItemOrder& value);
void fill(Random& random, RoundReport& value);
void fill(Random& random, ItemReport& value);
void fill(Random& random, TraceSource& value);
void fill(Random& random, TraceRecord& value);
void fill(Random& random, ClockReading& value);
void fill(Random& random, SharingRules& value);

template <typename... Fields>
void fill_all(Random& random, Fields&... fields) {
  (fill(random, fields), ...);
}

// A binding must name every field: a message that gains one does not compile here until it is filled, and the round
// trip then fails until it is encoded.

void fill(Random& random, LaneId& value) {
  auto& [shard, lane] = value;
  shard = static_cast<std::uint32_t>(between(random, 0, wire::kMaxShards - 1));
  lane = static_cast<std::uint32_t>(between(random, 0, wire::kMaxLanes - 1));
}

void fill(Random& random, PhaseTimes& value) {
  auto& [a, b, c, d, e] = value;
  fill_all(random, a, b, c, d, e);
}

void fill(Random& random, Prospect& value) {
  auto& [size, root] = value;
  fill_all(random, size);
  fill_not_negative(random, root);
}

void fill(Random& random, StepFactors& value) {
  auto& [rate, size, root, skip, scales] = value;
  fill_all(random, rate, size, skip);
  fill_not_negative(random, root);
  fill_not_negative(random, scales);
}

void fill(Random& random, ItemRange& value) {
  auto& [begin, end] = value;
  fill_all(random, begin, end);
  if (begin > end) {
    std::swap(begin, end);
  }
}

void fill(Random& random, JournalMark& value) {
  auto& [shard, b, c] = value;
  fill_all(random, b, c);
  shard = static_cast<std::uint32_t>(between(random, 0, wire::kMaxShards - 1));
}

void fill(Random& random, DatabaseLife& value) {
  auto& [a, b] = value;
  fill_all(random, a, b);
}

void fill(Random& random, ShardLife& value) {
  auto& [a, b] = value;
  fill_all(random, a, b);
}

void fill(Random& random, LeadNumber& value) {
  auto& [a, b] = value;
  fill_all(random, a, b);
}

void fill(Random& random, Grant& value) {
  auto& [a, b] = value;
  fill_all(random, a, b);
}

void fill(Random& random, StalenessCounts& value) {
  auto& [a, b, c, d, e] = value;
  fill_all(random, a, b, c, d, e);
}

void fill(Random& random, RollbackCounts& value) {
  auto& [a, b, c, d, e, f, torn] = value;
  fill_all(random, a, b, c, d, e, f, torn);
}

void fill(Random& random, ChunkMeasure& value) {
  auto& [chunk, step, sums, finite, parameter, slot] = value;
  fill_all(random, chunk, step, finite);
  fill_not_negative(random, sums);
  parameter = static_cast<std::uint32_t>(between(random, 0, wire::kMaxParameters - 1));
  fill_slot_or_none(random, slot, {0, kMaxSlots});
}

void fill(Random& random, SnapshotId& value) {
  auto& [a, b] = value;
  fill_all(random, a, b);
}

void fill(Random& random, StepStatistics& value) {
  auto& [a, b, c, d] = value;
  fill_all(random, a, b, c, d);
}

void fill(Random& random, LaneHello& value) {
  auto& [a, b, c, takes_calls] = value;
  fill_all(random, a, b, c, takes_calls);
}

void fill(Random& random, Work& value) {
  auto& [a, b, c] = value;
  fill_all(random, a, b, c);
}

void fill(Random& random, Offers& value) {
  auto& [a, works] = value;
  fill_all(random, a, works);
  std::ranges::sort(works);
}

void fill(Random& random, CallVoid& value) {
  auto& [a] = value;
  fill_all(random, a);
}

void fill(Random& random, BytesReturned& value) {
  auto& [a, b] = value;
  fill_all(random, a, b);
}

void fill(Random& random, Call& value) {
  auto& [a, b] = value;
  fill_all(random, a, b);
}

void fill(Random& random, BytesAhead& value) {
  auto& [a] = value;
  fill_all(random, a);
}

void fill(Random& random, ReturnAsked& value) {
  auto& [a] = value;
  fill_all(random, a);
}

void fill(Random& random, Pull& value) {
  auto& [a, b, chunks, d, e] = value;
  fill_all(random, a, b, chunks, d, e);
  std::ranges::sort(chunks);
  const auto repeated = std::ranges::unique(chunks);
  chunks.erase(repeated.begin(), repeated.end());
}

void fill(Random& random, ItemPush& value) {
  auto& [a, b, c] = value;
  fill_all(random, a, b, c);
}

void fill(Random& random, Push& value) {
  auto& [a, b, c, node, e, fault, g, h, call] = value;
  fill_all(random, a, b, c, node, e, g, h, call);
  fill_slot_or_none(random, fault, node);
}

void fill(Random& random, LaneWelcome& value) {
  auto& [a, b, c] = value;
  fill_all(random, a, b, c);
}

void fill(Random& random, Receipt& value) {
  auto& [a, b, c, d, e] = value;
  fill_all(random, a, b, c, d, e);
}

void fill(Random& random, Weights& value) {
  auto& [a, b, c, d, e, f, g] = value;
  fill_all(random, a, b, c, d, e, f, g);
}

void fill(Random& random, Gone& value) {
  auto& [a, b, c, d, e] = value;
  fill_all(random, a, b, c, d, e);
}

void fill(Random& random, Stale& value) {
  auto& [a] = value;
  fill_all(random, a);
}

void fill(Random& random, Refused& value) {
  auto& [a, b, c] = value;
  fill_all(random, a, b, c);
}

void fill(Random& random, WorkerHello& value) {
  auto& [a] = value;
  fill_all(random, a);
}

void fill(Random& random, Heartbeat& value) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, progress] = value;
  fill_all(random, a, b, c, d, e, f, g, h, i, j, k, l, m, progress);
}

void fill(Random& random, SlotProgress& value) {
  auto& [step, computed, in_hand, a, b, c, d, e, f, leaving] = value;
  fill_all(random, step, computed, a, b, c, d, e, f, leaving);
  fill_slot_or_none(random, in_hand, {0, kMaxSlots});
}

void fill(Random& random, EvaluationResult& value) {
  auto& [a, b, c, d, e, correct, examples, counts, sums] = value;
  fill_all(random, a, b, c, d, e, counts, sums);
  examples = between(random, 1, 0xFFFFFFFFU);
  sums.resize(std::min<std::size_t>(sums.size(), wire::kMaxMetricSums));
  correct = between(random, 1, examples);
}

void fill(Random& random, Goodbye& value) {
  auto& [a] = value;
  fill_all(random, a);
}

void fill(Random& random, LaneAddress& value) {
  auto& [a, b, c] = value;
  fill_all(random, a, b, c);
}

void fill(Random& random, WorkerWelcome& value) {
  auto& [a, job, b, c, shards, lanes, addresses, placement] = value;
  fill_all(random, a, placement, job, b, c, addresses);
  job += "\n\tname: value\r\n";
  shards = 1;
  lanes = 1;
  for (const auto& address : addresses) {
    shards = std::max(shards, address.lane.shard + 1);
    lanes = std::max(lanes, address.lane.lane + 1);
  }
}

void fill(Random& random, Standing& value) {
  auto& [from, until, slots] = value;
  fill_all(random, from, until, slots);
  if (from > until) {
    std::swap(from, until);
  }
}

void fill(Random& random, Evaluation& value) {
  auto& [a, b, c, begin, end] = value;
  fill_all(random, a, b, c);
  begin = static_cast<std::uint32_t>(between(random, 1, 60000));
  end = begin + static_cast<std::uint32_t>(between(random, 1, 1000));
}

void fill(Random& random, StepWork& value) {
  auto& [a, b, c] = value;
  fill_all(random, a, b, c);
}

void fill(Random& random, RoundOrder& value) {
  auto& [a, b] = value;
  fill_all(random, a, b);
}

void fill(Random& random, ItemOrder& value) {
  auto& [a] = value;
  fill_all(random, a);
}

void fill(Random& random, Assign& value) {
  auto& [a, b, c, d, e, f, g] = value;
  fill_all(random, a, b, c, d, e, f, g);
}

void fill(Random& random, Replayed& value) {
  auto& [a, b] = value;
  fill_all(random, a, b);
}

void fill(Random& random, ShardHello& value) {
  auto& [lane, shards, lanes, a, b, c, d, e, f, g, h, i, j, k, run, copied, lost, trouble] = value;
  fill_all(random, lane, a, b, c, d, e, f, g, h, i, j, k, run, copied, lost, trouble);
  shards = static_cast<std::uint32_t>(between(random, lane.shard + 1, wire::kMaxShards));
  lanes = static_cast<std::uint32_t>(between(random, lane.lane + 1, wire::kMaxLanes));
}

void fill(Random& random, SessionSlots& value) {
  auto& [a, b] = value;
  fill_all(random, a, b);
}

void fill(Random& random, CopyProgress& value) {
  auto& [a, b, c, d, e, f] = value;
  fill_all(random, a, b, c, d, e, f);
}

void fill(Random& random, ItemReport& value) {
  auto& [a, b, c, d, e] = value;
  fill_all(random, a, b, c, d, e);
}

void fill(Random& random, RoundReport& value) {
  auto& [missing, reached, reached_by, wanted, offered_by, out_of_standing, unpaying] = value;
  fill_all(random, missing, reached, reached_by, offered_by, out_of_standing, unpaying);
  fill_slot_or_none(random, wanted, {0, kMaxSlots});
}

void fill(Random& random, LaneReport& value) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = value;
  fill_all(random, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
}

void fill(Random& random, Confirm& value) {
  auto& [a, b, c, d, e, f] = value;
  fill_all(random, a, b, c, d, e, f);
}

void fill(Random& random, CopyState& value) {
  auto& [a, b, c, d, e] = value;
  fill_all(random, a, b, c, d, e);
}

void fill(Random& random, Plan& value) {
  auto& [a, first, b, c, d, copies, e, f, g, h, prospect, may_depart, barred] = value;
  fill_all(random, a, b, c, d, copies, e, f, g, h, prospect, may_depart, barred);
  first = between(random, 1, 1U << 30U);
}

void fill(Random& random, Finish& value) {
  auto& [a, b, c, d] = value;
  fill_all(random, a, b, c, d);
}

void fill(Random& random, StatusRequest& value) {
  auto& [a] = value;
  fill_all(random, a);
}

void fill(Random& random, Control& value) {
  auto& [a] = value;
  fill_all(random, a);
}

void fill(Random& random, Metric& value) {
  auto& [a, b] = value;
  a = static_cast<MetricKind>(between(random, 0, kMetricKinds - 1));
  fill_all(random, b);
}

void fill(Random& random, SplitStatus& value) {
  auto& [a, b, c, d] = value;
  fill_all(random, a, b, c, d);
}

void fill(Random& random, SessionStatus& value) {
  auto& [a, b, c, d, e, f, g, h, overtaken, held_up, slot_time, lag, up, down, share, said_goodbye] = value;
  fill_all(random, a, b, c, d, e, f, g, h, overtaken, held_up, slot_time, lag, up, down);
  share = static_cast<Slot>(between(random, 0, kMaxSlots));
}

void fill(Random& random, Told& value) {
  auto& [a, b] = value;
  fill_all(random, a, b);
}

void fill(Random& random, CopyStatus& value) {
  auto& [a, b, c, d, shards, of, g, h] = value;
  fill_all(random, a, b, c, d, g, h);
  of = static_cast<std::uint32_t>(between(random, 1, wire::kMaxShards));
  shards = static_cast<std::uint32_t>(between(random, 0, of));
}

void fill(Random& random, Status& value) {
  auto& [job, a, b, c, d, bits, e, f, g, copies, h, beyond, i, j, epochs, start, k, l, pace, steps, m, n, o, p, q, r, s,
         t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af, ag, sessions, mode, of_validation, of_test, of_best, taken,
         reassigned, tried] = value;
  fill_all(random, job, a, b, c, d, bits, e, f, g, copies, h, beyond, i, j, epochs, start, k, l, m, n, o, p, q, r, s, t,
           u, v, w, x, y, z, aa, ab, ac, ad, ae, af, ag, sessions, mode, of_validation, of_test, of_best, taken,
           reassigned, tried);
  fill_not_negative(random, pace);
  fill_not_negative(random, steps);
}

void fill(Random& random, TraceSource& value) {
  auto& [a, b, c] = value;
  fill_all(random, a, b, c);
}

void fill(Random& random, TraceRecord& value) {
  auto& [a, b, c, d, e, f, g, h, i] = value;
  fill_all(random, a, b, c, d, e, f, g, h, i);
}

void fill(Random& random, ClockReading& value) {
  auto& [a, b, c, d] = value;
  fill_all(random, a, b, c, d);
}

void fill(Random& random, SharingRules& value) {
  auto& [slots, a, b, c, d] = value;
  fill_all(random, a, b, c, d);
  slots = static_cast<Slot>(between(random, 1, kMaxSlots));
}

void fill(Random& random, TraceAsked& value) {
  auto& [a, b, c, d] = value;
  fill_all(random, a, b, c, d);
}

void fill(Random& random, TracePart& value) {
  auto& [a, b, c, d, e, f, g, h, i] = value;
  fill_all(random, a, b, c, d, e, f, g, h, i);
}

template <typename Value>
void fill(Random& random, std::vector<Value>& values) {
  values.resize(between(random, 1, 5));
  for (auto& value : values) {
    fill(random, value);
  }
}

template <typename Value>
void fill(Random& random, std::optional<Value>& value) {
  value.reset();
  if (random() % 2 == 0) {
    fill(random, value.emplace());
  }
}

template <std::size_t... Kinds>
Message draw(Random& random, std::size_t kind, std::index_sequence<Kinds...>) {
  Message message;
  ((Kinds == kind ? fill(random, message.emplace<Kinds>()) : void()), ...);
  return message;
}

// What is only ever compared may be anything.
template <typename Number, typename Rule>
void fill_name(Random& random, Number& number, const Rule& /*rule*/) {
  if constexpr (std::is_same_v<Rule, wire::Name> || std::is_same_v<Rule, wire::NotZero> ||
                std::is_same_v<Rule, wire::Bits>) {
    number = std::max<Number>(random(), 1);
  }
}

}  // namespace

Message RandomMessages::of_kind(std::size_t kind) {
  auto message = draw(random_, kind, std::make_index_sequence<std::variant_size_v<Message>>());
  wire::each_number(message, [this](const std::string& /*path*/, auto& number, const auto& rule) {
    fill_name(random_, number, rule);
  });
  return message;
}

}  // namespace ballast
