#include "server/lane_trace.h"

#include <algorithm>
#include <chrono>
#include <variant>

#include "common/job/memory_budget.h"
#include "common/machine/processor_time.h"

namespace ballast {
namespace {

// Apart, at least: a hundred a second of a thread would fill the ring beside small steps.
constexpr Micros kWorkEvery = 100'000;
// What is asked of storage and never answered, as when a snapshot fails.
constexpr std::size_t kMostUnanswered = 65536;

static_assert(TraceRing::kOfProcess * sizeof(TraceRecord) <= kTraceBytes, "what `ballast plan` says");

template <typename Map>
void bound(Map& map) {
  while (map.size() > kMostUnanswered) {
    map.erase(map.begin());
  }
}

}  // namespace

LaneTrace::LaneTrace(std::uint32_t lanes) : ring_(TraceRing::kOfProcess / std::max(lanes, 1U)) {}

void LaneTrace::contributed(SessionId session, const Push& push, Micros sent, Micros read) {
  ring_.add({.step = push.step,
             .peer = session,
             .first = sent,
             .second = read,
             .third = std::max(summed_at_, read),
             .fourth = turn_began_,
             .chunk = push.chunk,
             .slots = push.node,
             .kind = TraceKind::contribution});
}

void LaneTrace::applied(const lane::Apply& update, Micros begun, Micros now) {
  const auto covered = covered_.find(update.chunk);
  ring_.add({.step = update.step,
             .first = covered == covered_.end() ? begun : covered->second,
             .second = begun,
             .third = now,
             .chunk = update.chunk,
             .kind = TraceKind::update});
  if (covered != covered_.end()) {
    covered_.erase(covered);
  }
}

void LaneTrace::replied(const lane::SendWeights& reply, Micros now) {
  replies_[reply.reply] = {reply.session, reply.header.chunk, reply.header.version, now};
}

void LaneTrace::taken(std::uint64_t reply, Micros now) {
  const auto found = replies_.find(reply);
  if (found == replies_.end()) {
    return;
  }
  const auto& sent = found->second;
  ring_.add({.step = sent.version,
             .peer = sent.session,
             .first = sent.at,
             .second = now,
             .chunk = sent.chunk,
             .kind = TraceKind::reply});
  replies_.erase(found);
}

void LaneTrace::appended(const lane::Append& append, Micros now) {
  appends_[append.ticket] = {append.item, append.chunk, now};
  bound(appends_);
}

void LaneTrace::done(const lane::Event& event, Slot slots, Micros now) {
  if (const auto* durable = std::get_if<lane::SnapshotDurable>(&event)) {
    if (const auto begun = snapshots_.find(durable->id); begun != snapshots_.end()) {
      ring_.add({.step = durable->id.step, .first = begun->second, .second = now, .kind = TraceKind::snapshot});
      snapshots_.erase(snapshots_.begin(), std::next(begun));  // older ones have failed
    }
  } else if (const auto* committed = std::get_if<lane::Committed>(&event)) {
    if (const auto begun = appends_.find(committed->ticket); begun != appends_.end()) {
      const auto slot = static_cast<Slot>(begun->second.item % slots);
      ring_.add({.step = begun->second.item / slots,
                 .first = begun->second.at,
                 .second = now,
                 .chunk = begun->second.chunk,
                 .slots = {slot, slot + 1},
                 .kind = TraceKind::journal});
      appends_.erase(begun);
    }
  }
}

void LaneTrace::worked(Step step, Micros busy, Micros now) {
  work_.busy += busy;
  if (work_.since != 0 && now < work_.since + kWorkEvery) {
    return;
  }
  const auto processor =
      static_cast<Micros>(std::chrono::duration_cast<std::chrono::microseconds>(processor_time()).count());
  if (work_.since != 0) {
    ring_.add({.step = step,
               .first = work_.since,
               .second = now,
               .third = work_.busy,
               .fourth = processor - work_.processor,
               .kind = TraceKind::work});
  }
  work_ = {now, 0, processor};
}

}  // namespace ballast
