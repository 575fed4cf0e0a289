#include "protocol/lane/lane_sessions.h"

#include <algorithm>

namespace ballast {

LaneSessions::Greeting LaneSessions::hello(SessionId session, Micros now) {
  const auto greeting = sessions_.contains(session) ? Greeting{} : make_room(now);
  if (greeting) {
    sessions_[session].seen = now;
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
  auto oldest = sessions_.end();
  for (auto at = sessions_.begin(); at != sessions_.end(); ++at) {
    const auto rank = [](const Session& session) { return std::pair(session.has_spoken, session.seen); };
    if (gives_way(at->second, now) && (oldest == sessions_.end() || rank(at->second) < rank(oldest->second))) {
      oldest = at;
    }
  }
  if (oldest == sessions_.end()) {
    return {false};
  }
  const auto forgotten = oldest->first;
  contributions_.erase(forgotten);
  forget(forgotten);
  return {true, forgotten};
}

bool LaneSessions::gives_way(const Session& session, Micros now) const {
  return !session.has_spoken || (now - session.seen >= limits_.memory && session.reply_bytes == 0);
}

void LaneSessions::forget(SessionId session) {
  std::erase_if(waiting_, [&](const auto& waiting) { return waiting.first.session == session; });
  sessions_.erase(session);
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
  found->second.seen = now;
  found->second.has_spoken = true;
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

std::optional<WeightsReply> LaneSessions::want(SessionId session, const ServedChunk& chunk, WantedVersion wanted) {
  if (wanted.version != kNewestVersion && wanted.version > chunk.newest) {
    waiting_[{chunk.id, session, wanted.averages}] = wanted.version;
    return std::nullopt;
  }
  waiting_.erase({chunk.id, session, wanted.averages});
  return reply(session, chunk, wanted);
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
    defer(state, {session, chunk.id, wanted, chunk.bytes});
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

void LaneSessions::defer(Session& session, const DeferredReply& reply) {
  ++counters_.deferred;
  const Served served{reply.chunk, reply.wanted.averages};
  if (session.deferred.insert_or_assign(served, reply).second) {
    session.order.push_back(served);
  }
  take_turn(reply.session, session);
}

// If it is the window of all that it waits for: its own is made free by its own replies.
void LaneSessions::take_turn(SessionId id, Session& session) {
  if (session.is_in_turn || session.order.empty() ||
      !fits_window(session, session.deferred.at(session.order.front()).bytes)) {
    return;
  }
  session.is_in_turn = true;
  turns_.push_back(id);
}

std::vector<WeightsReply> LaneSessions::answer_waiting(const ServedChunk& chunk) {
  std::vector<WeightsReply> replies;
  auto waiting = waiting_.lower_bound({chunk.id, 0, false});
  while (waiting != waiting_.end() && waiting->first.chunk == chunk.id) {
    const auto [key, version] = *waiting;
    if (version > chunk.newest) {
      ++waiting;
      continue;
    }
    waiting = waiting_.erase(waiting);
    if (const auto now = reply(key.session, chunk, {version, kNoLeadNumber, key.averages})) {
      replies.push_back(*now);
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
  if (found == sessions_.end() || found->second.order.empty()) {
    return std::nullopt;
  }
  auto& state = found->second;
  if (!fits(state, state.deferred.at(state.order.front()).bytes)) {
    take_turn(session, state);
    return std::nullopt;
  }
  return take_first(state);
}

// One reply of each, so that nobody has all that is let go.
std::optional<DeferredReply> LaneSessions::next_in_turn() {
  while (!turns_.empty()) {
    const auto id = turns_.front();
    const auto found = sessions_.find(id);
    auto* state = found == sessions_.end() ? nullptr : &found->second;
    const bool waits = state != nullptr && state->is_in_turn && !state->order.empty();
    const auto bytes = waits ? state->deferred.at(state->order.front()).bytes : 0;
    if (waits && fits_window(*state, bytes) && !fits(*state, bytes)) {
      return std::nullopt;
    }
    turns_.pop_front();
    if (state != nullptr) {
      state->is_in_turn = false;
    }
    if (waits && fits(*state, bytes)) {
      auto next = take_first(*state);
      take_turn(id, *state);
      return next;
    }
  }
  return std::nullopt;
}

std::optional<DeferredReply> LaneSessions::take_first(Session& session) {
  const auto first = session.deferred.find(session.order.front());
  const auto reply = first->second;
  session.deferred.erase(first);
  session.order.pop_front();
  return reply;
}

void LaneSessions::forget_replies() {
  waiting_.clear();
  turns_.clear();
  for (auto& [id, session] : sessions_) {
    session.is_in_turn = false;
    session.order.clear();
    session.deferred.clear();
  }
}

void LaneSessions::contributed(SessionId session) {
  if (sessions_.contains(session)) {
    ++contributions_[session];
  }
}

std::size_t LaneSessions::deferred() const {
  std::size_t count = 0;
  for (const auto& [id, session] : sessions_) {
    count += session.deferred.size();
  }
  return count;
}

}  // namespace ballast
