// Who computes which slots of the oldest open step, and who of the steps after it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/predicted_end.h"
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
// docs/protocol.md has the rules and why each is there. Pure and copyable. Not thread-safe.
class SlotShares {
 public:
  // What is shorter makes no difference.
  struct Floors {
    Micros gain = 20'000;         // slots go to another session if all end so much sooner
    Micros late_slot = 20'000;    // beyond three of a session's slots
    Micros late_share = 250'000;  // beyond three times what was predicted
    bool operator==(const Floors&) const = default;
  };
  struct Rules {
    StepSize step;
    bool by_speed = true;  // standing ranges by predicted end, else even ones
    bool redistributes =
        true;  // what sessions have left and suspects do not bring; else of those lost or late by `late`
    Micros late = 10'000'000;  // a share of which nothing can be predicted
    Floors floors;
    bool operator==(const Rules&) const = default;
  };

  explicit SlotShares(const Rules& rules)
      : rules_(rules), missing_(rules.step.slots), contested_(rules.step.slots), delivered_(rules.step.slots) {}

  // Divides the slots among `sessions`, in order, for steps from `from` on: a new generation. Those that are suspected
  // or have missed their predictions get none, unless all have.
  void divide(const std::vector<SessionId>& sessions, Step from);
  void lose(SessionId session);
  // A heartbeat. Whether work may be handed out that could not be before.
  bool heard(SessionId session, const SlotProgress& progress, Micros now);
  // What the shards say. Shares of steps before `open` are forgotten.
  void observe(Step open, const SlotSet& missing, Micros now);
  // The job is taken back: what was given out and observed is forgotten.
  void rewind();
  // Work begins (again) now: nobody is late for the time in which none was given out.
  void reopen(Micros now);
  // Shares out what is left among the `sessions` that have nothing left: without Rules::redistributes only what those
  // had that are lost, or have brought nothing for Rules::late. `silent`: that are suspected already. `limit`: no steps
  // from there on are given out.
  void hand_out(const std::vector<SessionId>& sessions, const std::set<SessionId>& silent, Step limit, Micros now);

  // Whose work of the open step is another than when this was asked last.
  std::set<SessionId> take_changed() { return std::exchange(changed_, {}); }
  [[nodiscard]] Standing standing(SessionId session, Step until) const { return standing_.standing(session, until); }
  // The session's share of the open step, where that is not its standing range.
  [[nodiscard]] std::optional<StepWork> now(SessionId session) const;
  [[nodiscard]] Generation generation() const { return standing_.generation(); }
  [[nodiscard]] bool observed() const { return observed_; }
  [[nodiscard]] Step open() const { return open_; }
  [[nodiscard]] const SlotSet& missing() const { return missing_; }

  // Slots given to a second session while the first still had them.
  [[nodiscard]] std::uint64_t backups() const { return counts_.copied; }
  // Slots that were another's: of ones that are lost or suspected, and of tails.
  [[nodiscard]] std::uint64_t reassigned() const { return counts_.reassigned; }
  [[nodiscard]] std::uint64_t taken() const { return counts_.taken; }
  // Times that a suspect's slots went to another.
  [[nodiscard]] std::uint64_t relieved() const { return counts_.relieved; }
  // Sessions without a share that were given a slot to try them.
  [[nodiscard]] std::uint64_t trials() const { return counts_.trials; }
  // Suspects that were counted on again.
  [[nodiscard]] std::uint64_t returned() const { return counts_.returned; }
  // Why the session is not counted on; empty if it is.
  [[nodiscard]] std::string held_up(SessionId session) const;
  // Null: nothing is known of it.
  [[nodiscard]] const SlotSession* session(SessionId session) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::fixed(rules_), listed::parts(standing_, members_), listed::plain(open_, observed_),
                       listed::ages(opened_), listed::parts(missing_, contested_, delivered_),
                       listed::ages(delivered_until_, heard_), listed::plain(decided_until_, typical_),
                       listed::accounts(counts_), listed::fixed(changed_));
  }

 private:
  struct Member {
    explicit Member(Slot slots) : seen(slots) {}

    SlotSession seen;
    std::vector<SlotRange> share;  // of the open step, in the order in which it is to be computed; disjoint
    bool is_told = false;          // of its share, by an order of its own
    bool is_trial = false;         // its share is a copy for which nobody waits
    bool had_trial = false;        // in the open step
    Micros given_at = 0;           // its share
    Micros due = 0;                // by three times what was predicted
    bool is_predicted = false;     // `due` is; else nothing was known of how long a slot takes
    bool is_lost = false;          // given up in the open step, and may be back in it
    bool is_silent = false;
    bool is_late = false;
    bool is_relieved = false;  // others have got of what it is late with: it stays late until it gets on
    bool was_late = false;     // in the open step
    bool has_brought = false;  // something, in the open step
    std::uint32_t misses = 0;  // steps in a row in which it was late

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::parts(seen), listed::plain(share, is_told, is_trial, had_trial),
                         listed::ages(given_at, due), listed::plain(is_predicted, is_lost, is_silent),
                         listed::plain(is_late, is_relieved, was_late, has_brought, misses));
    }
    [[nodiscard]] bool is_suspect() const { return is_lost || is_silent || is_late; }
    [[nodiscard]] bool keeps_share() const;
  };
  using Members = std::map<SessionId, Member>;
  // Slots of one range that are still to be computed, and their run: from the first one whose sums have not left.
  struct Part {
    SlotRange run;
    Slot next = 0;
  };
  struct Ahead {
    std::vector<Part> parts;
    Micros begin = 0;  // of the first slot
    Micros uplink_free = 0;
  };
  struct Counts {
    std::uint64_t copied = 0;
    std::uint64_t reassigned = 0;
    std::uint64_t taken = 0;
    std::uint64_t relieved = 0;
    std::uint64_t trials = 0;
    std::uint64_t returned = 0;
    bool operator==(const Counts&) const = default;
  };
  struct Tail {
    Micros end = 0;
    SessionId session = 0;
    auto operator<=>(const Tail&) const = default;
  };

  Member& member(SessionId session);
  void open_step(Step open, Micros now);
  void close_step();
  void take_standing(Micros now);
  void expect(Member& member, Micros now) const;
  // When its share is late, by what is known now.
  void predict(Member& member, Micros now) const;
  void forget_covered();
  void occupy(std::vector<SessionId> takers, const std::vector<SessionId>& counted, Micros now);
  void begin_trials(const std::vector<SessionId>& sessions, Micros now);

  void look_at(const std::vector<SessionId>& sessions, const std::set<SessionId>& silent, Micros now);
  [[nodiscard]] bool is_late(const Member& member, Micros now) const;
  [[nodiscard]] bool is_awaited(const Member& member) const;
  [[nodiscard]] std::vector<SessionId> counted(const std::vector<SessionId>& sessions) const;
  [[nodiscard]] std::vector<SessionId> idle(const std::vector<SessionId>& counted) const;
  void begin_division(StandingRanges::Ranges ranges, Step from);
  void decide_next(const std::vector<SessionId>& sessions, Step limit);
  [[nodiscard]] StandingRanges::Ranges divided(const std::vector<SessionId>& sessions) const;

  [[nodiscard]] SlotSet begun(const Member& member) const;
  [[nodiscard]] SlotSet left(const Member& member) const;
  [[nodiscard]] SlotSet not_delivered(Micros now) const;
  [[nodiscard]] SlotSet unclaimed(const std::vector<SessionId>& counted, Micros now) const;
  void take_unclaimed(SessionId taker, SlotSet& unclaimed, std::size_t among, Micros now);
  void take_tails(std::vector<SessionId>& takers, const std::vector<SessionId>& counted, Micros now);
  bool take_tail(SessionId taker, SessionId holder, Micros now);
  void copy_slots(const std::vector<SessionId>& takers, const std::vector<SessionId>& counted, Micros now);

  void find_typical();
  [[nodiscard]] Ahead ahead(const Member& member) const;
  [[nodiscard]] Micros end_of(const Member& member, const Ahead& ahead, Slot without) const;
  [[nodiscard]] Micros begin_of(const Member& member, const Ahead& ahead, Slot slot) const;
  [[nodiscard]] Micros start_of(const Member& taker, Micros now) const;
  void give(SessionId session, SlotRange range, Micros now);
  // Whether it had some of it.
  bool withdraw(SessionId session, SlotRange range);

  Rules rules_;
  StandingRanges standing_;
  Members members_;
  Step open_ = 0;
  bool observed_ = false;
  Micros opened_ = 0;
  SlotSet missing_;
  SlotSet contested_;  // given to more than one: another may bring them
  SlotSet delivered_;  // by sessions that have left with all receipts, or all, if one has later weights: shards
                       // are to report them at any moment
  Micros delivered_until_ = 0;  // then they have not, and the slots are missing
  Micros heard_ = 0;            // of any session, last
  Step decided_until_ = 0;      // standing ranges of steps before it are decided
  SessionPace typical_;         // for what is not known of a session; 0: it is known of none
  Counts counts_;
  std::set<SessionId> changed_;
};

}  // namespace ballast
