#include "server/page/lateness.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ballast {

std::uint8_t Lateness::code_of(Micros late) {
  const auto code = 1 + std::lround(12 * std::log2(1 + static_cast<double>(late) / 100));
  return static_cast<std::uint8_t>(std::min<long>(code, kLongest));
}

void Lateness::contributed(SessionId session, Timeline timeline, Step step, Micros now) {
  if (session == last_session_ && timeline == last_timeline_ && step == last_step_) {
    return;
  }
  // Whoever looks may have it for a moment: the next contribution of the worker to the step tells instead, a little
  // later.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) {
    return;
  }
  std::tie(last_session_, last_timeline_, last_step_) = std::tuple(session, timeline, step);
  if (!has_begun_ || std::tie(timeline, step) > std::tie(timeline_, newest_)) {
    begin(timeline, step, now);
  }
  const auto number = row_of(session);
  auto& row = rows_[number];
  if (row.has_contributed && row.timeline == timeline && row.step == step) {
    return;
  }
  row.has_contributed = true;
  row.timeline = timeline;
  row.step = step;
  const bool is_behind = std::tie(timeline, step) < std::tie(timeline_, newest_);
  auto& codes = columns_.back().codes;
  codes.resize(std::max(codes.size(), number + 1), kAbsent);
  codes[number] = std::max(codes[number], is_behind ? kStepBehind : code_of(now - newest_at_));
}

// A job that was taken back counts steps again: its columns follow one another in time all the same.
void Lateness::begin(Timeline timeline, Step step, Micros now) {
  const bool goes_on = has_begun_ && timeline == timeline_ && now - columns_.back().began < kEach;
  has_begun_ = true;
  timeline_ = timeline;
  newest_ = step;
  newest_at_ = now;
  if (goes_on) {
    columns_.back().last = step;
    return;
  }
  if (!columns_.empty()) {
    columns_.back().ended = now;
  }
  columns_.push_back({step, step, now, 0, {}});
  if (columns_.size() > kColumns) {
    columns_.pop_front();
    ++forgotten_;
  }
}

std::size_t Lateness::row_of(SessionId session) {
  const auto known = row_by_session_.find(session);
  if (known != row_by_session_.end()) {
    return known->second;
  }
  auto number = rows_.size();
  if (number < kRows) {
    rows_.emplace_back();
  } else {
    number = oldest_row();
    row_by_session_.erase(rows_[number].session);
    for (auto& column : columns_) {
      if (number < column.codes.size()) {
        column.codes[number] = kAbsent;
      }
    }
  }
  rows_[number] = {session};
  row_by_session_.emplace(session, number);
  return number;
}

std::size_t Lateness::oldest_row() const {
  const auto oldest = std::ranges::min_element(
      rows_, {}, [](const Row& row) { return std::tuple(row.has_contributed, row.timeline, row.step); });
  return static_cast<std::size_t>(oldest - rows_.begin());
}

Lateness::Part Lateness::read(std::uint64_t from) const {
  const std::scoped_lock lock(mutex_);
  Part part;
  part.from = std::max(from, forgotten_);
  const auto there = forgotten_ + columns_.size();
  for (auto number = part.from; number < there; ++number) {
    part.columns.push_back(columns_[static_cast<std::size_t>(number - forgotten_)]);
  }
  return part;
}

std::uint64_t Lateness::columns() const {
  const std::scoped_lock lock(mutex_);
  return forgotten_ + columns_.size();
}

std::vector<SessionId> Lateness::rows() const {
  const std::scoped_lock lock(mutex_);
  std::vector<SessionId> rows;
  for (const auto& row : rows_) {
    rows.push_back(row.session);
  }
  return rows;
}

}  // namespace ballast
