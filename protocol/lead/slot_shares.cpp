#include "protocol/lead/slot_shares.h"

#include <algorithm>
#include <utility>

#include "protocol/lead/slot_division.h"
#include "protocol/lead/slot_moves.h"

namespace ballast {

namespace {

constexpr Step kTrialEvery = 16;  // steps in which a session without a share gets a slot

}  // namespace

// ---- sessions

const SlotSession* SlotShares::session(SessionId session) const {
  const auto* known = holders_.find(session);
  return known == nullptr || known->suspicion.is_lost() ? nullptr : &known->seen;
}

void SlotShares::lose(SessionId session) {
  standing_.lose(session);
  holders_.lose(session);
}

void SlotShares::rewind() {
  standing_.rewind();
  holders_.rewind();
  decided_until_ = 0;
}

bool SlotShares::heard(SessionId session, const SlotProgress& progress, Micros now) {
  const auto news = holders_.heard(session, progress, now);
  if (news.leaves) {
    decided_until_ = std::min(decided_until_, open() + 1);  // without it
  }
  return news.frees;
}

std::string SlotShares::held_up(SessionId session) const {
  const auto* known = holders_.find(session);
  return known == nullptr ? std::string() : known->suspicion.why(known->seen.progress(), open());
}

// ---- division

void SlotShares::divide(const std::vector<SessionId>& sessions, Step from) {
  holders_.settle_typical();
  auto ranges = divided(sessions);
  if (standing_.empty() || ranges != standing_.at(from) || ranges != standing_.newest()) {
    begin_division(std::move(ranges), from);
  }
}

void SlotShares::brought(const std::vector<SessionSlots>& slots, Step end) {
  if (holders_.brought(slots, end)) {
    decided_until_ = std::min(decided_until_, open() + 1);  // without it
    divides_anew_ = true;
  }
}

// Those that keep a share; where nobody does, those that have credit all the same; where nobody has, those that are not
// suspected; where all are, all. Whoever leaves computes nothing more, and has no share however few others there are.
std::vector<SessionId> SlotShares::takers_of(const std::vector<SessionId>& sessions) const {
  std::vector<SessionId> takers;
  const auto take = [&](auto is_taker) {
    std::ranges::copy_if(sessions, std::back_inserter(takers),
                         [&](SessionId session) { return is_taker(holders_.find(session)); });
    return !takers.empty();
  };
  const auto keeps_share = [](const SlotHolder* known) { return known != nullptr && known->keeps_share(); };
  const auto has_credit = [](const SlotHolder* known) {
    return known != nullptr && known->suspicion.has_credit() && !known->seen.is_leaving();
  };
  const auto is_trusted = [](const SlotHolder* known) {
    return known == nullptr || !(known->suspicion.is_suspect() || known->seen.is_leaving());
  };
  const auto stays = [](const SlotHolder* known) { return known == nullptr || !known->seen.is_leaving(); };
  if (!(take(keeps_share) || take(has_credit) || take(is_trusted))) {
    take(stays);
  }
  return takers;
}

StandingRanges::Ranges SlotShares::divided(const std::vector<SessionId>& sessions) const {
  const auto& rules = holders_.rules();
  const auto takers = takers_of(sessions);
  StandingRanges::Ranges ranges;
  if (takers.empty()) {
    return ranges;
  }
  auto typical = holders_.typical();
  typical.slot = std::max<Micros>(typical.slot, 1);
  std::vector<SessionPace> paces;
  std::vector<SlotRange> present;
  for (const auto session : takers) {
    const auto* seen = this->session(session);
    const auto pace = seen == nullptr ? typical : seen->pace(typical);
    paces.push_back(rules.by_speed ? pace : SessionPace{0, typical.slot, 0});
    if (const auto kept = standing_.newest().find(session); kept != standing_.newest().end()) {
      present.push_back(kept->second);
    }
  }
  const bool are_same = present.size() == takers.size();
  const auto divided = divide_slots(rules.step, paces, are_same ? &present : nullptr);
  for (std::size_t i = 0; i < takers.size(); ++i) {
    ranges[takers[i]] = divided[i];
  }
  return ranges;
}

// By what is known when the first session has nothing left of the step before: late enough to be true, and early enough
// for all to hear of it before they begin.
void SlotShares::decide_next(const std::vector<SessionId>& sessions, Step limit) {
  const auto next = open() + 1;
  if (!(holders_.rules().by_speed || divides_anew_) || decided_until_ > next || next >= limit) {
    return;
  }
  decided_until_ = next + 1;
  divides_anew_ = false;
  if (auto ranges = divided(sessions); ranges != standing_.newest()) {
    begin_division(std::move(ranges), next);
  }
}

// Orders name the newest division alone: until it holds, they name each session's share of the open step as well.
void SlotShares::begin_division(StandingRanges::Ranges ranges, Step from) {
  standing_.divide(std::move(ranges), from);
  decided_until_ = from + 1;
  if (observed() && from > open()) {
    holders_.tell_all();
  }
}

// ---- the open step

void SlotShares::observe(Step step, const SlotSet& lacking, WantedSlots wanted, Micros now) {
  if (observed() && step == open()) {
    return holders_.observe(lacking, std::move(wanted));
  }
  standing_.forget_before(step);
  holders_.open_step(step, lacking, std::move(wanted), standing_.at(step), now);
}

std::optional<StepWork> SlotShares::now(SessionId session) const {
  const auto* known = holders_.find(session);
  if (!observed() || known == nullptr || !known->share.is_told()) {
    return std::nullopt;
  }
  return StepWork{open(), known->share.ranges()};
}

// ---- handing out

void SlotShares::hand_out(const std::vector<SessionId>& sessions, const std::set<SessionId>& silent, Step limit,
                          Micros now) {
  if (sessions.empty() || !observed() || open() >= limit || missing().empty()) {
    return;
  }
  holders_.look_at(sessions, silent, now);
  const auto counted = holders_.counted();
  const auto idle = holders_.idle(counted, now);
  if (!idle.empty()) {
    decide_next(sessions, limit);
  }
  if (holders_.not_delivered(now).empty()) {
    return holders_.leave_over(false, counted);
  }
  auto unclaimed = holders_.unclaimed(counted, now);
  holders_.keep_in_turn(unclaimed, counted, now);
  auto takers = holders_.takers(idle, counted);
  holders_.leave_over(takers.empty() && !unclaimed.empty() && !holders_.some_are_waited_for(counted), counted);
  if (!takers.empty()) {
    occupy(std::move(takers), std::move(unclaimed), counted, now);
  }
  take_wanted(holders_, counted, now);
  try_out(holders_, holders_.untried(counted), counted, now);
  begin_trials(sessions, now);
}

void SlotShares::occupy(SlotHolders::Chosen takers, SlotSet unclaimed, const SlotHolders::Chosen& counted, Micros now) {
  take_unclaimed(holders_, takers, std::move(unclaimed), counted, now);
  if (holders_.rules().redistributes && !takers.empty()) {
    take_tails(holders_, takers, counted, now);
    copy_slots(holders_, takers, counted, now);
  }
}

// A session that has no share, and is given none, would never be found out to have become fast enough for one.
void SlotShares::begin_trials(const std::vector<SessionId>& sessions, Micros now) {
  if (!holders_.rules().by_speed) {
    return;
  }
  const auto& standing = standing_.at(open());
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    if ((open() + i) % kTrialEvery != 0) {
      continue;
    }
    auto& held = holders_.held(sessions[i]);
    const auto& own = held.second;
    if (!own.share.empty() || own.share.had_trial() || !holders_.is_believed(own)) {
      continue;
    }
    const auto range = standing.find(sessions[i]);
    if (range == standing.end() || range->second.empty()) {
      const auto last = missing().last_run().end;
      holders_.give_trial(held, {last - 1, last}, now);
    }
  }
}

}  // namespace ballast
