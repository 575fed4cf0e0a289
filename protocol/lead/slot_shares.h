// Who computes which slots of the oldest open step, and who of the steps after it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/share_rules.h"
#include "protocol/lead/slot_holders.h"
#include "protocol/lead/slot_session.h"
#include "protocol/lead/standing_ranges.h"
#include "protocol/messages.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"

namespace ballast {

// What is missing comes from the shards' reports, never from memory of what was given out; memory only says whom to
// wait for. So nothing here need be durable, and a wrong prediction costs time, never a result.
//
// Each session has a share of the open step: at first its standing range. A session that has nothing left takes, in
// this order, what nobody brings who is counted on (the share of one that is lost or suspected, last slots first); the
// tail of the share that is predicted to end last, as much as makes both ends equal; a copy of a slot that another one
// computes, if that arrives sooner. A session is suspected while it is silent, or late: a slot in hand takes three
// times what its slots take, or its share three times what was predicted. A suspect keeps what is left of its share,
// and is counted on again when it is heard of, or gets on.
//
// Nobody waits for a session that has brought nothing: it has no credit (Suspicion), so no standing range, and takes
// nothing. It is tried: it gets a slot that somebody else computes as well, and has credit when the lanes' reports say
// that it brought it first. Where nobody has credit, as in a lead's first step, all share as if they had.
//
// docs/protocol.md has the rules and why each is there. Pure and copyable. Not thread-safe.
class SlotShares {
 public:
  using Floors = ShareFloors;
  using Rules = ShareRules;

  explicit SlotShares(const Rules& rules) : holders_(rules) {}

  // Divides the slots among `sessions`, in order, for steps from `from` on: a new generation, unless all keep what they
  // have. Those that are suspected get none while others are not; those without credit none while others have some.
  void divide(const std::vector<SessionId>& sessions, Step from);
  void lose(SessionId session);
  // It goes by orders of which nobody here may know: they may say of an open step what only another order takes back.
  void has_orders(SessionId session) { holders_.tell(session); }
  // A heartbeat. Whether work may be handed out that could not be before.
  bool heard(SessionId session, const SlotProgress& progress, Micros now);
  // What the shards say: the step is the oldest that is open, and lacks these slots. Shares of steps before it are
  // forgotten.
  void observe(Step step, const SlotSet& lacking, WantedSlots wanted, Micros now);
  // Of lanes that do not tell what they want next.
  void observe(Step step, const SlotSet& lacking, Micros now) { observe(step, lacking, {lacking, {}}, now); }
  // So many slots of each have become part of steps before `end`, by a lane's newest report.
  void brought(const std::vector<SessionSlots>& slots, Step end);
  // The job is taken back: what was given out and observed is forgotten.
  void rewind();
  // The lead did not run for so long.
  void forgive(Micros slept) { holders_.forgive(slept); }
  // Work begins (again) now: nobody is late for the time in which none was given out.
  void reopen(Micros now) { holders_.reopen(standing_.at(open()), now); }
  // Shares out what is left among the `sessions` that have nothing left: without Rules::redistributes only what those
  // had that are lost, or have brought nothing for Rules::late. `silent`: that are suspected already. `limit`: no steps
  // from there on are given out. Costs a short look at each session; where some have nothing left, a prediction for
  // each that has.
  void hand_out(const std::vector<SessionId>& sessions, const std::set<SessionId>& silent, Step limit, Micros now);

  // Whose work of the open step is another than when this was asked last.
  std::set<SessionId> take_changed() { return holders_.take_changed(); }
  [[nodiscard]] Standing standing(SessionId session, Step until) const { return standing_.standing(session, until); }
  // The session's share of the open step, where that is not its standing range.
  [[nodiscard]] std::optional<StepWork> now(SessionId session) const;
  [[nodiscard]] const Rules& rules() const { return holders_.rules(); }
  [[nodiscard]] Generation generation() const { return standing_.generation(); }
  [[nodiscard]] bool observed() const { return holders_.open().is_observed; }
  [[nodiscard]] Step open() const { return holders_.open().step; }
  [[nodiscard]] const SlotSet& missing() const { return holders_.open().missing; }

  // ShareCounts says what each of these counts.
  [[nodiscard]] std::uint64_t backups() const { return holders_.counts().copied; }
  [[nodiscard]] std::uint64_t reassigned() const { return holders_.counts().reassigned; }
  [[nodiscard]] std::uint64_t taken() const { return holders_.counts().taken; }
  [[nodiscard]] std::uint64_t relieved() const { return holders_.counts().relieved; }
  [[nodiscard]] std::uint64_t trials() const { return holders_.counts().trials; }
  [[nodiscard]] std::uint64_t returned() const { return holders_.counts().returned; }
  // Why the session is not counted on; empty if it is.
  [[nodiscard]] std::string held_up(SessionId session) const;
  // Null: nothing is known of it.
  [[nodiscard]] const SlotSession* session(SessionId session) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(standing_, holders_), listed::plain(decided_until_, divides_anew_));
  }

 private:
  void occupy(SlotHolders::Chosen takers, SlotSet unclaimed, const SlotHolders::Chosen& counted, Micros now);
  void begin_trials(const std::vector<SessionId>& sessions, Micros now);
  void begin_division(StandingRanges::Ranges ranges, Step from);
  void decide_next(const std::vector<SessionId>& sessions, Step limit);
  [[nodiscard]] std::vector<SessionId> takers_of(const std::vector<SessionId>& sessions) const;
  [[nodiscard]] StandingRanges::Ranges divided(const std::vector<SessionId>& sessions) const;

  StandingRanges standing_;
  SlotHolders holders_;
  Step decided_until_ = 0;     // standing ranges of steps before it are decided
  bool divides_anew_ = false;  // a session has credit that had none when they were
};

}  // namespace ballast
