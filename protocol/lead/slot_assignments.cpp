#include "protocol/lead/slot_assignments.h"

#include <algorithm>

#include "protocol/lead/slot_division.h"

namespace ballast {

void SlotAssignments::divide(const std::vector<SessionId>& sessions, Step from) {
  ++generation_;
  std::erase_if(divisions_, [&](const Division& old) { return old.from >= from; });
  Division division{from, {}};
  if (!sessions.empty()) {
    const auto ranges = divide_slots(slots_, sessions.size());
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      division.ranges[sessions[i]] = ranges[i];
    }
  }
  divisions_.push_back(std::move(division));
}

void SlotAssignments::lose(SessionId session) {
  for (auto& slot : holders_) {
    std::erase_if(slot, [&](const Holder& holder) { return holder.session == session; });
  }
  for (auto& division : divisions_) {
    division.ranges.erase(session);
  }
  extras_.erase(session);
}

void SlotAssignments::rewind() {
  divisions_.clear();
  holders_.clear();
  extras_.clear();
  missing_ = SlotSet(slots_);
  observed_ = false;
  open_ = 0;
}

void SlotAssignments::observe(Step open, const SlotSet& missing, Micros now) {
  missing_ = missing;
  if (observed_ && open == open_) {
    return;
  }
  observed_ = true;
  open_ = open;
  while (divisions_.size() > 1 && divisions_[1].from <= open) {
    divisions_.erase(divisions_.begin());
  }
  for (const auto& [session, extra] : extras_) {
    changed_.insert(session);
  }
  extras_.clear();
  hold_standing_ranges(now);
}

void SlotAssignments::hold_standing_ranges(Micros now) {
  holders_.assign(slots_, {});
  if (divisions_.empty() || divisions_.front().from > open_) {
    return;
  }
  for (const auto& [session, range] : divisions_.front().ranges) {
    for (Slot slot = range.begin; slot < range.end; ++slot) {
      holders_[slot].push_back({session, now});
    }
  }
}

bool SlotAssignments::is_awaited(Slot slot, Micros now, Micros late) const {
  return std::any_of(holders_[slot].begin(), holders_[slot].end(),
                     [&](const Holder& holder) { return now - holder.since < late; });
}

bool SlotAssignments::half_delivered() const {
  if (!observed_ || divisions_.empty() || divisions_.front().from > open_) {
    return false;
  }
  std::size_t sessions = 0;
  std::size_t delivered = 0;
  for (const auto& [session, range] : divisions_.front().ranges) {
    if (range.empty()) {
      continue;
    }
    ++sessions;
    delivered += missing_.contains_some_of(range) ? 0 : 1;
  }
  return sessions > 0 && 2 * delivered >= sessions;
}

// Missing slots by who holds them.
std::map<SessionId, std::size_t> SlotAssignments::loads() const {
  std::map<SessionId, std::size_t> loads;
  for (Slot slot = 0; slot < slots_; ++slot) {
    if (missing_.contains(slot)) {
      for (const auto& holder : holders_[slot]) {
        ++loads[holder.session];
      }
    }
  }
  return loads;
}

bool SlotAssignments::has_open_extra(SessionId session) const {
  const auto extra = extras_.find(session);
  return extra != extras_.end() && missing_.contains_some_of(extra->second.slots);
}

void SlotAssignments::give(SessionId session, SlotRange range, Micros now) {
  extras_[session] = {open_, range};
  changed_.insert(session);
  for (Slot slot = range.begin; slot < range.end; ++slot) {
    (holders_[slot].empty() ? reassigned_ : backups_) += 1;
    std::erase_if(holders_[slot], [&](const Holder& holder) { return holder.session == session; });
    holders_[slot].push_back({session, now});
  }
}

void SlotAssignments::hand_out(const std::vector<SessionId>& sessions, Micros now, Micros late) {
  if (sessions.empty() || !observed_ || holders_.empty()) {
    return;
  }
  SlotSet unclaimed(slots_);
  for (Slot slot = 0; slot < slots_; ++slot) {
    if (missing_.contains(slot) && !is_awaited(slot, now, late)) {
      unclaimed.insert({slot, slot + 1});
    }
  }
  if (unclaimed.empty()) {
    return;
  }
  const auto loads = this->loads();
  std::vector<std::pair<std::size_t, SessionId>> by_load;
  for (const auto session : sessions) {
    // An extra that is still to be delivered must not be replaced: its slots would wait until they are late.
    if (!has_open_extra(session)) {
      const auto load = loads.find(session);
      by_load.emplace_back(load == loads.end() ? 0 : load->second, session);
    }
  }
  if (by_load.empty()) {
    return;
  }
  std::sort(by_load.begin(), by_load.end());
  const auto free = static_cast<std::size_t>(
      std::count_if(by_load.begin(), by_load.end(), [](const auto& entry) { return entry.first == 0; }));
  const auto takers = std::max<std::size_t>(free, 1);  // with nobody free, the least loaded one
  const auto share = static_cast<Slot>((unclaimed.count() + takers - 1) / takers);
  std::size_t next = 0;
  for (auto run : unclaimed.runs()) {
    while (!run.empty() && next < takers) {
      const SlotRange part{run.begin, std::min(run.end, run.begin + share)};
      give(by_load[next++].second, part, now);
      run.begin = part.end;
    }
  }
}

Standing SlotAssignments::standing(SessionId session, Step until) const {
  if (divisions_.empty()) {
    return {};
  }
  const auto& division = divisions_.back();
  const auto range = division.ranges.find(session);
  return {division.from, std::max(until, division.from), range == division.ranges.end() ? SlotRange{} : range->second};
}

std::optional<Extra> SlotAssignments::extra(SessionId session) const {
  const auto extra = extras_.find(session);
  return extra == extras_.end() ? std::nullopt : std::optional<Extra>(extra->second);
}

}  // namespace ballast
