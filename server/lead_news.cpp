#include "server/lead_news.h"

#include <algorithm>
#include <utility>

namespace ballast {

namespace {

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
  return std::exchange(lines_, {});
}

void LeadNews::tell(LogLevel level, std::string_view kind, std::string text) {
  lines_.push_back({level, kind, std::move(text)});
}

void LeadNews::tell_phase(const Status& status) {
  if (status.phase == phase_) {
    return;
  }
  phase_ = status.phase;
  tell(LogLevel::info, "phase",
       std::string(name_of(status.phase)) + " at step " + std::to_string(status.step) + " of " +
           std::to_string(status.steps) + (status.failure.empty() ? "" : ": " + status.failure));
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
  for (const auto& session : status.sessions) {
    const auto told = live_.find(session.session);
    if (told == live_.end() || told->second != session.live) {
      tell_session(status, session);
      live_[session.session] = session.live;
    }
  }
}

void LeadNews::tell_session(const Status& status, const SessionStatus& session) {
  const std::string what = session.live ? "joined" : session.refusal.empty() ? "left or was lost" : "is refused";
  tell(LogLevel::info, "session", "worker " + session.name + " " + what);
  if (session.live && is_double(status, session)) {
    tell(LogLevel::warn, "double",
         "another live worker is called " + session.name + " as well; metrics show one of them as " + session.name +
             "@SESSION: give each a name");
  }
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
