#include "tests/simulation/judge/payments.h"

#include <algorithm>
#include <string>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

void PaymentsJudge::heard(SessionId session, ConnectionId connection) {
  auto& newest = newest_[session];
  newest = std::max(newest, connection);
}

void PaymentsJudge::paid(SessionId session, std::uint64_t number, Timeline timeline) {
  const auto call = open_.find({session, number});
  if (call == open_.end()) {
    return;
  }
  if (call->second == timeline) {
    taken_back_.erase(session);
  } else {
    failed_.insert(session);  // what came is of no use, and may be so again
  }
  open_.erase(call);
}

void PaymentsJudge::voided(SessionId session, std::uint64_t number) {
  if (open_.erase({session, number}) > 0) {
    failed_.insert(session);
  }
}

void PaymentsJudge::dropped(SessionId session, ConnectionId connection) {
  if (connection == newest_[session]) {
    ++taken_back_[session];
    failed_.insert(session);
  }
}

// Whoever is called and goes may do so again.
void PaymentsJudge::ended(SessionId session) {
  if (std::ranges::any_of(open_, [&](const auto& call) { return call.first.first == session; })) {
    failed_.insert(session);
  }
}

void PaymentsJudge::reported(const RoundReport& report) const {
  const auto names = [](const auto& sessions, SessionId session) {
    return std::ranges::find(sessions, session) != sessions.end();
  };
  for (const auto session : report.out_of_standing) {
    require(failed_.contains(session), "a session is out of good standing that has paid all that was called");
  }
  for (const auto session : report.unpaying) {
    const auto taken_back = taken_back_.find(session);
    require(taken_back != taken_back_.end() && taken_back->second >= 2,
            "a session is said to send nothing, though it has since its call was taken back the last but one time");
  }
  for (const auto& [session, times] : taken_back_) {
    require(names(report.out_of_standing, session), "a session whose call was taken back is in good standing");
    require(times < 2 || names(report.unpaying, session),
            "two calls of a session were taken back, and the lead does not hear of it");
  }
}

}  // namespace ballast::simulation
