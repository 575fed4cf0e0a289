// The shell around a lead's core, as the real process has it, over a ledger in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "protocol/lead/lead.h"
#include "tests/simulation/host.h"
#include "tests/simulation/transitions.h"

namespace ballast::simulation {

class LeadShell : public Process {
 public:
  // `claim`: which no other life has.
  LeadShell(World& world, ProcessId id, std::uint64_t claim);

  void tick(Host& host, Micros clock);
  void receive(Host& host, ProcessId from, const Message& message, const std::optional<Payload>& payload);

  void carry_out(Host& host, const LeadPending& what);
  void receive_command(Host& host, Control::Command command);
  // From a session that has not said hello.
  void receive_strange(Host& host, SessionId session, const Message& message);
  // Of an evaluation that is under way, from a session that has no item of it.
  void receive_false_results(Host& host, SessionId session);

  [[nodiscard]] const Lead& core() const { return core_; }
  // Whether the lead counts the session among the living.
  [[nodiscard]] bool believes_in(SessionId session) const;

 private:
  // Heard now, acted upon when the turn is over.
  void hear(Host& host, const lead::Event& event);
  // A turn's last event.
  void step(Host& host, const lead::Event& event);
  void settle(Host& host);
  // What the call changes in the core is judged.
  template <typename Call>
  void observed(Host& host, const Call& call);
  void judge_phase(Host& host, Lead::Phase before) const;
  void receive_from_lane(Host& host, const LaneLife& lane, const Message& message);
  void act(Host& host, lead::SendToWorker& action);
  void check_grants(Host& host, SessionId session, Timeline timeline) const;
  void act(Host& host, lead::SendToLane& action);
  void act(Host& host, lead::WriteLedger& action);
  void act(Host& host, lead::Stop& action);

  void done(Host& host, const LedgerWrite& what);
  void done(Host& host, const LedgerAnswer& what);
  void done(Host& host, const LeadSettles& what);
  void done(Host& host, const Unreached& what);

  Lead core_;
  Watched<Lead::Phase> state_;
  bool writing_ = false;
  bool in_turn_ = false;                 // something was heard that is to be acted upon
  std::set<std::uint32_t> reported_;     // lanes, in this turn
  std::uint32_t refusals_ = 0;           // of the message in hand
  std::optional<Evaluation> evaluated_;  // the newest item that was given out
};

}  // namespace ballast::simulation
