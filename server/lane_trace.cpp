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

Micros micros_of(std::chrono::nanoseconds span) {
  return static_cast<Micros>(std::chrono::duration_cast<std::chrono::microseconds>(span).count());
}

template <typename Map>
void bound(Map& map) {
  while (map.size() > kMostUnanswered) {
    map.erase(map.begin());
  }
}

}  // namespace

LaneTrace::LaneTrace(std::uint32_t lanes, std::uint32_t updates, const std::vector<ChunkId>& chunks, DeclaredLine line)
    : ring_(TraceRing::kOfProcess / std::max(lanes, 1U)), updates_(updates), links_(line) {
  for (const auto chunk : chunks) {
    newest_.try_emplace(chunk);
  }
}

// A chunk is covered by the newest of its contributions that the lane has read when its update begins, or, where the
// update waits for the lead's word, by the newest before it that was not of a step that was over.
void LaneTrace::reads(const Push& push, Micros now) {
  const auto newest = newest_.find(push.chunk);
  if (newest != newest_.end() && (newest->second.at == 0 || push.step >= newest->second.step)) {
    newest->second = {push.step, now};
  }
}

void LaneTrace::summed(ChunkId chunk, Micros now) {
  summed_at_ = now;
  newest_[chunk].at = now;
}

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

// An item's update waits for the journal, which has a record of its own.
void LaneTrace::applied(const lane::Apply& update, Micros begun, Micros now) {
  const auto newest = newest_.find(update.chunk);
  const bool is_known = updates_ == 1 && newest != newest_.end() && newest->second.step == update.step;
  TraceRecord record{.step = update.step,
                     .first = is_known ? newest->second.at : begun,
                     .second = begun,
                     .third = now,
                     .chunk = update.chunk,
                     .kind = TraceKind::update};
  if (updates_ > 1) {
    record.slots = {update.slot, update.slot + 1};
  }
  ring_.add(record);
}

void LaneTrace::replied(const lane::SendWeights& reply, Micros now) {
  replies_[reply.reply] = {reply.session, reply.header.chunk, reply.header.version, now};
}

void LaneTrace::taken(std::uint64_t reply, Micros at) {
  const auto found = replies_.find(reply);
  if (found == replies_.end()) {
    return;
  }
  const auto& sent = found->second;
  if (at != 0) {
    ring_.add({.step = step_of(sent.version),
               .peer = sent.session,
               .first = sent.at,
               .second = at,
               .chunk = sent.chunk,
               .kind = TraceKind::reply});
  }
  replies_.erase(found);
}

void LaneTrace::appended(const lane::Append& append, Micros now, const JournalDisk& disk) {
  appends_[append.ticket] = {append.item, append.chunk, now, disk};
  bound(appends_);
}

void LaneTrace::took(const lane::TakeSnapshot& taken, Micros now) {
  snapshots_.emplace(taken.id, now);
  bound(snapshots_);
}

void LaneTrace::done(const lane::Event& event, Micros now, const JournalDisk& disk) {
  if (const auto* durable = std::get_if<lane::SnapshotDurable>(&event)) {
    if (const auto begun = snapshots_.find(durable->id); begun != snapshots_.end()) {
      ring_.add(
          {.step = step_of(durable->id.step), .first = begun->second, .second = now, .kind = TraceKind::snapshot});
      snapshots_.erase(begun);
    }
  } else if (const auto* failed = std::get_if<lane::SnapshotFailed>(&event)) {
    snapshots_.erase(failed->id);
  } else if (const auto* commit = std::get_if<lane::Committed>(&event)) {
    committed(commit->ticket, now, disk);
  }
}

// All up to the ticket: a commit of several names the newest of them.
void LaneTrace::committed(std::uint64_t ticket, Micros now, const JournalDisk& disk) {
  while (!appends_.empty() && appends_.begin()->first <= ticket) {
    const auto& append = appends_.begin()->second;
    const auto slot = static_cast<Slot>(append.item % updates_);
    const auto most = now - append.at;
    // Of a call that was under way then what it had taken by then was nobody's wait.
    const auto before = append.disk.waited + append.disk.under_way;
    const auto waited = std::min(most, micros_of(std::max(disk.waited - before, std::chrono::nanoseconds(0))));
    ring_.add({.step = append.item / updates_,
               .first = append.at,
               .second = now,
               .third = std::max<Micros>(1, waited),
               .fourth = std::min(waited, micros_of(disk.syncing - append.disk.syncing)),
               .chunk = append.chunk,
               .slots = {slot, slot + 1},
               .kind = TraceKind::journal});
    appends_.erase(appends_.begin());
  }
}

void LaneTrace::worked(Step step, Micros busy, Micros now) {
  work_.busy += busy;
  if (work_.since != 0 && now < work_.since + kWorkEvery) {
    return;
  }
  const auto processor = micros_of(processor_time());
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
