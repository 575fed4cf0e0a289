#include "protocol/lead/slot_holders.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>

namespace ballast {

namespace {

constexpr Micros kLateSlots = 3;  // of a session's slots, or of what was predicted of its share

}  // namespace

// ---- sessions

SlotHolder& SlotHolders::holder(SessionId session) {
  const auto [known, is_new] = holders_.try_emplace(session, rules_.step.slots);
  if (is_new) {
    known->second.turn = ++turns_;
  }
  return known->second;
}

const SlotHolder* SlotHolders::find(SessionId session) const {
  const auto known = holders_.find(session);
  return known == holders_.end() ? nullptr : &known->second;
}

void SlotHolders::lose(SessionId session) {
  const auto known = holders_.find(session);
  if (known == holders_.end()) {
    return;
  }
  auto& own = known->second;
  if (is_believed(own) && own.seen.has_left_all(open_.step)) {
    delivered_.insert(*own.seen.computed(open_.step));
    delivered_until_ = heard_ + rules_.floors.late_share;
  }
  own.suspicion.lose();
  if (!own.has_some_of(open_)) {
    forget_lost(known);  // while no step opens, sessions come and go
  }
}

void SlotHolders::forget_lost() {
  for (auto held = holders_.begin(); held != holders_.end();) {
    held = held->second.suspicion.is_lost() ? forget_lost(held) : std::next(held);
  }
}

SlotHolders::Holders::iterator SlotHolders::forget_lost(Holders::iterator held) {
  paces_with(held->second).learn(held->second.seen.known_pace(), {});
  typical_of_all_.learn(held->second.seen.known_pace(), {});
  joined_.clear();
  return holders_.erase(held);
}

HolderNews SlotHolders::heard(SessionId session, const SlotProgress& progress, Micros now) {
  heard_ = now;
  auto& own = holder(session);
  const bool was_suspect = own.suspicion.is_suspect();
  const bool was_leaving = own.seen.is_leaving();
  own.suspicion.find();
  const bool tells_lag = open_.is_observed && !open_.was_slept;
  const auto from = tells_lag ? std::optional(std::max(open_.opened, own.share.given_at())) : std::nullopt;
  const auto known = own.seen.known_pace();
  const bool has_moved = own.seen.heard(progress, open_.step, from, now);
  paces_with(own).learn(known, own.seen.known_pace());
  typical_of_all_.learn(known, own.seen.known_pace());
  if (open_.is_observed && is_believed(own) && own.seen.has_passed(open_.step) &&
      delivered_.count() < rules_.step.slots) {
    delivered_ = SlotSet::full(rules_.step.slots);
    delivered_until_ = now + rules_.floors.late_share;
  }
  if (has_moved && own.suspicion.is_late() && gets_on(session, own)) {
    own.suspicion.excuse();
    expect(own, now);
    counts_.returned += own.suspicion.is_suspect() ? 0 : 1;
  }
  const bool leaves = progress.leaving && !was_leaving;
  const bool has_ended = has_moved && own.seen.in_hand(open_.step) == kNoSlot;
  return {leaves, leaves || has_ended || (was_suspect && !own.suspicion.is_suspect())};
}

// ---- credit

TypicalPace& SlotHolders::paces_with(const SlotHolder& holder) {
  return holder.suspicion.has_credit() ? typical_ : typical_of_others_;
}

// Whether it has credit now, and had none.
template <typename Change>
bool SlotHolders::change_credit(SlotHolder& holder, Change&& change) {
  const bool had_credit = holder.suspicion.has_credit();
  change(holder.suspicion);
  const bool has_credit = holder.suspicion.has_credit();
  if (had_credit != has_credit) {
    const auto& known = holder.seen.known_pace();
    (had_credit ? typical_ : typical_of_others_).learn(known, {});
    paces_with(holder).learn({}, known);
  }
  return !had_credit && has_credit;
}

bool SlotHolders::brought(const std::vector<SessionSlots>& slots, Step end) {
  bool is_new = false;
  for (const auto& entry : slots) {
    const auto known = holders_.find(entry.session);
    if (known == holders_.end() || std::exchange(brought_[entry.session], entry.slots) == entry.slots) {
      continue;
    }
    is_new = change_credit(known->second, [&](Suspicion& own) { own.bring(end); }) || is_new;
  }
  forget_counts(slots);
  some_have_credit_ = some_have_credit_ || is_new;
  return is_new;
}

// Lanes name no more sessions than they remember.
void SlotHolders::forget_counts(const std::vector<SessionSlots>& slots) {
  if (brought_.size() <= 2 * kMaxSessions) {
    return;
  }
  std::map<SessionId, std::uint64_t> named;
  for (const auto& entry : slots) {
    if (const auto counted = brought_.find(entry.session); counted != brought_.end()) {
      named.insert(*counted);
    }
  }
  brought_ = std::move(named);
}

void SlotHolders::rewind() {
  forget_lost();
  for (auto& [session, own] : holders_) {
    own.seen.rewind();
    own.share.rewind();
    own.suspicion.rewind();
  }
  const auto opened = open_.opened;
  open_ = OpenStep(rules_.step.slots);
  open_.opened = opened;
  some_are_left_over_ = false;
  contested_ = SlotSet(rules_.step.slots);
  wanted_ = kNoSlot;
  delivered_ = SlotSet(rules_.step.slots);
}

// What it was told meanwhile it hears now, so nobody is late for it, and nobody has begun as late as it seems.
void SlotHolders::forgive(Micros slept) {
  open_.was_slept = true;
  for (auto& [session, own] : holders_) {
    own.share.forgive(slept);
  }
}

// ---- the open step

void SlotHolders::open_step(Step step, const SlotSet& missing, WantedSlots wanted, const Ranges& standing, Micros now) {
  if (open_.is_observed) {
    for (auto& [session, own] : holders_) {
      change_credit(own, [&](Suspicion& suspicion) { suspicion.close_step(open_.step); });
    }
  }
  forget_lost();
  open_.step = step;
  open_.is_observed = true;
  open_.opened = now;
  open_.missing = missing;
  open_.wanted = std::move(wanted);
  open_.was_slept = false;
  contested_ = SlotSet(rules_.step.slots);
  wanted_ = kNoSlot;
  delivered_ = SlotSet(rules_.step.slots);
  settle_typical();
  take_standing(standing, now);
}

void SlotHolders::observe(const SlotSet& missing, WantedSlots wanted) {
  open_.missing = missing;
  open_.wanted = std::move(wanted);
  forget_covered();
}

void SlotHolders::reopen(const Ranges& standing, Micros now) {
  open_.opened = now;
  if (open_.is_observed) {
    take_standing(standing, now);
  }
}

void SlotHolders::take_standing(const Ranges& standing, Micros now) {
  some_are_left_over_ = false;
  tried_ = SlotSet(rules_.step.slots);
  for (const auto& [session, range] : standing) {
    holder(session);
  }
  for (auto& [session, own] : holders_) {
    const auto range = standing.find(session);
    own.share.begin(range == standing.end() ? SlotRange{} : range->second, own.seen.has_begun(open_.step));
    own.suspicion.open_step(!own.share.empty());
    expect(own, now);
  }
}

void SlotHolders::tell_all() {
  for (auto& [session, own] : holders_) {
    if (!own.share.empty()) {
      own.share.tell();
    }
  }
}

// What another has brought of what was given to two.
void SlotHolders::forget_covered() {
  auto covered = contested_;
  covered.insert(tried_);
  covered.erase(open_.missing);
  if (covered.empty()) {
    return;
  }
  contested_.erase(covered);
  tried_.erase(covered);
  for (auto& held : holders_) {
    const auto& ranges = held.second.share.ranges();
    if (std::ranges::none_of(ranges, [&](SlotRange range) { return covered.contains_some_of(range); })) {
      continue;
    }
    auto dropped = SlotSet(rules_.step.slots);
    for (const auto range : ranges) {
      dropped.insert(range);
    }
    auto kept = dropped;
    kept.erase(covered);
    dropped.erase(kept);
    held.second.erase_begun(open_, dropped);
    for (const auto range : dropped.runs()) {
      withdraw(held, range);
    }
  }
}

// Lanes call nothing of who is out of good standing for a while. If it gives up meanwhile what it has computed, it may
// do so for ever, and the slot that they want is with nobody when they call it.
bool SlotHolders::gets_on(SessionId session, const SlotHolder& holder) const {
  return !(open_.wanted.out_of_standing.contains(session) && holder.seen.has_given_up(open_.step));
}

// ---- giving and taking away

void SlotHolders::give(Held& to, SlotRange range, Micros now) {
  to.second.share.add(range, !to.second.has_left(open_));
  has_given(to, now);
}

void SlotHolders::give_wanted(Held& to, Slot slot, Micros now) {
  auto& own = to.second;
  own.share.add_first({slot, slot + 1});
  own.turn = ++turns_;
  wanted_ = slot;
  wanted_until_ = now + kLateSlots * typical_of_all_.pace_beside(own.seen.known_pace()).slot + rules_.floors.late_share;
  has_given(to, now);
}

void SlotHolders::has_given(Held& to, Micros now) {
  auto& own = to.second;
  if (own.suspicion.is_suspect()) {
    own.turn = ++turns_;
  }
  if (gets_on(to.first, own)) {
    own.suspicion.excuse();
    expect(own, now);
  }
  changed_.insert(to.first);
}

void SlotHolders::give_trial(Held& to, SlotRange range, Micros now) {
  give(to, range, now);
  to.second.share.make_trial();
  to.second.turn = ++turns_;
  tried_.insert(range);
  ++counts_.trials;
}

bool SlotHolders::withdraw(Held& from, SlotRange range) {
  const bool had_some = from.second.share.withdraw(range);
  if (had_some) {
    changed_.insert(from.first);
  }
  return had_some;
}

void SlotHolders::withdraw_from_others(const Held& taker, SlotRange range) {
  for (auto& held : holders_) {
    if (held.first != taker.first && withdraw(held, range) && held.second.suspicion.is_suspect()) {
      held.second.suspicion.relieve();
      ++counts_.relieved;
    }
  }
}

SlotSet SlotHolders::not_delivered(Micros now) const {
  auto slots = open_.missing;
  if (now < delivered_until_) {
    slots.erase(delivered_);
  }
  return slots;
}

SlotSet SlotHolders::unclaimed(const Chosen& counted, Micros now) const {
  auto unclaimed = not_delivered(now);
  for (const auto* held : counted) {
    const auto& own = held->second;
    if (own.share.is_trial()) {
      continue;
    }
    for (const auto range : own.share.ranges()) {
      unclaimed.erase(range);
    }
    own.erase_begun(open_, unclaimed);
  }
  for (const auto& [session, own] : holders_) {
    if (own.seen.is_leaving() && !own.suspicion.is_suspect() && is_believed(own)) {
      own.erase_begun(open_, unclaimed);
    }
  }
  return unclaimed;
}

// ---- who is counted on, and who has nothing left

void SlotHolders::place(const std::vector<SessionId>& sessions) {
  if (sessions == joined_) {
    return;
  }
  for (auto& [session, own] : holders_) {
    own.place = SlotHolder::kNowhere;
  }
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    holder(sessions[i]).place = i;
  }
  joined_ = sessions;
}

void SlotHolders::look_at(const std::vector<SessionId>& sessions, const std::set<SessionId>& silent, Micros now) {
  settle_typical();
  place(sessions);
  some_have_credit_ = false;
  for (auto& [session, own] : holders_) {
    if (!own.takes_part()) {
      continue;
    }
    auto& suspicion = own.suspicion;
    const bool was_suspect = suspicion.is_suspect();
    suspicion.hear_nothing(rules_.redistributes && silent.contains(session));
    const bool is_unpaying = rules_.redistributes && open_.wanted.unpaying.contains(session);
    change_credit(own, [&](Suspicion& its) { its.send_nothing(is_unpaying); });
    some_have_credit_ = some_have_credit_ || suspicion.has_credit();
    // A job's first step begins with nothing known; what the first slots of others show holds for this share as well.
    if (!own.share.is_predicted() && rules_.redistributes && typical().slot > 0) {
      predict(own, now);
    }
    if (suspicion.is_late() || is_overdue(own, now)) {
      // Where nobody with credit is counted on, who is at a trial is, like all others, and late like them.
      const bool is_at_trial = !credit_is_counted_on_ && own.share.is_trial() && own.is_at_work(open_);
      if (is_at_trial || own.is_awaited(open_, session)) {
        suspicion.find_late();
      } else if (is_in_the_way(own)) {
        suspicion.find_late();
        suspicion.relieve();
      } else {
        suspicion.await_nothing();
      }
    }
    counts_.returned += was_suspect && !suspicion.is_suspect() ? 1 : 0;
  }
}

bool SlotHolders::is_overdue(const SlotHolder& holder, Micros now) const {
  const auto& seen = holder.seen;
  const auto& progress = seen.progress();
  const bool is_slot_late = rules_.redistributes && seen.is_known() && seen.in_hand(open_.step) != kNoSlot &&
                            progress.in_hand_for > kLateSlots * progress.slot_time + rules_.floors.late_slot;
  return is_slot_late || now > holder.share.due();
}

void SlotHolders::leave_over(bool some, const Chosen& counted) {
  some_are_left_over_ = some;
  credit_is_counted_on_ = !counted.empty() && counted.front()->second.suspicion.has_credit();
}

// Who hangs at what another has brought takes nothing of what is left over. Beside those with credit who has none is
// not counted on, and so in nobody's way.
bool SlotHolders::is_in_the_way(const SlotHolder& holder) const {
  const bool is_counted_on = holder.suspicion.has_credit() || !credit_is_counted_on_;
  return some_are_left_over_ && is_counted_on && holder.seen.in_hand(open_.step) != kNoSlot;
}

SlotHolders::Chosen SlotHolders::counted() {
  Chosen counted;
  const auto take = [&](auto is_counted) {
    for (auto& held : holders_) {
      if (held.second.takes_part() && is_counted(held)) {
        counted.push_back(&held);
      }
    }
    return !counted.empty();
  };
  // That it is silent does not hold for long: it is heard of, or lost. Until then nothing of it goes to those who have
  // brought nothing: they would have it whenever all others are silent for a moment.
  const auto is_only_silent = [](const Held& held) {
    const auto& suspicion = held.second.suspicion;
    return suspicion.has_credit() && suspicion.is_silent() && !suspicion.is_late() && !suspicion.is_lost() &&
           !held.second.seen.is_leaving();
  };
  const auto is_trusted = [](const Held& held) {
    return !held.second.suspicion.is_suspect() && !held.second.seen.is_leaving();
  };
  const auto is_free = [&](const Held& held) {
    const auto& own = held.second;
    return !own.suspicion.is_silent() && !own.seen.is_leaving() && !own.is_awaited(open_, held.first);
  };
  if (take([](const Held& held) { return held.second.keeps_share(); }) || take(is_only_silent) || take(is_trusted) ||
      take(is_free)) {
    return counted;
  }
  take([](const Held& /*held*/) { return true; });
  return counted;
}

// Who would be through first comes first. But of those that are suspected, where nobody else is left, each has its
// turn: two that hang would have what others bring a little later from each other for ever.
SlotHolders::Chosen SlotHolders::idle(const Chosen& counted, Micros now) const {
  std::vector<std::tuple<std::uint64_t, Micros, std::size_t, Held*>> by_end;
  for (auto* const held : counted) {
    const auto& own = held->second;
    if (own.seen.in_hand(open_.step) == kNoSlot && !own.has_left(open_)) {
      const auto turn = own.suspicion.is_suspect() ? own.turn : 0;
      by_end.emplace_back(turn, more(own, now).end_of_one(), own.place, held);
    }
  }
  std::ranges::sort(by_end);
  Chosen idle;
  std::ranges::transform(by_end, std::back_inserter(idle), [](const auto& each) { return std::get<Held*>(each); });
  return idle;
}

SlotHolders::Chosen SlotHolders::in_turns(const Chosen& counted) {
  Chosen in_turns;
  const auto add = [&](Held& held) {
    const auto& own = held.second;
    if (own.seen.has_given_up(open_.step) && own.takes_part() && !own.seen.is_leaving() && !own.share.is_trial()) {
      in_turns.push_back(&held);
    }
  };
  std::ranges::for_each(counted, [&](Held* held) { add(*held); });
  for (const bool with_credit : {true, false}) {
    if (keep_shares(counted) || (!with_credit && !in_turns.empty())) {
      break;
    }
    for (auto& held : holders_) {
      const auto& suspicion = held.second.suspicion;
      if (suspicion.has_credit() == with_credit && !suspicion.is_silent() &&
          std::ranges::find(counted, &held) == counted.end()) {
        add(held);
      }
    }
  }
  return in_turns;
}

bool SlotHolders::keep_shares(const Chosen& counted) {
  return !counted.empty() && counted.front()->second.keeps_share();
}

void SlotHolders::keep_in_turn(SlotSet& unclaimed, const Chosen& counted, Micros now) const {
  if (wanted_ != kNoSlot && now < wanted_until_ && !keep_shares(counted)) {
    unclaimed.erase({wanted_, wanted_ + 1});
  }
}

SlotHolders::Chosen SlotHolders::untried(const Chosen& counted) {
  Chosen untried;
  if (counted.empty() || !counted.front()->second.suspicion.has_credit()) {
    return untried;
  }
  for (auto& held : holders_) {
    const auto& own = held.second;
    if (own.takes_part() && !own.suspicion.has_credit() && !own.suspicion.is_silent() && !own.seen.is_leaving() &&
        own.share.empty() && !own.share.had_trial()) {
      untried.push_back(&held);
    }
  }
  std::ranges::sort(untried, {}, [](const Held* held) { return held->second.turn; });
  return untried;
}

bool SlotHolders::is_waited_for(const Held& held) const {
  return !held.second.suspicion.is_suspect() && held.second.is_awaited(open_, held.first);
}

bool SlotHolders::some_are_waited_for(const Chosen& counted) const {
  return std::ranges::any_of(counted, [&](const Held* held) { return is_waited_for(*held); });
}

// Whoever is waited for comes to have nothing left, or is late and no longer counted on. Of a trial nobody knows.
SlotHolders::Chosen SlotHolders::takers(const Chosen& idle, const Chosen& counted) const {
  const auto is_good = [&](const Held* held) { return !open_.wanted.out_of_standing.contains(held->first); };
  Chosen good;
  std::ranges::copy_if(idle, std::back_inserter(good), is_good);
  const bool some_good_will = std::ranges::any_of(counted, [&](const Held* held) {
    return is_good(held) && !held->second.share.is_trial() && is_waited_for(*held);
  });
  return good.empty() && !some_good_will ? idle : good;
}

// ---- predictions

void SlotHolders::settle_typical() {
  typical_of_all_.settle();
  typical_.settle();
  typical_of_others_.settle();
}

void SlotHolders::expect(SlotHolder& holder, Micros now) const {
  holder.share.give(now);
  predict(holder, now);
}

void SlotHolders::predict(SlotHolder& holder, Micros now) const {
  const auto end = ahead(holder).end();
  const bool is_predicted = rules_.redistributes && typical().slot > 0;
  const auto predicted = kLateSlots * (end - std::min(now, end)) + rules_.floors.late_share;
  const auto until = is_predicted ? std::min(predicted, longest_wait(holder)) : rules_.late;
  holder.share.expect(now + until, is_predicted);
}

// What a session tells of itself must not let all others wait: no longer than for an ordinary one of them in its place,
// with credit or without: those that have some may be a single one.
Micros SlotHolders::longest_wait(const SlotHolder& holder) const {
  const auto others = typical_of_all_.pace_beside(holder.seen.known_pace());
  const EndPrediction ordinary(others, rules_.step);
  auto end = others.lag;
  for (const auto range : holder.share.ranges()) {
    end = ordinary.end(range, range.begin, end, end);
  }
  return std::max(rules_.late, kLateSlots * end + rules_.floors.late_share);
}

WorkAhead SlotHolders::ahead(const SlotHolder& holder) const { return {holder, open_, rules_.step, typical()}; }

MoreWork SlotHolders::more(const SlotHolder& taker, Micros now) const {
  return {taker, open_, rules_.step, typical(), now};
}

}  // namespace ballast
