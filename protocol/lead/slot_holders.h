// Who has which slots of the oldest open step.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/open_step.h"
#include "protocol/lead/share_rules.h"
#include "protocol/lead/slot_holder.h"
#include "protocol/lead/typical_pace.h"
#include "protocol/lead/work_ahead.h"
#include "protocol/messages.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"

namespace ballast {

// How often slots changed hands.
struct ShareCounts {
  std::uint64_t copied = 0;      // slots given to a second session while the first still had them
  std::uint64_t reassigned = 0;  // slots of sessions that are lost or suspected, given to another
  std::uint64_t taken = 0;       // slots of tails
  std::uint64_t relieved = 0;    // times that a suspect's slots went to another
  std::uint64_t trials = 0;      // slots given to sessions without a share, or without credit, to try them
  std::uint64_t returned = 0;    // suspects that were counted on again
  bool operator==(const ShareCounts&) const = default;
};

// What a heartbeat brings.
struct HolderNews {
  bool leaves = false;  // it has told now that it leaves
  bool frees = false;   // work may be handed out that could not be before
};

// All sessions that were heard of or have a range, what is missing of the step, and what of it was given to whom. It
// gives and takes away what it is told to; SlotShares says what. A heartbeat costs the logarithm of the sessions and a
// look at their paces; what concerns all sessions costs a look at each. Pure and copyable. Not thread-safe.
class SlotHolders {
 public:
  using Holders = std::map<SessionId, SlotHolder>;
  using Held = Holders::value_type;
  using Chosen = std::vector<Held*>;  // until sessions come or go
  using Ranges = std::map<SessionId, SlotRange>;

  explicit SlotHolders(const ShareRules& rules)
      : rules_(rules),
        open_(rules.step.slots),
        contested_(rules.step.slots),
        tried_(rules.step.slots),
        delivered_(rules.step.slots) {}

  // It is not counted on. If it was given up by mistake, it goes on with its share when it is back in this step.
  void lose(SessionId session);
  HolderNews heard(SessionId session, const SlotProgress& progress, Micros now);
  // So many slots of each have become part of steps before `end`, by a lane's newest report. Whether one has credit
  // that had none.
  bool brought(const std::vector<SessionSlots>& slots, Step end);
  // A step is open; all have their standing ranges of it.
  void open_step(Step step, const SlotSet& missing, WantedSlots wanted, const Ranges& standing, Micros now);
  // Of the step that is open.
  void observe(const SlotSet& missing, WantedSlots wanted);
  // All have their standing ranges again, from now on.
  void reopen(const Ranges& standing, Micros now);
  void rewind();
  // The lead did not run for so long.
  void forgive(Micros slept);
  // Orders name the session's share, whatever it is.
  void tell(SessionId session) { holder(session).share.tell(); }
  // Orders name each session's share, where it has one.
  void tell_all();
  void settle_typical();

  // Slots are shared out to these: who of them is suspected now?
  void look_at(const std::vector<SessionId>& sessions, const std::set<SessionId>& silent, Micros now);
  // Those of them that keep a share; where nobody does, those with credit that are silent and no more; then those that
  // are not suspected; where all are, those of whom nothing is awaited any more: otherwise what a hung session has
  // would wait for it, because another was late once.
  [[nodiscard]] Chosen counted();
  // Those of the chosen that have nothing left; first who would have brought one slot more first, its link and what it
  // still sends counted.
  [[nodiscard]] Chosen idle(const Chosen& counted, Micros now) const;
  // Those that have no credit, nothing to do and had no trial of the step; first who has waited for one the longest.
  // Nobody where the chosen, who are counted on, have no credit either: they have shares.
  [[nodiscard]] Chosen untried(const Chosen& counted);
  // Who of the chosen takes work from others: those whom all lanes hold in good standing, as long as one of those that
  // are counted on has nothing left, or is waited for; else all.
  [[nodiscard]] Chosen takers(const Chosen& idle, const Chosen& counted) const;

  // Whether those that are counted on have credit, and none of them is suspected: it is so of all of them, or of none.
  static bool keep_shares(const Chosen& counted);
  // Those that were seen to give up what they had computed of the open step, and so compute it in turns: of those that
  // are counted on; where these keep no shares, of those with credit as well; where it is none of these, of all that
  // are heard of. A trial is no share that could be larger.
  [[nodiscard]] Chosen in_turns(const Chosen& counted);
  // Where those that are counted on keep no shares, nobody takes the slot that was given in turn before that is over.
  void keep_in_turn(SlotSet& unclaimed, const Chosen& counted, Micros now) const;

  void give(Held& to, SlotRange range, Micros now);
  // Before all that it has left; for a while nobody else is given it so.
  void give_wanted(Held& to, Slot slot, Micros now);
  [[nodiscard]] bool may_be_given(Slot slot, Micros now) const { return slot != wanted_ || now >= wanted_until_; }
  // As a trial: nobody waits for the slot.
  void give_trial(Held& to, SlotRange range, Micros now);
  // Some have it as a trial. One that is to bring it is waited for as ever.
  [[nodiscard]] bool is_tried(Slot slot) const { return tried_.contains(slot); }
  // Whether it had some of it.
  bool withdraw(Held& from, SlotRange range);
  // The range is another's: it is taken from all but the taker.
  void withdraw_from_others(const Held& taker, SlotRange range);
  // Several have it, so that another may bring it.
  void contest(SlotRange range) { contested_.insert(range); }
  [[nodiscard]] bool is_contested(Slot slot) const { return contested_.contains(slot); }
  // Of those that are counted on, some have still something to bring: they will have nothing left, or be late.
  [[nodiscard]] bool some_are_waited_for(const Chosen& counted) const;
  // Whether slots are missing that nobody who is counted on has, or will take: from the next look on whoever hangs at a
  // slot that another has brought is late, until it gets on. Counted on again meanwhile, it would be in the way of
  // those who have taken them.
  void leave_over(bool some, const Chosen& counted);
  // One of those that slots are shared out to.
  Held& held(SessionId session) { return *holders_.find(session); }
  // Whether what it tells of the open step counts for others: it has credit, or nobody has.
  [[nodiscard]] bool is_believed(const SlotHolder& holder) const {
    return holder.suspicion.has_credit() || !some_have_credit_;
  }
  ShareCounts& count() { return counts_; }
  std::set<SessionId> take_changed() { return std::exchange(changed_, {}); }

  [[nodiscard]] const ShareRules& rules() const { return rules_; }
  [[nodiscard]] const OpenStep& open() const { return open_; }
  // Of those that have credit, where anything is known of them: what others tell of themselves counts for nobody else.
  [[nodiscard]] const SessionPace& typical() const {
    return typical_.pace().slot > 0 ? typical_.pace() : typical_of_others_.pace();
  }
  [[nodiscard]] const ShareCounts& counts() const { return counts_; }
  // Null: nothing is known of it.
  [[nodiscard]] const SlotHolder* find(SessionId session) const;
  // Missing, as far as it is known: for a while shards owe the report of what sessions are known to have brought.
  [[nodiscard]] SlotSet not_delivered(Micros now) const;
  // Those of them that nobody who is counted on is to bring.
  [[nodiscard]] SlotSet unclaimed(const Chosen& counted, Micros now) const;
  [[nodiscard]] WorkAhead ahead(const SlotHolder& holder) const;
  [[nodiscard]] MoreWork more(const SlotHolder& taker, Micros now) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(
        listed::fixed(rules_), listed::parts(holders_), listed::names(joined_),
        listed::parts(open_, typical_of_all_, typical_, typical_of_others_, contested_, tried_, delivered_),
        listed::ages(delivered_until_, heard_, wanted_until_),
        listed::plain(wanted_, some_have_credit_, some_are_left_over_, credit_is_counted_on_, brought_),
        listed::names(turns_), listed::accounts(counts_), listed::fixed(changed_));
  }

 private:
  SlotHolder& holder(SessionId session);
  TypicalPace& paces_with(const SlotHolder& holder);
  template <typename Change>
  bool change_credit(SlotHolder& holder, Change&& change);
  void forget_counts(const std::vector<SessionSlots>& slots);
  void forget_lost();
  Holders::iterator forget_lost(Holders::iterator held);
  void forget_covered();
  void place(const std::vector<SessionId>& sessions);
  void take_standing(const Ranges& standing, Micros now);
  void has_given(Held& to, Micros now);
  void expect(SlotHolder& holder, Micros now) const;
  // When its share is late, by what is known now.
  void predict(SlotHolder& holder, Micros now) const;
  [[nodiscard]] Micros longest_wait(const SlotHolder& holder) const;
  [[nodiscard]] bool gets_on(SessionId session, const SlotHolder& holder) const;
  [[nodiscard]] bool is_overdue(const SlotHolder& holder, Micros now) const;
  [[nodiscard]] bool is_in_the_way(const SlotHolder& holder) const;
  [[nodiscard]] bool is_waited_for(const Held& held) const;

  ShareRules rules_;
  Holders holders_;
  std::vector<SessionId> joined_;  // to whom slots were shared out last; holders know their places in it
  OpenStep open_;
  TypicalPace typical_of_all_;
  TypicalPace typical_;            // of those that have credit
  TypicalPace typical_of_others_;  // for as long as nobody with credit was heard to compute
  SlotSet contested_;              // given to more than one
  SlotSet tried_;                  // given to somebody as a trial, in this step
  SlotSet delivered_;  // by sessions that have left with all receipts, or all, if one has later weights: shards are to
                       // report them at any moment
  Micros delivered_until_ = 0;  // then they have not, and the slots are missing
  Micros heard_ = 0;            // of any session, last
  Micros wanted_until_ = 0;     // until then `wanted_` is given to nobody else
  Slot wanted_ = kNoSlot;       // given last for that a lane wants it next
  bool some_have_credit_ = false;
  bool some_are_left_over_ = false;
  bool credit_is_counted_on_ = false;  // when slots were left over, or not, last
  // Slots, by the newest report with which each was known. Whoever says goodbye and comes again has brought nothing
  // since.
  std::map<SessionId, std::uint64_t> brought_;
  std::uint64_t turns_ = 0;  // have been given, of trials
  ShareCounts counts_;
  std::set<SessionId> changed_;  // their work of the open step is another than when that was asked last
};

}  // namespace ballast
