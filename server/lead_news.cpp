#include "server/lead_news.h"

#include <algorithm>
#include <utility>

namespace ballast {

namespace {

constexpr std::string_view kLeft = "left";

// Whether another one lives under the same name. A worker that was killed and started again has two such sessions until
// the silence of the first is noticed.
bool is_double(const Status& status, const SessionStatus& session) {
  return std::any_of(status.sessions.begin(), status.sessions.end(), [&](const SessionStatus& other) {
    return other.live && other.session != session.session && other.name == session.name;
  });
}

}  // namespace

std::vector<LeadNews::Line> LeadNews::of(const Status& status) {
  tell_phase(status);
  tell_waiting(status);
  tell_trouble(status);
  tell_data(status);
  tell_sessions(status);
  tell_held_up(status);
  return std::exchange(lines_, {});
}

void LeadNews::tell(LogLevel level, std::string_view kind, std::string text, bool is_wrong) {
  lines_.push_back({level, kind, std::move(text), is_wrong || level >= LogLevel::warn});
}

void LeadNews::tell_phase(const Status& status) {
  if (status.phase == phase_) {
    return;
  }
  phase_ = status.phase;
  tell(LogLevel::info, "phase",
       std::string(name_of(status.phase)) + " at step " + std::to_string(status.step) + " of " +
           std::to_string(status.steps) + (status.failure.empty() ? "" : ": " + status.failure),
       !status.failure.empty());
}

// The first reason alone: one after the other would fill the log.
void LeadNews::tell_waiting(const Status& status) {
  if (status.waits_for != waiting_ && waiting_.empty()) {
    tell(LogLevel::warn, "waiting", "waiting for " + status.waits_for);
  }
  waiting_ = status.waits_for;
}

void LeadNews::tell_trouble(const Status& status) {
  auto trouble = all_trouble(status);
  if (trouble != trouble_ && !trouble.empty()) {
    tell(LogLevel::warn, "trouble", trouble);
  }
  trouble_ = std::move(trouble);
}

void LeadNews::tell_data(const Status& status) {
  if (status.data.value != data_) {
    data_ = status.data.value;
    tell(LogLevel::info, "data", "the digest of the job's data is " + status.data.value + " (" + status.data.by + ")");
  }
}

void LeadNews::tell_sessions(const Status& status) {
  forget_sessions(status);
  const auto is_news = [&](const SessionStatus& session) {
    const auto told = live_.find(session.session);
    return told == live_.end() || told->second != session.live;
  };
  leaving_ = static_cast<std::size_t>(std::ranges::count_if(status.sessions, [&](const SessionStatus& session) {
    return is_news(session) && !session.live && session.refusal.empty();
  }));
  for (const auto& session : status.sessions) {
    if (is_news(session)) {
      tell_session(status, session);
      live_[session.session] = session.live;
    }
  }
  lost_ = status.lost_workers;
}

void LeadNews::tell_session(const Status& status, const SessionStatus& session) {
  const std::string what = session.live              ? "joined"
                           : session.refusal.empty() ? how_it_went(status, session)
                                                     : "is refused";
  tell(LogLevel::info, "session", "worker " + session.name + " " + what, !session.live && what != kLeft);
  if (session.live && is_double(status, session)) {
    tell(LogLevel::warn, "double",
         "another live worker is called " + session.name + " as well; metrics show one of them as " + session.name +
             "@SESSION: give each a name");
  }
}

// The lead counts those that are lost, and does not say which they are: of several that go within a moment, some of
// them lost, nobody is known to be.
std::string LeadNews::how_it_went(const Status& status, const SessionStatus& session) const {
  const auto lost = status.lost_workers - std::min(lost_, status.lost_workers);
  if (lost == 0) {
    return std::string(kLeft);
  }
  if (lost < leaving_) {
    return "left or was lost";
  }
  const auto held_up = held_up_.find(session.session);
  return "was lost: it said no goodbye, and has not been heard of for too long" +
         (held_up == held_up_.end() ? std::string()
                                    : "; it was not counted on for the last " +
                                          std::to_string((status.training - held_up->second.since) / 1'000'000) +
                                          " s: " + held_up->second.why);
}

// Most are over before anybody could look.
void LeadNews::tell_held_up(const Status& status) {
  constexpr Micros kWorthTelling = 5'000'000;
  if (status.phase != JobPhase::training) {
    return;  // nobody has anything to bring
  }
  std::map<SessionId, HoldUp> held_up;
  for (const auto& session : status.sessions) {
    const auto known = held_up_.find(session.session);
    if (!session.live) {
      continue;  // that it is gone is told
    }
    if (session.held_up.empty()) {
      if (known != held_up_.end() && known->second.is_told) {
        tell(LogLevel::info, "held up", "worker " + session.name + " is counted on again");
      }
      continue;
    }
    auto& now = held_up[session.session];
    now = known != held_up_.end() ? known->second : HoldUp{status.training};
    now.why = session.held_up;
    if (!now.is_told && status.training >= now.since + kWorthTelling) {
      tell(LogLevel::warn, "held up", "worker " + session.name + " is not counted on: " + session.held_up);
      now.is_told = true;
    }
  }
  held_up_ = std::move(held_up);
}

// As the lead does: of a long life's sessions the longest dead are not in its status any more.
void LeadNews::forget_sessions(const Status& status) {
  if (live_.size() <= status.sessions.size()) {
    return;
  }
  std::erase_if(live_, [&](const auto& told) {
    return std::none_of(status.sessions.begin(), status.sessions.end(),
                        [&](const SessionStatus& session) { return session.session == told.first; });
  });
}

}  // namespace ballast
