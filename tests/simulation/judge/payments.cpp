#include "tests/simulation/judge/payments.h"

#include <algorithm>
#include <string>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

void PaymentsJudge::paid(SessionId session, std::uint64_t number) {
  if (open_.erase({session, number}) > 0) {
    taken_back_.erase(session);
  }
}

void PaymentsJudge::voided(SessionId session, std::uint64_t number) {
  if (open_.erase({session, number}) > 0) {
    failed_.insert(session);
  }
}

void PaymentsJudge::taken_back(SessionId session) {
  ++taken_back_[session];
  failed_.insert(session);
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
