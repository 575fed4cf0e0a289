// Judges what a lane tells of sessions that do not send what it calls.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "protocol/ids.h"
#include "protocol/messages.h"

namespace ballast::simulation {

// Of one lane's process, by the messages alone; each session has a key of its own. Methods throw Violation.
class PaymentsJudge {
 public:
  void called(SessionId session, std::uint64_t number) { open_.emplace(session, number); }
  void paid(SessionId session, std::uint64_t number);
  // It has none.
  void voided(SessionId session, std::uint64_t number);
  // The lane has ended the connection over which the session was called.
  void taken_back(SessionId session);
  void reported(const RoundReport& report) const;

 private:
  std::set<std::pair<SessionId, std::uint64_t>> open_;  // calls
  std::map<SessionId, std::uint32_t> taken_back_;       // without a payment since
  std::set<SessionId> failed_;                          // ever
};

}  // namespace ballast::simulation
