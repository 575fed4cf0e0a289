// Judges what the lead orders its workers to do, but for what an item mode grants.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/lead.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

void check_slots(const LifeSpec& life, SlotRange range);
// What a worker of a job of rounds is about to compute.
void check_ranges(const LifeSpec& life, Step step, const std::vector<SlotRange>& ranges);

// Every method throws Violation.
class OrdersJudge {
 public:
  explicit OrdersJudge(const LifeSpec& life) : life_(life) {}

  void lead_starts() {
    orders_.clear();
    brought_ = {};
  }
  // The lead hears a report of the lane.
  void heard(std::uint32_t lane, const LaneReport& report, const Ledger& durable);
  // It has acted on what it has heard, and told whom it concerns.
  void settled(Lead::Phase before, Lead::Phase after);
  // The session says hello: what the lead knew of it may be forgotten.
  void said_hello(SessionId session);
  // It says what it computes, in the lead's timeline: from now on the lead takes note of what it brings.
  void said_progress(SessionId session, const Heartbeat& beat);
  void lead_ticks();
  // `durable`: the timeline of the durable ledger.
  void assigned(SessionId session, const Assign& assign, Timeline durable);

 private:
  struct Order {
    LeadNumber order;
    Generation generation = 0;
    Assign said;  // the newest that says something
  };

  // Of the sessions that have brought something when it last grew, by the reports that the lead has heard.
  struct Brought {
    Timeline timeline = 0;
    Step open = 0;
    std::map<SessionId, std::uint64_t> slots;
    std::map<SessionId, Step> to_act_on;  // since it settled last
    std::map<SessionId, Step> lately;     // in the step before this one, if it is `open`
  };
  struct Division {
    Generation generation = 0;
    std::set<SessionId> known;    // had brought something when it was made
    std::set<SessionId> lately;   // had brought something of the step before
    std::set<SessionId> leaving;  // had said so
    SessionId with_untried = 0;   // has a range, though it had brought nothing
    SessionId with_lately = 0;    // has a range
  };

  void forget_brought(SessionId session);
  [[nodiscard]] bool takes(std::uint32_t lane, const LaneReport& report, const Ledger& durable);
  void check_content(const Assign& assign, Timeline durable) const;
  [[nodiscard]] Division new_division(const Assign& assign) const;
  void check_division(SessionId session, const Assign& assign);
  static void check_said_again(SessionId session, const Assign& assign, Order& known);

  const LifeSpec& life_;
  std::map<SessionId, Order> orders_;
  struct {
    Brought heard;
    std::set<SessionId> known;    // had brought something, by any report
    std::set<SessionId> greeted;  // have said hello, and nothing more
    std::map<std::pair<std::uint32_t, Incarnation>, std::uint64_t>
        sequences;                          // of the newest report of each lane's life
    std::map<SessionId, Step> before_tick;  // heard.lately at the last tick
    std::map<SessionId, Step> acted_on;     // at the one before: whatever the lead does next, it knows that
    std::map<std::uint32_t, std::vector<SessionId>> unpaying;  // by lane: said to send nothing of what is called
    std::map<SessionId, Timeline> leaving;                     // said so last, in that timeline
    Division division;                                         // the newest
  } brought_;
};

}  // namespace ballast::simulation
