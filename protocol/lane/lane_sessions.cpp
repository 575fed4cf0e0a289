#include "protocol/lane/lane_sessions.h"

#include <algorithm>
#include <utility>

namespace ballast {

LaneSessions::LaneSessions(LaneSessionLimits limits, std::vector<LaneChunk> chunks)
    : limits_(limits), chunks_(std::move(chunks)) {
  std::ranges::sort(chunks_, {}, &LaneChunk::id);
}

LaneSessions::Greeting LaneSessions::hello(SessionId session, Micros now) {
  const auto greeting = sessions_.contains(session) ? Greeting{} : make_room(now);
  if (greeting) {
    auto& state = sessions_[session];
    if (!state.has_spoken) {
      mute_.erase({state.seen, session});
      mute_.insert({now, session});
    }
    state.seen = now;
  }
  return greeting;
}

// Those to which something is on its way keep their places: they live, or will be found dead. A stranger that says
// hello costs nothing, so who has said nothing else gives way first. One that is honest says hello again when it is not
// known.
LaneSessions::Greeting LaneSessions::make_room(Micros now) {
  if (sessions_.size() < limits_.sessions) {
    return {};
  }
  const auto going = mute_.empty() ? longest_unseen(now) : std::optional(mute_.begin()->second);
  if (!going) {
    return {false};
  }
  contributions_.erase(*going);
  forget(*going);
  return {true, *going};
}

// All have spoken. Whoever was seen since a search that found nobody is seen too lately now.
std::optional<SessionId> LaneSessions::longest_unseen(Micros now) {
  if (now < nobody_goes_before_) {
    return std::nullopt;
  }
  auto longest = sessions_.end();
  auto earliest = now;
  for (auto at = sessions_.begin(); at != sessions_.end(); ++at) {
    const auto& session = at->second;
    const bool may_go = now - session.seen >= limits_.memory && session.reply_bytes == 0;
    earliest = std::min(earliest, session.seen);
    if (may_go && (longest == sessions_.end() || session.seen < longest->second.seen)) {
      longest = at;
    }
  }
  if (longest != sessions_.end()) {
    return longest->first;
  }
  nobody_goes_before_ = earliest + limits_.memory;
  return std::nullopt;
}

void LaneSessions::forget(SessionId session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) {
    return;
  }
  await(session, found->second, std::nullopt);
  deferred_ -= found->second.pulls.deferred();
  mute_.erase({found->second.seen, session});
  sessions_.erase(found);
}

void LaneSessions::bar(const std::vector<SessionId>& sessions) {
  if (sessions == barred_) {
    return;
  }
  barred_ = sessions;
  for (const auto session : barred_) {
    forget(session);
  }
}

bool LaneSessions::heard(SessionId session, Micros now) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) {
    return false;
  }
  if (!std::exchange(found->second.has_spoken, true)) {
    mute_.erase({found->second.seen, session});
  }
  found->second.seen = now;
  return true;
}

void LaneSessions::speaks(SessionId session, ConnectionId connection, PayerId payer) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end() && connection >= found->second.connection) {
    found->second.connection = connection;
    found->second.payer = payer;
  }
}

WeightsReaders::Reader LaneSessions::reader(SessionId session) const {
  const auto& state = sessions_.at(session);
  return {session, state.connection, state.payer};
}

// Of a chunk of the lane.
std::uint32_t LaneSessions::place_of(ChunkId chunk) const {
  return static_cast<std::uint32_t>(std::ranges::lower_bound(chunks_, chunk, {}, &LaneChunk::id) - chunks_.begin());
}

// What follows from them follows.
template <typename Change>
void LaneSessions::change_pulls(SessionId id, Session& session, Change&& change) {
  deferred_ -= session.pulls.deferred();
  change(session.pulls);
  deferred_ += session.pulls.deferred();
  await(id, session, session.pulls.lowest_awaited());
}

void LaneSessions::await(SessionId id, Session& session, std::optional<Version> lowest) {
  if (session.awaits == lowest) {
    return;
  }
  if (session.awaits) {
    waiting_.erase({*session.awaits, id});
  }
  if (lowest) {
    waiting_.emplace(*lowest, id);
  }
  session.awaits = lowest;
}

std::optional<WeightsReply> LaneSessions::want(SessionId session, const ServedChunk& chunk, WantedVersion wanted) {
  const bool is_to_come = wanted.version != kNewestVersion && wanted.version > chunk.newest;
  change_pulls(session, sessions_.at(session), [&](OpenPulls& pulls) {
    if (is_to_come) {
      pulls.wait(place_of(chunk.id), wanted);
    } else {
      pulls.wait_no_more(place_of(chunk.id), wanted.averages);
    }
  });
  return is_to_come ? std::nullopt : reply(session, chunk, wanted);
}

std::optional<WeightsReply> LaneSessions::reply(SessionId session, const ServedChunk& chunk, WantedVersion wanted) {
  const auto [version, clock, averages] = wanted;
  const bool is_newest = version == chunk.newest || version == kNewestVersion;
  const bool is_older = !averages && version >= chunk.oldest && version < chunk.newest;
  if (!is_newest && !is_older) {
    ++counters_.gone;
    return WeightsReply{session, chunk.id, version, chunk.newest, clock, averages, 0, true};
  }
  auto& state = sessions_.at(session);
  if (!fits(state, chunk.bytes)) {
    defer(session, state, chunk.id, wanted);
    return std::nullopt;
  }
  counters_.served_older += is_older ? 1 : 0;
  state.reply_bytes += chunk.bytes;
  ++state.replies;
  reply_bytes_ += chunk.bytes;
  return WeightsReply{session,     chunk.id, is_newest ? chunk.newest : version, chunk.newest, clock, averages,
                      chunk.bytes, false};
}

bool LaneSessions::fits(const Session& session, std::uint64_t bytes) const {
  return session.replies == 0 || (fits_window(session, bytes) && reply_bytes_ + bytes <= limits_.all_bytes);
}

bool LaneSessions::fits_window(const Session& session, std::uint64_t bytes) const {
  return session.replies == 0 ||
         (session.replies < kMostReplies && session.reply_bytes + bytes <= limits_.window_bytes);
}

void LaneSessions::defer(SessionId id, Session& session, ChunkId chunk, const WantedVersion& wanted) {
  ++counters_.deferred;
  change_pulls(id, session, [&](OpenPulls& pulls) { pulls.defer(place_of(chunk), wanted); });
  take_turn(id, session);
}

std::optional<std::uint64_t> LaneSessions::first_deferred_bytes(const Session& session) const {
  const auto first = session.pulls.first_deferred();
  return first ? std::optional(chunks_[first->place].bytes) : std::nullopt;
}

// If it is the window of all that it waits for: its own is made free by its own replies.
void LaneSessions::take_turn(SessionId id, Session& session) {
  const auto bytes = first_deferred_bytes(session);
  if (session.is_in_turn || !bytes || !fits_window(session, *bytes)) {
    return;
  }
  session.is_in_turn = true;
  turns_.push_back(id);
}

std::vector<WeightsReply> LaneSessions::answer_waiting(const ServedChunk& chunk) {
  std::vector<WeightsReply> replies;
  const auto place = place_of(chunk.id);
  for (auto at = waiting_.begin(); at != waiting_.end() && at->first <= chunk.newest;) {
    const auto id = (at++)->second;  // it may wait for something else from here on
    std::vector<WantedVersion> came;
    change_pulls(id, sessions_.at(id), [&](OpenPulls& pulls) { came = pulls.came_to(place, chunk.newest); });
    for (const auto& wanted : came) {
      if (const auto now = reply(id, chunk, wanted)) {
        replies.push_back(*now);
      }
    }
  }
  return replies;
}

void LaneSessions::released(SessionId session, std::uint64_t bytes) {
  reply_bytes_ -= std::min(reply_bytes_, bytes);
  if (const auto found = sessions_.find(session); found != sessions_.end()) {
    found->second.reply_bytes -= std::min(found->second.reply_bytes, bytes);
    found->second.replies -= found->second.replies > 0 ? 1 : 0;
  }
}

std::optional<DeferredReply> LaneSessions::next_deferred(SessionId session) {
  if (auto next = next_in_turn()) {
    return next;
  }
  const auto found = sessions_.find(session);
  const auto bytes = found == sessions_.end() ? std::nullopt : first_deferred_bytes(found->second);
  if (!bytes) {
    return std::nullopt;
  }
  auto& state = found->second;
  if (!fits(state, *bytes)) {
    take_turn(session, state);
    return std::nullopt;
  }
  return take_first(session, state);
}

// One reply of each, so that nobody has all that is let go.
std::optional<DeferredReply> LaneSessions::next_in_turn() {
  while (!turns_.empty()) {
    const auto id = turns_.front();
    const auto found = sessions_.find(id);
    auto* state = found == sessions_.end() ? nullptr : &found->second;
    const bool waits = state != nullptr && state->is_in_turn && state->pulls.deferred() > 0;
    const auto bytes = waits ? *first_deferred_bytes(*state) : 0;
    if (waits && fits_window(*state, bytes) && !fits(*state, bytes)) {
      return std::nullopt;
    }
    turns_.pop_front();
    if (state != nullptr) {
      state->is_in_turn = false;
    }
    if (waits && fits(*state, bytes)) {
      auto next = take_first(id, *state);
      take_turn(id, *state);
      return next;
    }
  }
  return std::nullopt;
}

DeferredReply LaneSessions::take_first(SessionId id, Session& session) {
  const auto first = *session.pulls.first_deferred();
  change_pulls(id, session, [&](OpenPulls& pulls) { pulls.take(first); });
  return {id, chunks_[first.place].id, first.wanted};
}

void LaneSessions::forget_replies() {
  waiting_.clear();
  turns_.clear();
  deferred_ = 0;
  for (auto& [id, session] : sessions_) {
    session.is_in_turn = false;
    session.pulls = {};
    session.awaits.reset();
  }
}

void LaneSessions::contributed(SessionId session) {
  if (sessions_.contains(session)) {
    ++contributions_[session];
  }
}

}  // namespace ballast
