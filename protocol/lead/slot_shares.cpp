#include "protocol/lead/slot_shares.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "protocol/lead/slot_division.h"
#include "protocol/tree.h"

namespace ballast {

namespace {

constexpr Micros kGainOfSlot = 10;        // slots go to another session if that gains a tenth of one
constexpr Micros kLateSlots = 3;          // of a session's slots, or of what was predicted of its share
constexpr std::uint32_t kMostMisses = 3;  // then a session keeps no share
constexpr Step kTrialEvery = 16;          // steps in which a session without a share gets a slot

SlotSet set_of(const std::vector<SlotRange>& ranges, Slot slots) {
  SlotSet set(slots);
  for (const auto range : ranges) {
    set.insert(range);
  }
  return set;
}

// The upper one; 0: there is none.
template <typename T>
T median_of(std::vector<T>& values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

bool SlotShares::Member::keeps_share() const { return !is_suspect() && misses < kMostMisses && !seen.is_leaving(); }

// ---- sessions

SlotShares::Member& SlotShares::member(SessionId session) {
  return members_.try_emplace(session, rules_.step.slots).first->second;
}

const SlotSession* SlotShares::session(SessionId session) const {
  const auto known = members_.find(session);
  return known == members_.end() || known->second.is_lost ? nullptr : &known->second.seen;
}

// It is not counted on. If it was given up by mistake, it goes on with its share when it is back in this step.
void SlotShares::lose(SessionId session) {
  standing_.lose(session);
  const auto known = members_.find(session);
  if (known == members_.end()) {
    return;
  }
  if (known->second.seen.has_left_all(open_)) {
    delivered_.insert(*known->second.seen.computed(open_));
    delivered_until_ = heard_ + rules_.floors.late_share;
  }
  known->second.is_lost = true;
}

void SlotShares::rewind() {
  standing_.rewind();
  std::erase_if(members_, [](const auto& member) { return member.second.is_lost; });
  for (auto& [session, member] : members_) {
    member.seen.rewind();
    member.share.clear();
    member.is_told = false;
    member.is_late = false;
    member.was_late = false;
    member.has_brought = false;
    member.is_relieved = false;
  }
  missing_ = SlotSet(rules_.step.slots);
  contested_ = SlotSet(rules_.step.slots);
  delivered_ = SlotSet(rules_.step.slots);
  observed_ = false;
  open_ = 0;
  decided_until_ = 0;
}

bool SlotShares::heard(SessionId session, const SlotProgress& progress, Micros now) {
  heard_ = now;
  auto& own = member(session);
  const bool was_suspect = own.is_suspect();
  const bool was_leaving = own.seen.is_leaving();
  own.is_lost = false;
  const auto from = observed_ ? std::optional(std::max(opened_, own.given_at)) : std::nullopt;
  const bool has_moved = own.seen.heard(progress, open_, from, now);
  if (observed_ && own.seen.has_passed(open_) && delivered_ != SlotSet::full(rules_.step.slots)) {
    delivered_ = SlotSet::full(rules_.step.slots);
    delivered_until_ = now + rules_.floors.late_share;
  }
  if (has_moved && own.is_late) {
    own.is_late = false;
    own.is_relieved = false;
    expect(own, now);
    counts_.returned += own.is_suspect() ? 0 : 1;
  }
  if (progress.leaving && !was_leaving) {
    decided_until_ = std::min(decided_until_, open_ + 1);  // without it
  }
  const auto* computed = own.seen.computed(open_);
  own.has_brought = own.has_brought || (computed != nullptr && !computed->empty());
  return (was_suspect && !own.is_suspect()) || (progress.leaving && !was_leaving) ||
         (has_moved && own.seen.in_hand(open_) == kNoSlot);
}

std::string SlotShares::held_up(SessionId session) const {
  const auto known = members_.find(session);
  if (known == members_.end() || known->second.is_lost ||
      !(known->second.is_suspect() || known->second.misses >= kMostMisses)) {
    return {};
  }
  const auto& member = known->second;
  const auto& progress = member.seen.progress();
  if (member.is_silent) {
    return "it is silent";
  }
  if (member.is_late && progress.in_hand != kNoSlot) {
    return "slot " + std::to_string(progress.in_hand) + " of step " + std::to_string(progress.step) + " takes " +
           std::to_string(progress.in_hand_for / 1000) + " ms, one of its slots " +
           std::to_string(progress.slot_time / 1000) + " ms";
  }
  return member.is_late ? "it brings nothing of its share of step " + std::to_string(open_)
                        : "it brought nothing of its share of " + std::to_string(member.misses) + " steps in a row";
}

// ---- division

void SlotShares::divide(const std::vector<SessionId>& sessions, Step from) {
  find_typical();
  begin_division(divided(sessions), from);
}

StandingRanges::Ranges SlotShares::divided(const std::vector<SessionId>& sessions) const {
  std::vector<SessionId> takers;
  std::ranges::copy_if(sessions, std::back_inserter(takers), [&](SessionId session) {
    const auto known = members_.find(session);
    return known == members_.end() || known->second.keeps_share();
  });
  if (takers.empty()) {
    takers = sessions;
  }
  StandingRanges::Ranges ranges;
  if (takers.empty()) {
    return ranges;
  }
  auto typical = typical_;
  typical.slot = std::max<Micros>(typical.slot, 1);
  std::vector<SessionPace> paces;
  std::vector<SlotRange> present;
  for (const auto session : takers) {
    const auto* seen = this->session(session);
    const auto pace = seen == nullptr ? typical : seen->pace(typical);
    paces.push_back(rules_.by_speed ? pace : SessionPace{0, typical.slot, 0});
    if (const auto kept = standing_.newest().find(session); kept != standing_.newest().end()) {
      present.push_back(kept->second);
    }
  }
  const bool are_same = present.size() == takers.size();
  const auto divided = divide_slots(rules_.step, paces, are_same ? &present : nullptr);
  for (const auto session : sessions) {
    ranges[session] = {};
  }
  for (std::size_t i = 0; i < takers.size(); ++i) {
    ranges[takers[i]] = divided[i];
  }
  return ranges;
}

// By what is known when the first session has nothing left of the step before: late enough to be true, and early enough
// for all to hear of it before they begin.
void SlotShares::decide_next(const std::vector<SessionId>& sessions, Step limit) {
  const auto next = open_ + 1;
  if (!rules_.by_speed || decided_until_ > next || next >= limit) {
    return;
  }
  decided_until_ = next + 1;
  if (auto ranges = divided(sessions); ranges != standing_.newest()) {
    begin_division(std::move(ranges), next);
  }
}

// Orders name the newest division alone: until it holds, they name each session's share of the open step as well.
void SlotShares::begin_division(StandingRanges::Ranges ranges, Step from) {
  standing_.divide(std::move(ranges), from);
  decided_until_ = from + 1;
  for (auto& [session, member] : members_) {
    member.is_told = member.is_told || (observed_ && from > open_ && !member.share.empty());
  }
}

// ---- the open step

void SlotShares::observe(Step open, const SlotSet& missing, Micros now) {
  const bool is_new = !observed_ || open != open_;
  missing_ = missing;
  if (is_new) {
    open_step(open, now);
  } else {
    forget_covered();
  }
}

void SlotShares::open_step(Step open, Micros now) {
  if (observed_) {
    close_step();
  }
  std::erase_if(members_, [](const auto& member) { return member.second.is_lost; });
  observed_ = true;
  open_ = open;
  opened_ = now;
  standing_.forget_before(open);
  contested_ = SlotSet(rules_.step.slots);
  delivered_ = SlotSet(rules_.step.slots);
  find_typical();
  take_standing(now);
}

void SlotShares::close_step() {
  for (auto& [session, member] : members_) {
    if (std::exchange(member.has_brought, false)) {
      member.misses = 0;
    } else if (member.was_late) {
      member.misses = std::min(member.misses + 1, kMostMisses);
    }
    member.was_late = member.is_late;
  }
}

void SlotShares::reopen(Micros now) {
  opened_ = now;
  if (observed_) {
    take_standing(now);
  }
}

void SlotShares::take_standing(Micros now) {
  for (const auto& [session, range] : standing_.at(open_)) {
    member(session);
  }
  for (auto& [session, member] : members_) {
    const auto range = standing_.at(open_).find(session);
    member.share.clear();
    if (range != standing_.at(open_).end() && !range->second.empty()) {
      member.share.push_back(range->second);
    }
    // Who was told of another share and has not come here yet would go by its standing range there.
    member.is_told = member.is_told && !member.seen.has_begun(open_);
    member.is_trial = false;
    member.had_trial = false;
    member.is_relieved = false;
    member.is_late = member.is_late && !member.share.empty();
    expect(member, now);
  }
}

void SlotShares::expect(Member& member, Micros now) const {
  member.given_at = now;
  predict(member, now);
}

void SlotShares::predict(Member& member, Micros now) const {
  const auto ahead = this->ahead(member);
  const auto end = end_of(member, ahead, 0);
  member.is_predicted = rules_.redistributes && typical_.slot > 0;
  member.due =
      now + (member.is_predicted ? kLateSlots * (end - std::min(now, end)) + rules_.floors.late_share : rules_.late);
}

// What another has brought of what was given to two.
void SlotShares::forget_covered() {
  auto covered = contested_;
  covered.erase(missing_);
  if (covered.empty()) {
    return;
  }
  contested_.erase(covered);
  for (auto& [session, member] : members_) {
    auto dropped = set_of(member.share, rules_.step.slots);
    auto kept = dropped;
    kept.erase(covered);
    dropped.erase(kept);
    dropped.erase(begun(member));
    for (const auto range : dropped.runs()) {
      withdraw(session, range);
    }
  }
}

std::optional<StepWork> SlotShares::now(SessionId session) const {
  const auto known = members_.find(session);
  if (!observed_ || known == members_.end() || !known->second.is_told) {
    return std::nullopt;
  }
  return StepWork{open_, known->second.share};
}

void SlotShares::give(SessionId session, SlotRange range, Micros now) {
  auto& own = members_.at(session);
  if (left(own).empty()) {
    own.share.clear();
  }
  own.share.push_back(range);
  own.is_told = true;
  own.is_trial = false;
  own.is_late = false;
  own.is_relieved = false;
  expect(own, now);
  changed_.insert(session);
}

bool SlotShares::withdraw(SessionId session, SlotRange range) {
  auto& own = members_.at(session);
  std::vector<SlotRange> share;
  for (const auto each : own.share) {
    const SlotRange before{each.begin, std::min(each.end, range.begin)};
    const SlotRange after{std::max(each.begin, range.end), each.end};
    for (const auto part : {before, after}) {
      if (!part.empty()) {
        share.push_back(part);
      }
    }
  }
  if (share == own.share) {
    return false;
  }
  own.share = std::move(share);
  own.is_told = true;
  changed_.insert(session);
  return true;
}

// ---- who is counted on, and who has nothing left

SlotSet SlotShares::begun(const Member& member) const {
  const auto* computed = member.seen.computed(open_);
  auto begun = computed == nullptr ? SlotSet(rules_.step.slots) : *computed;
  if (const auto slot = member.seen.in_hand(open_); slot != kNoSlot) {
    begun.insert({slot, slot + 1});
  }
  return begun;
}

// Of its share, what is missing and not begun.
SlotSet SlotShares::left(const Member& member) const {
  if (member.seen.has_passed(open_)) {
    return SlotSet(rules_.step.slots);
  }
  auto left = set_of(member.share, rules_.step.slots);
  left.erase(begun(member));
  auto covered = left;
  covered.erase(missing_);
  left.erase(covered);
  return left;
}

// The medians of what is known of all. Without them a newcomer, of whose link nothing is known, would be the fastest of
// all where slots are short and the sums large, and get nearly every slot.
void SlotShares::find_typical() {
  std::vector<Micros> lags;
  std::vector<Micros> slots;
  std::vector<double> ups;
  for (const auto& [session, member] : members_) {
    const auto pace = member.seen.pace({});
    if (member.seen.is_lag_known()) {
      lags.push_back(pace.lag);
    }
    if (pace.slot > 0) {
      slots.push_back(pace.slot);
    }
    if (pace.up > 0) {
      ups.push_back(pace.up);
    }
  }
  typical_.lag = lags.empty() ? typical_.lag : median_of(lags);
  typical_.slot = slots.empty() ? typical_.slot : median_of(slots);
  typical_.up = ups.empty() ? typical_.up : median_of(ups);
}

// Something is missing of its share, or of what it has begun, which nobody else brings while it is counted on.
bool SlotShares::is_awaited(const Member& member) const {
  if (member.is_trial) {
    return false;
  }
  auto brought = begun(member);
  brought.insert(set_of(member.share, rules_.step.slots));
  auto left = brought;
  left.erase(missing_);
  return left != brought;
}

bool SlotShares::is_late(const Member& member, Micros now) const {
  const auto& progress = member.seen.progress();
  const bool is_slot_late = rules_.redistributes && member.seen.is_known() && member.seen.in_hand(open_) != kNoSlot &&
                            progress.in_hand_for > kLateSlots * progress.slot_time + rules_.floors.late_slot;
  return is_slot_late || now > member.due;
}

void SlotShares::look_at(const std::vector<SessionId>& sessions, const std::set<SessionId>& silent, Micros now) {
  find_typical();
  for (const auto session : sessions) {
    auto& own = member(session);
    const bool was_suspect = own.is_suspect();
    own.is_silent = rules_.redistributes && silent.contains(session);
    // A job's first step begins with nothing known; what the first slots of others show holds for this share as well.
    if (!own.is_predicted && rules_.redistributes && typical_.slot > 0) {
      predict(own, now);
    }
    if (!is_awaited(own)) {
      own.is_late = own.is_late && own.is_relieved;
    } else if (!own.is_late && is_late(own, now)) {
      own.is_late = true;
      own.was_late = true;
    }
    counts_.returned += was_suspect && !own.is_suspect() ? 1 : 0;
  }
}

// Those that keep a share; where nobody does, those that are not suspected; where all are, those of whom nothing is
// awaited any more: otherwise what a hung session has would wait for it, because another was late once.
std::vector<SessionId> SlotShares::counted(const std::vector<SessionId>& sessions) const {
  std::vector<SessionId> counted;
  const auto take = [&](auto is_counted) {
    std::ranges::copy_if(sessions, std::back_inserter(counted),
                         [&](SessionId session) { return is_counted(members_.at(session)); });
    return !counted.empty();
  };
  const auto is_free = [&](const Member& each) {
    return !each.is_silent && !each.seen.is_leaving() && !is_awaited(each);
  };
  if (take([](const Member& each) { return each.keeps_share(); }) ||
      take([](const Member& each) { return !each.is_suspect() && !each.seen.is_leaving(); }) || take(is_free)) {
    return counted;
  }
  return sessions;
}

// The fastest first.
std::vector<SessionId> SlotShares::idle(const std::vector<SessionId>& counted) const {
  std::vector<SessionId> idle;
  for (const auto session : counted) {
    const auto& own = members_.at(session);
    if (own.seen.in_hand(open_) == kNoSlot && left(own).empty()) {
      idle.push_back(session);
    }
  }
  std::ranges::stable_sort(idle, {}, [&](SessionId session) { return members_.at(session).seen.pace(typical_).slot; });
  return idle;
}

// ---- handing out

void SlotShares::hand_out(const std::vector<SessionId>& sessions, const std::set<SessionId>& silent, Step limit,
                          Micros now) {
  if (sessions.empty() || !observed_ || open_ >= limit || missing_.empty()) {
    return;
  }
  look_at(sessions, silent, now);
  const auto counted = this->counted(sessions);
  auto takers = idle(counted);
  if (!takers.empty()) {
    decide_next(sessions, limit);
  }
  if (not_delivered(now).empty()) {
    return;
  }
  if (!takers.empty()) {
    occupy(std::move(takers), counted, now);
  }
  begin_trials(sessions, now);
}

// Missing, as far as it is known: for a while shards owe the report of what sessions are known to have brought.
SlotSet SlotShares::not_delivered(Micros now) const {
  auto slots = missing_;
  if (now < delivered_until_) {
    slots.erase(delivered_);
  }
  return slots;
}

void SlotShares::occupy(std::vector<SessionId> takers, const std::vector<SessionId>& counted, Micros now) {
  auto unclaimed = this->unclaimed(counted, now);
  std::erase_if(takers, [&](SessionId taker) {
    const bool takes = !unclaimed.empty();
    if (takes) {
      take_unclaimed(taker, unclaimed, counted.size(), now);
    }
    return takes;
  });
  if (rules_.redistributes && !takers.empty()) {
    take_tails(takers, counted, now);
    copy_slots(takers, counted, now);
  }
}

// A session that has no share, and is given none, would never be found out to have become fast enough for one.
void SlotShares::begin_trials(const std::vector<SessionId>& sessions, Micros now) {
  const auto& standing = standing_.at(open_);
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    auto& own = members_.at(sessions[i]);
    const auto range = standing.find(sessions[i]);
    const bool has_none = range == standing.end() || range->second.empty();
    if (!has_none || !own.share.empty() || own.had_trial || !rules_.by_speed || (open_ + i) % kTrialEvery != 0) {
      continue;
    }
    const auto runs = missing_.runs();
    const auto last = runs.back().end;
    give(sessions[i], {last - 1, last}, now);
    own.is_trial = true;
    own.had_trial = true;
    ++counts_.trials;
    contested_.insert({last - 1, last});
  }
}

// Missing slots that nobody who is counted on is to bring.
SlotSet SlotShares::unclaimed(const std::vector<SessionId>& counted, Micros now) const {
  auto unclaimed = not_delivered(now);
  for (const auto session : counted) {
    const auto& own = members_.at(session);
    if (own.is_trial) {
      continue;
    }
    for (const auto range : own.share) {
      unclaimed.erase(range);
    }
    unclaimed.erase(begun(own));
  }
  for (const auto& [session, member] : members_) {
    if (member.seen.is_leaving() && !member.is_suspect()) {
      unclaimed.erase(begun(member));
    }
  }
  return unclaimed;
}

// Their last ones, cut where that makes fewer nodes: who was to bring them may come back, and begins with the first.
void SlotShares::take_unclaimed(SessionId taker, SlotSet& unclaimed, std::size_t among, Micros now) {
  const auto run = unclaimed.runs().back();
  const auto fair = static_cast<Slot>((unclaimed.count() + among - 1) / among);
  const auto most = std::min(fair, run.size());
  SlotRange best{run.end - most, run.end};
  for (Slot begin = best.begin + 1; begin + std::max<Slot>(1, (most + 1) / 2) <= run.end; ++begin) {
    if (tree::nodes_in({begin, run.end}, rules_.step.slots) < tree::nodes_in(best, rules_.step.slots)) {
      best.begin = begin;
    }
  }
  for (auto& [session, member] : members_) {
    if (session != taker) {
      const bool is_relieved = withdraw(session, best) && member.is_suspect();
      member.is_relieved = member.is_relieved || (is_relieved && member.is_late);
      counts_.relieved += is_relieved ? 1 : 0;
    }
  }
  give(taker, best, now);
  unclaimed.erase(best);
  contested_.insert(best);
  counts_.reassigned += best.size();
}

// Each taker, the fastest first, takes from the share that ends last; what the fastest cannot gain by, no other can.
void SlotShares::take_tails(std::vector<SessionId>& takers, const std::vector<SessionId>& counted, Micros now) {
  std::priority_queue<Tail> tails;
  const auto add = [&](SessionId session) {
    const auto& own = members_.at(session);
    if (!own.is_trial && own.seen.is_known() && !left(own).empty()) {
      tails.push({end_of(own, ahead(own), 0), session});
    }
  };
  std::ranges::for_each(counted, add);
  std::size_t done = 0;
  for (; done < takers.size() && !tails.empty(); ++done) {
    const auto holder = tails.top().session;
    if (!take_tail(takers[done], holder, now)) {
      break;
    }
    tails.pop();
    add(holder);
    add(takers[done]);
  }
  takers.erase(takers.begin(), takers.begin() + static_cast<std::ptrdiff_t>(done));
}

// As many of its last slots as make both end at the same time, if that gains enough.
bool SlotShares::take_tail(SessionId taker, SessionId holder, Micros now) {
  const auto& from = members_.at(holder);
  const auto& to = members_.at(taker);
  const auto pace = to.seen.pace(typical_);
  const EndPrediction of_taker(pace, rules_.step);
  const auto ahead = this->ahead(from);
  const auto& last = ahead.parts.back();
  const auto begin = start_of(to, now);
  const auto free = std::max(begin, to.seen.uplink_free());
  const auto gain = std::max(rules_.floors.gain, pace.slot / kGainOfSlot);
  auto best = end_of(from, ahead, 0);
  best -= std::min(best, gain);
  Slot taken = 0;
  for (Slot count = 1; count <= last.run.end - last.next; ++count) {
    const SlotRange tail{last.run.end - count, last.run.end};
    if (begin_of(from, ahead, tail.begin) < now + rules_.floors.gain) {
      break;  // its holder may have begun it before it hears of this
    }
    const auto end = std::max(of_taker.end(tail, tail.begin, begin, free), end_of(from, ahead, count));
    if (end < best) {
      best = end;
      taken = count;
    }
  }
  if (taken == 0) {
    return false;
  }
  const SlotRange tail{last.run.end - taken, last.run.end};
  withdraw(holder, tail);
  give(taker, tail, now);
  counts_.taken += taken;
  return true;
}

// A slot in hand elsewhere, where it would arrive sooner from here: its holder goes on with it as well.
void SlotShares::copy_slots(const std::vector<SessionId>& takers, const std::vector<SessionId>& counted, Micros now) {
  for (const auto taker : takers) {
    const auto& to = members_.at(taker);
    const auto pace = to.seen.pace(typical_);
    const auto begin = start_of(to, now);
    SessionId holder = 0;
    Micros most = rules_.floors.gain;
    for (const auto session : counted) {
      const auto& own = members_.at(session);
      const auto slot = own.seen.in_hand(open_);
      if (session == taker || own.is_trial || slot == kNoSlot || !own.seen.is_known() || contested_.contains(slot) ||
          !missing_.contains(slot)) {
        continue;
      }
      const auto its = own.seen.progress().slot_time;
      const auto theirs = std::max(own.seen.in_hand_since() + its, now + its / 2);
      const SlotRange copy{slot, slot + 1};
      const auto mine = EndPrediction(pace, rules_.step).end(copy, slot, begin, std::max(begin, to.seen.uplink_free()));
      if (mine < theirs && theirs - mine > most) {
        most = theirs - mine;
        holder = session;
      }
    }
    if (holder == 0) {
      return;
    }
    const auto slot = members_.at(holder).seen.in_hand(open_);
    withdraw(holder, {slot, slot + 1});
    give(taker, {slot, slot + 1}, now);
    contested_.insert({slot, slot + 1});
    ++counts_.copied;
  }
}

// ---- predictions

SlotShares::Ahead SlotShares::ahead(const Member& member) const {
  const auto pace = member.seen.pace(typical_);
  const auto in_hand = member.seen.in_hand(open_);
  // It gets on between its heartbeats: as if it stood still since the last one, it would lose what it does meanwhile.
  const auto known_at = std::max({member.seen.heard_at(), member.given_at, opened_});
  Ahead ahead{{}, known_at, std::max(known_at, member.seen.uplink_free())};
  if (in_hand != kNoSlot) {
    ahead.begin = std::max(member.seen.heard_at(), member.seen.in_hand_since() + pace.slot);
  } else if (!member.seen.has_begun(open_)) {
    ahead.begin = std::max(member.seen.heard_at(), opened_ + pace.lag);
  }
  const auto left = this->left(member);
  for (const auto range : member.share) {
    auto next = range.begin;
    while (next < range.end && !left.contains(next)) {
      ++next;
    }
    if (next == range.end) {
      continue;
    }
    // Nodes that end before it have left.
    auto run = range;
    for (auto node = tree::first_node(run, rules_.step.slots); node.end <= next;
         node = tree::first_node(run, rules_.step.slots)) {
      run.begin = node.end;
    }
    ahead.parts.push_back({run, next});
  }
  return ahead;
}

// When its share will have left, `without` slots at the end of the last part taken away.
Micros SlotShares::end_of(const Member& member, const Ahead& ahead, Slot without) const {
  const auto pace = member.seen.pace(typical_);
  const EndPrediction prediction(pace, rules_.step);
  auto begin = ahead.begin;
  auto free = ahead.uplink_free;
  for (const auto& part : ahead.parts) {
    auto run = part.run;
    if (&part == &ahead.parts.back()) {
      run.end = std::max(run.end - without, part.next);
    }
    if (run.empty()) {
      continue;
    }
    free = std::max(free, prediction.end(run, part.next, begin, free));
    begin += pace.slot * (run.end - part.next);
  }
  return std::max(begin, free);
}

// When it begins a slot of the last part that it has ahead.
Micros SlotShares::begin_of(const Member& member, const Ahead& ahead, Slot slot) const {
  const auto before = std::accumulate(ahead.parts.begin(), ahead.parts.end() - 1, slot - ahead.parts.back().next,
                                      [](Slot sum, const Part& part) { return sum + part.run.end - part.next; });
  return ahead.begin + before * member.seen.pace(typical_).slot;
}

// When an idle session can begin with what it is given.
Micros SlotShares::start_of(const Member& taker, Micros now) const {
  return taker.seen.has_begun(open_) ? now : now + taker.seen.pull_time(rules_.step, typical_);
}

}  // namespace ballast
