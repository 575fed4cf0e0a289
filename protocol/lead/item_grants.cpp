#include "protocol/lead/item_grants.h"

#include <algorithm>
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
    members.push_back(known == places_.end() ? Session{id, {}, 0, 0} : std::move(sessions_[known->second]));
  }
  sessions_ = std::move(members);
  places_.clear();
  by_load_.assign(by_load_.size(), {});
  for (Place place = 0; place < sessions_.size(); ++place) {
    places_.emplace(sessions_[place].id, place);
    by_load_[sessions_[place].granted.size()].insert(place);
  }
}

void ItemGrants::lose(SessionId id) {
  const auto known = places_.find(id);
  if (known == places_.end()) {
    return;
  }
  const auto place = known->second;
  while (!sessions_[place].granted.empty()) {
    const auto item = sessions_[place].granted.back().item;
    take_back(place, sessions_[place].granted.size() - 1);
    want(item);
  }
  by_load_.front().erase(place);
  places_.erase(known);
}

void ItemGrants::rewind() {
  sessions_.clear();
  places_.clear();
  by_load_.assign(by_load_.size(), {});
  holders_.clear();
  outstanding_.clear();
  delivered_.clear();
  covered_ = {};
  next_ = 0;
  granted_until_ = 0;
}

// ---- what becomes of grants

void ItemGrants::take_back(Place place, std::size_t grant) {
  auto& session = sessions_[place];
  const auto gone = session.granted[grant];
  by_load_[session.granted.size()].erase(place);
  session.granted.erase(session.granted.begin() + static_cast<std::ptrdiff_t>(grant));
  by_load_[session.granted.size()].insert(place);
  outstanding_.erase(gone.clock);
  const auto holders = holders_.find(gone.item);
  holders->second.erase(std::ranges::find(holders->second, session.id));
  if (holders->second.empty()) {
    holders_.erase(holders);
  }
  changed_.insert(session.id);
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
  delivered_.erase(delivered_.lower_bound(range.begin), delivered_.lower_bound(range.end));
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

// All that hold the item have nothing more to do for it.
void ItemGrants::retire(ItemId item, Micros now) {
  const auto holders = holders_.at(item);
  for (const auto id : holders) {
    const auto place = places_.at(id);
    auto& session = sessions_[place];
    const auto grant = std::ranges::find(session.granted, item, &Grant::item);
    take_back(place, static_cast<std::size_t>(grant - session.granted.begin()));
    session.progress_at = now;
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
  auto& session = sessions_[held->place];
  delivered_.emplace(session.granted[held->grant].item, now);
  take_back(held->place, held->grant);
  const Micros took = now - session.progress_at;
  item_time_.observe(took);
  session.item_time = session.item_time == 0 ? took : (3 * session.item_time + took) / 4;
  session.progress_at = now;
}

void ItemGrants::dropped(SessionId id, LeadNumber clock, Micros now) {
  const auto held = find_held(id, clock);
  if (!held) {
    return;
  }
  auto& session = sessions_[held->place];
  want(session.granted[held->grant].item);
  take_back(held->place, held->grant);
  session.progress_at = now;
}

void ItemGrants::doubt_delivered() {
  delivered_.clear();
  next_ = 0;
}

// ---- giving them

std::uint64_t ItemGrants::largest_exposure() const {
  if (outstanding_.empty()) {
    return 0;
  }
  const auto& [oldest, before] = *outstanding_.begin();
  return before + (clock_.number - 1 - oldest.number);
}

bool ItemGrants::may_grant() const {
  return limits_.bound == 0 || outstanding_.empty() ||
         (outstanding_.size() <= limits_.bound && largest_exposure() < limits_.bound);
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
    session.progress_at = now;
  }
  by_load_[session.granted.size()].erase(place);
  session.granted.push_back({item, clock_});
  by_load_[session.granted.size()].insert(place);
  outstanding_.emplace(clock_, outstanding_.size());
  ++clock_.number;
  holders_[item].push_back(session.id);
  granted_until_ = std::max(granted_until_, item + 1);
  changed_.insert(session.id);
}

// A slow session's grant keeps all others waiting once the bound is used up. It still gets one now and then: it may
// have become faster.
Micros ItemGrants::pace(const Session& session, Micros now) const {
  constexpr Micros kTurnEvery = 16;  // items' times
  const Micros waited = session.granted.empty() ? (now - session.progress_at) / kTurnEvery : 0;
  return session.item_time - std::min(session.item_time, waited);
}

std::optional<ItemGrants::Place> ItemGrants::next_taker(std::size_t load, Micros now) const {
  const auto& able = by_load_[load];
  if (able.empty()) {
    return std::nullopt;
  }
  return limits_.bound == 0
             ? *able.begin()
             : *std::ranges::min_element(able, {}, [&](Place place) { return pace(sessions_[place], now); });
}

// One each before a second one for anybody.
void ItemGrants::hand_out(ItemId limit, Micros now) {
  for (std::size_t load = 0; load < limits_.ahead; ++load) {
    while (const auto taker = next_taker(load, now)) {
      if (!may_grant()) {
        return;
      }
      const auto item = next_item(limit);
      if (!item) {
        return give_late_items(now);
      }
      give(*taker, *item, now);
    }
  }
}

void ItemGrants::give_late_items(Micros now) {
  if (by_load_.front().empty() || late_since_ == now) {
    return;
  }
  const auto deadline = item_time_.deadline();
  for (Place late = 0; late < sessions_.size(); ++late) {
    if (now - sessions_[late].progress_at <= deadline) {
      continue;
    }
    for (const auto& grant : sessions_[late].granted) {
      const auto taker = next_taker(0, now);
      if (!taker || !may_grant()) {
        return;
      }
      if (holders_.at(grant.item).size() == 1) {
        give(*taker, grant.item, now);
        ++backups_;
      }
    }
  }
  late_since_ = now;
}

std::vector<Grant> ItemGrants::grants(SessionId id) const {
  const auto known = places_.find(id);
  return known == places_.end() ? std::vector<Grant>() : sessions_[known->second].granted;
}

}  // namespace ballast
