#include "protocol/lane/lane_sessions.h"

#include <algorithm>

namespace ballast {

bool LaneSessions::hello(SessionId session, Micros now) {
  if (!sessions_.contains(session) && !make_room(now)) {
    return false;
  }
  sessions_[session].seen = now;
  return true;
}

bool LaneSessions::make_room(Micros now) {
  if (sessions_.size() < limits_.sessions) {
    return true;
  }
  const auto oldest = std::min_element(sessions_.begin(), sessions_.end(), [](const auto& left, const auto& right) {
    return left.second.seen < right.second.seen;
  });
  if (now - oldest->second.seen < limits_.memory || oldest->second.reply_bytes != 0) {
    return false;
  }
  contributions_.erase(oldest->first);
  forget(oldest->first);
  return true;
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
  return true;
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
    defer(state, {chunk.id, wanted, chunk.bytes});
    return std::nullopt;
  }
  counters_.served_older += is_older ? 1 : 0;
  state.reply_bytes += chunk.bytes;
  return WeightsReply{session,     chunk.id, is_newest ? chunk.newest : version, chunk.newest, clock, averages,
                      chunk.bytes, false};
}

bool LaneSessions::fits(const Session& session, std::uint64_t bytes) const {
  return session.reply_bytes == 0 || session.reply_bytes + bytes <= limits_.window_bytes;
}

void LaneSessions::defer(Session& session, const DeferredReply& reply) {
  ++counters_.deferred;
  const Served served{reply.chunk, reply.wanted.averages};
  if (session.deferred.insert_or_assign(served, reply).second) {
    session.order.push_back(served);
  }
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
  if (const auto found = sessions_.find(session); found != sessions_.end()) {
    found->second.reply_bytes -= std::min(found->second.reply_bytes, bytes);
  }
}

std::optional<DeferredReply> LaneSessions::next_deferred(SessionId session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) {
    return std::nullopt;
  }
  auto& state = found->second;
  if (state.order.empty()) {
    return std::nullopt;
  }
  const auto next = state.deferred.find(state.order.front());
  if (!fits(state, next->second.bytes)) {
    return std::nullopt;
  }
  const auto reply = next->second;
  state.deferred.erase(next);
  state.order.pop_front();
  return reply;
}

void LaneSessions::forget_replies() {
  waiting_.clear();
  for (auto& [id, session] : sessions_) {
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
