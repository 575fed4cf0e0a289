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
  // Something comes over this connection; later ones of a session have greater ids.
  void heard(SessionId session, ConnectionId connection);
  void called(SessionId session, std::uint64_t number, Timeline timeline) { open_[{session, number}] = timeline; }
  // With a contribution of that timeline.
  void paid(SessionId session, std::uint64_t number, Timeline timeline);
  // It has none.
  void voided(SessionId session, std::uint64_t number);
  // The lane ends it: a call was taken back, unless the session has another one since.
  void dropped(SessionId session, ConnectionId connection);
  // It has ended.
  void ended(SessionId session);
  void reported(const RoundReport& report) const;

 private:
  std::map<SessionId, ConnectionId> newest_;
  std::map<std::pair<SessionId, std::uint64_t>, Timeline> open_;  // calls
  std::map<SessionId, std::uint32_t> taken_back_;                 // without a payment since
  std::set<SessionId> failed_;                                    // ever
};

}  // namespace ballast::simulation
