#include "protocol/lead/session_roster.h"

#include <algorithm>
#include <utility>

namespace ballast {

LeadSession* SessionRoster::hello(SessionId id, const std::string& name, Micros now) {
  if (!all_.contains(id) && !make_room()) {
    return nullptr;
  }
  auto& session = all_.try_emplace(id, silence_).first->second;
  session.name = name;
  session.live = true;
  session.said_goodbye = false;
  session.heard_at = now;
  return &session;
}

// A stranger's hello costs nothing, and must keep no worker out: an honest one that is forgotten says hello again. Who
// has spoken may have joined, and keeps its place.
bool SessionRoster::make_room() {
  if (all_.size() < at_most_) {
    return true;
  }
  const auto rank = [](const LeadSession& session) { return std::pair(session.live, session.heard_at); };
  auto first = all_.end();
  for (auto at = all_.begin(); at != all_.end(); ++at) {
    const bool gives_way = !at->second.live || !at->second.has_spoken;
    if (gives_way && (first == all_.end() || rank(at->second) < rank(first->second))) {
      first = at;
    }
  }
  if (first == all_.end()) {
    return false;
  }
  suspects_.erase(first->first);
  all_.erase(first);
  return true;
}

LeadSession* SessionRoster::heard(SessionId id, Micros now) {
  const auto known = all_.find(id);
  if (known == all_.end() || !known->second.live) {
    return nullptr;
  }
  auto& session = known->second;
  session.has_spoken = true;
  session.silence.observe(now - session.heard_at);
  session.heard_at = now;
  suspects_.erase(id);
  return &session;
}

bool SessionRoster::unreachable(SessionId id) {
  const auto known = all_.find(id);
  return known != all_.end() && known->second.live && suspects_.insert(id).second;
}

std::vector<SessionId> SessionRoster::suspect_silent(Micros now, const Silence& limits) {
  constexpr Micros kIntervals = 3;
  std::vector<SessionId> overdue;
  for (const auto id : joined_) {
    const auto& session = all_.at(id);
    const auto silent = now - session.heard_at;
    if (silent > limits.suspect && silent > kIntervals * session.silence.typical()) {
      suspects_.insert(id);
    } else if (silent > limits.probe) {
      overdue.push_back(id);
    }
  }
  return overdue;
}

void SessionRoster::join(SessionId id) {
  auto& joining = all_.at(id);
  joining.ready = true;
  for (auto& [other, session] : all_) {
    if (session.name == joining.name) {
      session.refusal.clear();
    }
  }
  joined_.push_back(id);
  changed_ = true;
}

bool SessionRoster::lose(SessionId id) {
  auto& session = all_.at(id);
  session.live = false;
  session.ready = false;
  session.beat.ready = false;
  session.assign = {.order = session.assign.order};
  lost_ += session.said_goodbye ? 0 : 1;
  suspects_.erase(id);
  const bool had_joined = std::erase(joined_, id) > 0;
  changed_ = changed_ || had_joined;
  return had_joined;
}

bool SessionRoster::take_changes(Micros now) {
  if (!changed_ || changes_taken_at_ == now) {
    return false;
  }
  changed_ = false;
  changes_taken_at_ = now;
  return true;
}

void SessionRoster::refuse(SessionId id, std::string why, Micros now) {
  auto& session = all_.at(id);
  session.live = false;
  session.ready = false;
  session.beat.ready = false;
  session.assign = {.order = session.assign.order};
  session.refusal = std::move(why);
  session.refused_at = now;
  ++refused_;
  suspects_.erase(id);
  changed_ = std::erase(joined_, id) > 0 || changed_;
}

void SessionRoster::forgive(Micros slept) {
  for (auto& [id, session] : all_) {
    session.heard_at += slept;
  }
}

bool SessionRoster::any_live() const {
  return std::ranges::any_of(all_, [](const auto& session) { return session.second.live; });
}

std::vector<SessionId> SessionRoster::silent(Micros now) const {
  std::vector<SessionId> silent;
  for (const auto& [id, session] : all_) {
    if (session.live && session.silence.is_past(now - session.heard_at)) {
      silent.push_back(id);
    }
  }
  return silent;
}

}  // namespace ballast
