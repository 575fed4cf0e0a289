#include "protocol/lead/work_times.h"

#include <utility>

namespace ballast {

void WorkTimes::await_no_more(SessionId session, Known& known) {
  if (std::exchange(known.is_awaited, false)) {
    due_.erase({known.due, session});
    untimed_.erase({known.since, session});
  }
}

void WorkTimes::begins(SessionId session, Micros now) {
  auto& known = known_[session];
  await_no_more(session, known);
  known.is_awaited = true;
  known.since = now;
  if (const auto time = known.times.median()) {
    known.due = now + late_after(time);
    due_.emplace(known.due, session);
  } else {
    untimed_.emplace(now, session);
  }
}

void WorkTimes::brings(SessionId session, Micros now) {
  auto& known = known_[session];
  await_no_more(session, known);
  if (known.times.median() && known.brought_at == now) {
    known.times.share();
  } else {
    known.times.observe(now - known.since);
  }
  all_.observe(*known.times.median());
  known.since = now;
  known.brought_at = now;
}

void WorkTimes::rests(SessionId session, Micros now) {
  auto& known = known_[session];
  await_no_more(session, known);
  known.since = now;
}

void WorkTimes::excuse(SessionId session) { await_no_more(session, known_[session]); }

void WorkTimes::forget(SessionId session) {
  if (const auto known = known_.find(session); known != known_.end()) {
    await_no_more(session, known->second);
    known_.erase(known);
  }
}

void WorkTimes::rest_all() {
  for (auto& [session, known] : known_) {
    known.is_awaited = false;
  }
  due_.clear();
  untimed_.clear();
}

Micros WorkTimes::since(SessionId session) const {
  const auto known = known_.find(session);
  return known == known_.end() ? 0 : known->second.since;
}

std::optional<Micros> WorkTimes::own(SessionId session) const {
  const auto known = known_.find(session);
  return known == known_.end() ? std::nullopt : known->second.times.median();
}

std::optional<Micros> WorkTimes::expected(SessionId session) const {
  const auto time = own(session);
  return time ? time : all_.median();
}

bool WorkTimes::is_late(SessionId session, Micros now) const {
  const auto known = known_.find(session);
  return known != known_.end() && known->second.is_awaited &&
         now > (known->second.times.median() ? known->second.due : known->second.since + late_after(all_.median()));
}

std::vector<SessionId> WorkTimes::late(Micros now) const {
  std::vector<SessionId> late;
  for (auto entry = due_.begin(); entry != due_.end() && entry->first < now; ++entry) {
    late.push_back(entry->second);
  }
  const auto after = late_after(all_.median());
  for (auto entry = untimed_.begin(); entry != untimed_.end() && entry->first + after < now; ++entry) {
    late.push_back(entry->second);
  }
  return late;
}

}  // namespace ballast
