#include "protocol/lead/item_grants.h"

#include <algorithm>
#include <utility>

namespace ballast {

void ItemGrants::observe(CoveredItems covered, Micros now) {
  auto still = covered_;
  still.intersect(covered);
  if (!(still == covered_)) {
    next_ = 0;
  }
  covered_ = std::move(covered);
  for (auto& [id, session] : sessions_) {
    const auto gone = std::erase_if(session.granted, [&](const Granted& granted) {
      const bool is_covered = covered_.contains(granted.grant.item);
      if (is_covered) {
        drop(granted);
      }
      return is_covered;
    });
    if (gone > 0) {
      session.progress_at = now;
    }
  }
  std::erase_if(delivered_, [&](const auto& item) {
    // After so long a shard has lost it, or it came too late to be applied.
    const bool is_lost = now - item.second > item_time_.deadline();
    if (is_lost) {
      want(item.first);
    }
    return is_lost || covered_.contains(item.first);
  });
}

void ItemGrants::drop(const Granted& granted) {
  --outstanding_;
  const auto holders = holders_.find(granted.grant.item);
  if (--holders->second == 0) {
    holders_.erase(holders);
    want(granted.grant.item);
  }
}

void ItemGrants::delivered(SessionId id, std::uint64_t clock, Micros now) {
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) {
    return;
  }
  auto& granted = session->second.granted;
  const auto found =
      std::find_if(granted.begin(), granted.end(), [&](const Granted& known) { return known.grant.clock == clock; });
  if (found == granted.end()) {
    return;
  }
  delivered_.emplace(found->grant.item, now);
  drop(*found);
  granted.erase(found);
  auto& item_time = session->second.item_time;
  const Micros took = now - session->second.progress_at;
  item_time_.observe(took);
  item_time = item_time == 0 ? took : (3 * item_time + took) / 4;
  session->second.progress_at = now;
}

void ItemGrants::lose(SessionId id) {
  if (const auto session = sessions_.extract(id)) {
    for (const auto& granted : session.mapped().granted) {
      drop(granted);
    }
  }
}

void ItemGrants::doubt_delivered() {
  delivered_.clear();
  next_ = 0;
}

void ItemGrants::rewind() {
  sessions_.clear();
  holders_.clear();
  outstanding_ = 0;
  delivered_.clear();
  covered_ = {};
  next_ = 0;
  granted_until_ = 0;
}

std::uint64_t ItemGrants::largest_exposure() const {
  std::uint64_t largest = 0;
  for (const auto& [id, session] : sessions_) {
    for (const auto& granted : session.granted) {
      largest = std::max(largest, granted.exposure);
    }
  }
  return largest;
}

bool ItemGrants::may_grant() const {
  return limits_.bound == 0 || outstanding() == 0 ||
         (outstanding() <= limits_.bound && largest_exposure() < limits_.bound);
}

std::optional<ItemId> ItemGrants::next_item(ItemId limit) {
  next_ = covered_.next_missing(next_);
  while (next_ < limit && (holders_.contains(next_) || delivered_.contains(next_))) {
    next_ = covered_.next_missing(next_ + 1);
  }
  return next_ < limit ? std::optional<ItemId>(next_++) : std::nullopt;
}

std::optional<ItemId> ItemGrants::late_item(SessionId taker, Micros now) const {
  for (const auto& [id, session] : sessions_) {
    if (id == taker || now - session.progress_at <= item_time_.deadline()) {
      continue;
    }
    const auto alone = std::find_if(session.granted.begin(), session.granted.end(),
                                    [&](const Granted& granted) { return holders_.at(granted.grant.item) == 1; });
    if (alone != session.granted.end()) {
      return alone->grant.item;
    }
  }
  return std::nullopt;
}

void ItemGrants::give(SessionId id, ItemId item, Micros now) {
  auto& session = sessions_[id];
  if (session.granted.empty()) {
    session.progress_at = now;
  }
  for (auto& [other_id, other] : sessions_) {
    for (auto& granted : other.granted) {
      ++granted.exposure;
    }
  }
  session.granted.push_back({{item, clock_++}, outstanding()});
  ++outstanding_;
  ++holders_[item];
  granted_until_ = std::max(granted_until_, item + 1);
}

// A slow session's grant keeps all others waiting once the bound is used up. It still gets one now and then: it may
// have become faster.
std::vector<SessionId> ItemGrants::by_pace(std::vector<SessionId> sessions, Micros now) const {
  constexpr Micros kTurnEvery = 16;  // items' times
  if (limits_.bound == 0) {
    return sessions;
  }
  const auto pace = [&](SessionId id) -> Micros {
    const auto known = sessions_.find(id);
    if (known == sessions_.end()) {
      return 0;
    }
    const auto& session = known->second;
    const Micros waited = session.granted.empty() ? (now - session.progress_at) / kTurnEvery : 0;
    return session.item_time - std::min(session.item_time, waited);
  };
  std::stable_sort(sessions.begin(), sessions.end(),
                   [&](SessionId left, SessionId right) { return pace(left) < pace(right); });
  return sessions;
}

void ItemGrants::hand_out(const std::vector<SessionId>& sessions, ItemId limit, Micros now) {
  const auto order = by_pace(sessions, now);
  // One each before a second one for anybody.
  for (std::size_t depth = 0; depth < limits_.ahead; ++depth) {
    for (const auto id : order) {
      const auto known = sessions_.find(id);
      const auto granted = known == sessions_.end() ? 0 : known->second.granted.size();
      if (granted > depth) {
        continue;
      }
      if (!may_grant()) {
        return;
      }
      auto item = next_item(limit);
      if (!item && granted == 0) {
        item = late_item(id, now);
        backups_ += item ? 1 : 0;
      }
      if (item) {
        give(id, *item, now);
      }
    }
  }
}

std::vector<Grant> ItemGrants::grants(SessionId id) const {
  std::vector<Grant> grants;
  if (const auto session = sessions_.find(id); session != sessions_.end()) {
    for (const auto& granted : session->second.granted) {
      grants.push_back(granted.grant);
    }
  }
  return grants;
}

}  // namespace ballast
