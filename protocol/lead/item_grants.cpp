#include "protocol/lead/item_grants.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ballast {

// ---- sessions

void ItemGrants::set_sessions(const std::vector<SessionId>& sessions) {
  const std::set<SessionId> staying(sessions.begin(), sessions.end());
  for (const auto& session : sessions_) {
    if (!staying.contains(session.id)) {
      lose(session.id);
    }
  }
  std::vector<Session> members;
  members.reserve(sessions.size());
  for (const auto id : sessions) {
    const auto known = places_.find(id);
    members.push_back(known == places_.end() ? Session{id, {}, false} : std::move(sessions_[known->second]));
  }
  sessions_ = std::move(members);
  places_.clear();
  by_load_.assign(by_load_.size(), {});
  for (Place place = 0; place < sessions_.size(); ++place) {
    places_.emplace(sessions_[place].id, place);
    shelve(place);
  }
}

void ItemGrants::shelve(Place place) {
  if (const auto& session = sessions_[place]; !session.is_overtaken) {
    by_load_[session.granted.size()].insert(place);
  }
}

void ItemGrants::unshelve(Place place) { by_load_[sessions_[place].granted.size()].erase(place); }

void ItemGrants::lose(SessionId id) {
  times_.forget(id);
  const auto known = places_.find(id);
  if (known == places_.end()) {
    return;
  }
  const auto place = known->second;
  while (!sessions_[place].granted.empty()) {
    const auto item = sessions_[place].granted.back().item;
    take_back(place, sessions_[place].granted.size() - 1, 0);
    want(item);
  }
  unshelve(place);
  times_.forget(id);  // taking back has noted when
  places_.erase(known);
}

void ItemGrants::rewind() {
  sessions_.clear();
  places_.clear();
  by_load_.assign(by_load_.size(), {});
  times_.rest_all();
  overtaken_.clear();
  holders_.clear();
  outstanding_.clear();
  delivered_.clear();
  given_back_.clear();
  covered_ = {};
  next_ = 0;
  granted_until_ = 0;
}

// ---- what becomes of grants

void ItemGrants::settle(SessionId session, const Grant& grant) {
  outstanding_.erase(grant.clock);
  const auto holders = holders_.find(grant.item);
  holders->second.erase(std::ranges::find(holders->second, session));
  if (holders->second.empty()) {
    holders_.erase(holders);
  }
}

void ItemGrants::take_back(Place place, std::size_t grant, Micros now) {
  auto& session = sessions_[place];
  const auto gone = session.granted[grant];
  unshelve(place);
  session.granted.erase(session.granted.begin() + static_cast<std::ptrdiff_t>(grant));
  if (grant == 0 && std::exchange(session.is_overtaken, false)) {
    overtaken_.erase(session.id);
  } else {
    settle(session.id, gone);
  }
  shelve(place);
  if (session.granted.empty()) {
    times_.rests(session.id, now);
  } else if (grant == 0) {
    times_.begins(session.id, now);  // the next one
  }
  changed_.insert(session.id);
}

void ItemGrants::bring(Place place, std::size_t grant, Micros now) {
  times_.brings(sessions_[place].id, now);
  take_back(place, grant, now);
  if (const auto& session = sessions_[place]; !session.granted.empty() && !session.is_overtaken) {
    times_.begins(session.id, now);
  }
}

void ItemGrants::observe(const CoveredItems& lost, const CoveredItems& gained, Micros now) {
  if (lost.ceiling() > 0) {
    covered_.erase(lost);
    next_ = 0;
  }
  covered_.insert(gained);
  for (const auto& range : gained.ranges()) {
    cover(range, now);
  }
  if (doubted_since_ != now) {
    doubt_late(now);
  }
}

void ItemGrants::cover(ItemRange range, Micros now) {
  for (auto item = holders_.lower_bound(range.begin); item != holders_.end() && item->first < range.end;) {
    const auto covered_item = (item++)->first;  // taking back its last grant ends the entry
    retire(covered_item, now);
  }
  const auto forget = [&](auto& items) { items.erase(items.lower_bound(range.begin), items.lower_bound(range.end)); };
  forget(delivered_);
  forget(given_back_);
}

// After so long a shard has lost it, or it came too late to be applied.
void ItemGrants::doubt_late(Micros now) {
  doubted_since_ = now;
  const auto deadline = item_time_.deadline();
  std::erase_if(delivered_, [&](const auto& item) {
    const bool is_lost = now - item.second > deadline;
    if (is_lost) {
      want(item.first);
    }
    return is_lost;
  });
}

// The only one who has the item has brought it, unless somebody else had said so.
void ItemGrants::retire(ItemId item, Micros now) {
  const auto& holders = holders_.at(item);
  if (holders.size() > 1 || delivered_.contains(item)) {
    return overtake(item, now);
  }
  const auto place = places_.at(holders.front());
  const auto& granted = sessions_[place].granted;
  const auto grant = std::ranges::find(granted, item, &Grant::item);
  bring(place, static_cast<std::size_t>(grant - granted.begin()), now);
}

void ItemGrants::overtake(ItemId item, Micros now) {
  const auto known = holders_.find(item);
  if (known == holders_.end()) {
    return;
  }
  const auto holders = known->second;
  for (const auto id : holders) {
    const auto place = places_.at(id);
    auto& session = sessions_[place];
    const auto grant = std::ranges::find(session.granted, item, &Grant::item);
    if (grant != session.granted.begin()) {
      take_back(place, static_cast<std::size_t>(grant - session.granted.begin()), now);
      continue;
    }
    settle(id, *grant);
    unshelve(place);
    session.is_overtaken = true;
    overtaken_.insert(id);
    times_.excuse(id);
  }
}

std::optional<ItemGrants::Held> ItemGrants::find_held(SessionId id, LeadNumber clock) const {
  const auto known = places_.find(id);
  if (known == places_.end()) {
    return std::nullopt;
  }
  const auto& granted = sessions_[known->second].granted;
  const auto found = std::ranges::find(granted, clock, &Grant::clock);
  return found == granted.end() ? std::nullopt
                                : std::optional(Held{known->second, static_cast<std::size_t>(found - granted.begin())});
}

void ItemGrants::delivered(SessionId id, LeadNumber clock, Micros now) {
  const auto held = find_held(id, clock);
  if (!held) {
    return;
  }
  const auto item = sessions_[held->place].granted[held->grant].item;
  const bool is_moot = !outstanding_.contains(clock);
  item_time_.observe(now - times_.since(id));
  bring(held->place, held->grant, now);
  if (!is_moot) {
    delivered_.emplace(item, now);
    given_back_[item] = {id, 2};
    overtake(item, now);
  }
}

void ItemGrants::dropped(SessionId id, LeadNumber clock, Micros now) {
  if (const auto held = find_held(id, clock)) {
    const auto item = sessions_[held->place].granted[held->grant].item;
    want(item);
    auto& given_back = given_back_[item];
    given_back = {id, given_back.by == id ? 2U : 1U};
    take_back(held->place, held->grant, now);
  }
}

// A shard has lost something: nobody's word was false.
void ItemGrants::doubt_delivered() {
  delivered_.clear();
  given_back_.clear();
  next_ = 0;
}

// ---- giving them

std::uint64_t ItemGrants::largest_exposure() const {
  if (outstanding_.empty()) {
    return 0;
  }
  const auto& oldest = outstanding_.begin()->second;
  return oldest.before + (counted_ - oldest.counted);
}

bool ItemGrants::may_grant() const {
  return limits_.bound == 0 || outstanding_.empty() ||
         (holders_.size() <= limits_.bound && largest_exposure() < limits_.bound);
}

std::optional<ItemId> ItemGrants::next_item(ItemId limit) {
  next_ = covered_.next_missing(next_);
  while (next_ < limit && (holders_.contains(next_) || delivered_.contains(next_))) {
    next_ = covered_.next_missing(next_ + 1);
  }
  return next_ < limit ? std::optional<ItemId>(next_++) : std::nullopt;
}

void ItemGrants::give(Place place, ItemId item, Micros now) {
  auto& session = sessions_[place];
  if (session.granted.empty()) {
    times_.begins(session.id, now);
  }
  const bool is_copy = holders_.contains(item);
  const auto before = holders_.size() - (is_copy ? 1 : 0);
  counted_ += is_copy ? 0 : 1;
  backups_ += is_copy ? 1 : 0;
  unshelve(place);
  session.granted.push_back({item, clock_});
  shelve(place);
  outstanding_.emplace(clock_, Exposure{before, counted_});
  ++clock_.number;
  holders_[item].push_back(session.id);
  granted_until_ = std::max(granted_until_, item + 1);
  changed_.insert(session.id);
}

// A slow session's grant keeps all others waiting once the bound is used up. It still gets one now and then: it may
// have become faster.
Micros ItemGrants::pace(SessionId session, Micros now) const {
  constexpr Micros kTurnEvery = 16;  // items' times
  const auto time = times_.own(session).value_or(0);
  return time - std::min(time, (now - times_.since(session)) / kTurnEvery);
}

std::optional<ItemGrants::Place> ItemGrants::next_taker(std::size_t load, const std::set<SessionId>& suspects,
                                                        Micros now, std::optional<Place> but_for) const {
  std::optional<Place> best;
  for (const auto place : by_load_[load]) {
    const auto id = sessions_[place].id;
    if (place == but_for || suspects.contains(id) || times_.is_late(id, now)) {
      continue;
    }
    if (limits_.bound == 0) {
      return place;
    }
    if (!best || pace(id, now) < pace(sessions_[*best].id, now)) {
      best = place;
    }
  }
  return best;
}

// One each before a second one for anybody.
void ItemGrants::hand_out(ItemId limit, const std::set<SessionId>& suspects, Micros now) {
  for (std::size_t load = 0; load < limits_.ahead; ++load) {
    while (const auto taker = next_taker(load, suspects, now)) {
      const auto item = may_grant() ? next_item(limit) : std::nullopt;
      if (!item) {
        return copy_late_items(suspects, now);
      }
      const auto given_back = given_back_.find(*item);
      const bool had_it = given_back != given_back_.end() && given_back->second == GivenBack{sessions_[*taker].id, 2};
      const auto other = had_it ? next_taker(load, suspects, now, taker) : std::nullopt;
      give(other.value_or(*taker), *item, now);
    }
  }
}

// Who is overtaken has not begun what it has beside.
std::vector<SessionId> ItemGrants::late_sessions(const std::set<SessionId>& suspects, Micros now) const {
  auto late = times_.late(now);
  late.insert(late.end(), overtaken_.begin(), overtaken_.end());
  std::ranges::copy_if(suspects, std::back_inserter(late), [&](SessionId id) { return places_.contains(id); });
  return late;
}

bool ItemGrants::is_late(ItemId item, const std::set<SessionId>& suspects, Micros now) const {
  return std::ranges::all_of(holders_.at(item), [&](SessionId id) {
    return suspects.contains(id) || overtaken_.contains(id) || times_.is_late(id, now);
  });
}

void ItemGrants::copy_late_items(const std::set<SessionId>& suspects, Micros now) {
  if (by_load_.front().empty() || copied_at_ == now) {
    return;
  }
  for (const auto id : late_sessions(suspects, now)) {
    const auto granted = sessions_[places_.at(id)].granted;
    for (auto grant = granted.rbegin(); grant != granted.rend(); ++grant) {
      if (!outstanding_.contains(grant->clock) || !is_late(grant->item, suspects, now)) {
        continue;
      }
      const auto taker = next_taker(0, suspects, now);
      if (!taker) {
        return;
      }
      give(*taker, grant->item, now);
    }
  }
  copied_at_ = now;
}

std::vector<Grant> ItemGrants::grants(SessionId id) const {
  const auto known = places_.find(id);
  return known == places_.end() ? std::vector<Grant>() : sessions_[known->second].granted;
}

std::optional<Grant> ItemGrants::moot(SessionId id) const {
  return overtaken_.contains(id) ? std::optional(sessions_[places_.at(id)].granted.front()) : std::nullopt;
}

std::map<SessionId, Micros> ItemGrants::overtaken() const {
  std::map<SessionId, Micros> overtaken;
  for (const auto id : overtaken_) {
    overtaken.emplace(id, times_.since(id));
  }
  return overtaken;
}

}  // namespace ballast
