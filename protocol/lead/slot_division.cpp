#include "protocol/lead/slot_division.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "protocol/tree.h"

namespace ballast {

namespace {

constexpr auto kNotYet = std::numeric_limits<Micros>::max();

Micros plus_hundredths(Micros span, std::uint64_t hundredths) {
  const auto more = span / 100 * hundredths + span % 100 * hundredths / 100;
  return span > kNotYet - more ? kNotYet : span + more;
}

// What a session does in a step.
class Share {
 public:
  Share(const StepSize& step, SessionPace pace)
      : Share(step, pace.lag, {pace.lag, std::max<Micros>(pace.slot, 1), pace.up}) {}

  [[nodiscard]] Micros end(SlotRange range) const { return range.empty() ? 0 : end_.end(range, range.begin, lag_, 0); }
  // When so many slots, at least one, end at the earliest: if they are one node.
  [[nodiscard]] double least_end(Slot slots) const { return rest_ + static_cast<double>(slots) * slot_; }
  // How many slots end within a time at the most.
  [[nodiscard]] Slot most_within(double time) const {
    const auto most = (time - rest_) / slot_ + 1e-3;  // what rounding puts on the edge counts
    return most >= static_cast<double>(slots_) ? slots_ : most > 0 ? static_cast<Slot>(most) : 0;
  }

 private:
  Share(const StepSize& step, Micros lag, const SessionPace& pace)
      : end_(pace, step),
        slots_(step.slots),
        lag_(lag),
        slot_(static_cast<double>(pace.slot)),
        rest_(static_cast<double>(lag) + end_.shortest_tail()) {}

  EndPrediction end_;
  Slot slots_;
  Micros lag_;
  double slot_;
  double rest_;
};
using Shares = std::vector<Share>;

Micros latest(const Shares& shares, const std::vector<SlotRange>& ranges) {
  Micros latest = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    latest = std::max(latest, shares[i].end(ranges[i]));
  }
  return latest;
}

// The least time in which all sessions complete all slots at the most: no division ends earlier. Rounding apart.
double least_time(const Shares& shares, Slot slots) {
  const auto is_enough = [&](double time) {
    std::uint64_t most = 0;
    for (const auto& share : shares) {
      most += share.most_within(time);
    }
    return most >= slots;
  };
  auto enough = shares.front().least_end(slots);
  for (const auto& share : shares) {
    enough = std::min(enough, share.least_end(slots));
  }
  double too_short = 0;
  while (enough - too_short > std::max(0.25, enough * 1e-9)) {
    const auto middle = too_short + (enough - too_short) / 2;
    (is_enough(middle) ? enough : too_short) = middle;
  }
  return enough;
}

// As long as what each session completes within that time.
std::vector<SlotRange> proportional(const Shares& shares, Slot slots, double time) {
  std::vector<std::uint64_t> ends;
  for (const auto& share : shares) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + share.most_within(time));
  }
  if (ends.back() == 0) {  // it is so long that no slot shows in it
    ends.back() = 1;
  }
  std::vector<SlotRange> ranges;
  Slot begin = 0;
  for (const auto each : ends) {
    ranges.push_back({begin, static_cast<Slot>(each * slots / ends.back())});
    begin = ranges.back().end;
  }
  return ranges;
}

// Slots around a place, ascending: all within `window`, further off multiples of 2, 4, 8 and so on up to `window`
// multiples away, none farther than `reach`.
std::vector<Slot> places_around(std::uint64_t place, std::uint64_t window, std::uint64_t reach, Slot slots) {
  std::vector<Slot> left;
  std::vector<Slot> places{static_cast<Slot>(place)};
  auto first = place;
  auto last = place;
  for (std::uint64_t grid = 1; grid == 1 || window * grid / 2 < reach; grid *= 2) {
    const auto distance = std::min(reach, window * grid);
    const auto begin = place - std::min(place, distance);
    const auto end = std::min<std::uint64_t>(place + distance, slots);
    for (; first > 0 && (first - 1) / grid * grid >= begin; left.push_back(static_cast<Slot>(first))) {
      first = (first - 1) / grid * grid;
    }
    for (; (last / grid + 1) * grid <= end; places.push_back(static_cast<Slot>(last))) {
      last = (last / grid + 1) * grid;
    }
  }
  places.insert(places.begin(), left.rbegin(), left.rend());
  return places;
}

struct Cost {
  std::uint64_t nodes = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t unevenness = 0;
  auto operator<=>(const Cost&) const = default;
};

// The best ways to put the boundaries up to one that lies at a place, each with where the boundary before it lies.
struct Ways {
  Slot place = 0;
  Micros latest = kNotYet;  // the least latest end
  Slot latest_from = 0;
  Cost cost;  // the fewest nodes
  Slot cost_from = 0;
};
using Boundary = std::vector<Ways>;  // by place, ascending

// Seeks left to right among the places where each boundary may lie.
class Search {
 public:
  Search(const Shares& shares, Slot slots) : shares_(&shares), slots_(slots) {
    add_boundary({0});
    boundaries_.front().front().latest = 0;
    boundaries_.front().front().cost = {0, 0};
  }

  // The next one; that behind the last session lies at the end of the slots only.
  void add_boundary(const std::vector<Slot>& places) {
    Boundary boundary;
    for (const auto place : places) {
      boundary.push_back({.place = place, .cost = {}});
    }
    boundaries_.push_back(std::move(boundary));
  }

  // The least latest end, if it is earlier than `bound`; else kNotYet.
  [[nodiscard]] Micros seek_latest(Micros bound);
  // The division that has it.
  [[nodiscard]] std::vector<SlotRange> earliest() const { return trace(&Ways::latest_from); }
  // The least cost of those that end at `limit` at the latest; Cost{} if there is none.
  [[nodiscard]] Cost seek_cost(Micros limit);
  // The division that has it.
  [[nodiscard]] std::vector<SlotRange> cheapest() const { return trace(&Ways::cost_from); }

 private:
  template <typename Visit>
  void for_each_range(std::size_t session, Slot longest, const Visit& visit);
  [[nodiscard]] std::vector<SlotRange> trace(Slot Ways::*from) const;

  const Shares* shares_;
  Slot slots_;
  std::vector<Boundary> boundaries_;
};

template <typename Visit>
void Search::for_each_range(std::size_t session, Slot longest, const Visit& visit) {
  auto& ends = boundaries_[session + 1];
  auto first = ends.begin();
  for (const auto& begin : boundaries_[session]) {
    first = std::find_if(first, ends.end(), [&](const Ways& end) { return end.place >= begin.place; });
    for (auto end = first; end != ends.end() && end->place - begin.place <= longest; ++end) {
      visit(begin, *end);
    }
  }
}

Micros Search::seek_latest(Micros bound) {
  for (std::size_t i = 0; i < shares_->size(); ++i) {
    const auto& share = (*shares_)[i];
    for_each_range(i, share.most_within(static_cast<double>(bound)), [&](const Ways& before, Ways& after) {
      const auto least = std::min(bound, after.latest);
      const SlotRange range{before.place, after.place};
      if (before.latest >= least || (!range.empty() && share.least_end(range.size()) > static_cast<double>(least))) {
        return;
      }
      const auto end = std::max(before.latest, share.end(range));
      if (end < least) {
        after.latest = end;
        after.latest_from = before.place;
      }
    });
  }
  return boundaries_.back().back().latest;
}

Cost Search::seek_cost(Micros limit) {
  const auto grain = limit / 1024 + 1;  // of ends, so that their squares are small whole numbers
  for (std::size_t i = 0; i < shares_->size(); ++i) {
    const auto& share = (*shares_)[i];
    for_each_range(i, share.most_within(static_cast<double>(limit)), [&](const Ways& before, Ways& after) {
      if (before.cost == Cost{}) {
        return;
      }
      const SlotRange range{before.place, after.place};
      auto cost = before.cost;
      cost.nodes += tree::nodes_in(range, slots_);
      if (cost >= after.cost) {
        return;
      }
      const auto end = share.end(range);
      cost.unevenness += (end / grain) * (end / grain);
      if (end <= limit && cost < after.cost) {
        after.cost = cost;
        after.cost_from = before.place;
      }
    });
  }
  return boundaries_.back().back().cost;
}

std::vector<SlotRange> Search::trace(Slot Ways::*from) const {
  std::vector<SlotRange> ranges(shares_->size());
  auto end = slots_;
  for (auto i = ranges.size(); i > 0; --i) {
    const auto begin = *std::ranges::lower_bound(boundaries_[i], end, {}, &Ways::place).*from;
    ranges[i - 1] = {begin, end};
    end = begin;
  }
  return ranges;
}

class Division {
 public:
  Division(const Shares& shares, Slot slots)
      : shares_(shares),
        slots_(slots),
        least_time_(least_time(shares, slots)),
        proportional_(proportional(shares, slots, least_time_)),
        found_(proportional_),
        best_(latest(shares, found_)) {}

  // No division ends earlier.
  [[nodiscard]] Micros bound() const { return least_time_ < 0x1p63 ? static_cast<Micros>(least_time_) : best_; }

  // One that is known, too: seek() begins with the better.
  void know(const std::vector<SlotRange>& division);
  // The best end.
  [[nodiscard]] Micros seek();
  // To be asked for after seek(), where what is known is not as good.
  [[nodiscard]] std::vector<SlotRange> with_fewest_nodes();

 private:
  [[nodiscard]] Search around_proportional() const;
  [[nodiscard]] Search around_found() const;
  bool improves(Search search);

  const Shares& shares_;
  Slot slots_;
  double least_time_;
  std::vector<SlotRange> proportional_;
  std::vector<SlotRange> found_;
  Micros best_;  // its end
  std::vector<Search> searches_;
};

void Division::know(const std::vector<SlotRange>& division) {
  if (const auto end = latest(shares_, division); end < best_) {
    found_ = division;
    best_ = end;
  }
}

Search Division::around_proportional() const {
  constexpr std::uint64_t kAnywhere = 1U << 20U;
  constexpr std::uint64_t kWindow = 16;
  const std::uint64_t sessions = shares_.size();
  const auto anywhere = sessions * slots_ * slots_ <= kAnywhere;
  const auto mean = static_cast<Slot>((slots_ + sessions - 1) / sessions);
  Search search(shares_, slots_);
  for (std::size_t i = 1; i < sessions; ++i) {
    const auto reach = std::max({proportional_[i - 1].size(), proportional_[i].size(), mean});
    search.add_boundary(anywhere ? places_around(0, slots_, slots_, slots_)
                                 : places_around(proportional_[i].begin, kWindow, reach, slots_));
  }
  search.add_boundary({slots_});
  return search;
}

Search Division::around_found() const {
  const auto window = std::clamp<std::uint64_t>(2000 / shares_.size(), 2, 32);
  Search search(shares_, slots_);
  for (std::size_t i = 1; i < shares_.size(); ++i) {
    search.add_boundary(places_around(found_[i].begin, window, slots_, slots_));
  }
  search.add_boundary({slots_});
  return search;
}

bool Division::improves(Search search) {
  const auto end = search.seek_latest(best_);
  const auto is_better = end < best_;
  if (is_better) {
    best_ = end;
    found_ = search.earliest();
  }
  searches_.push_back(std::move(search));
  return is_better;
}

// Slow links put the best far from the proportional places: then whole nodes count, wherever they lie.
Micros Division::seek() {
  constexpr int kTries = 3;
  (void)improves(around_proportional());
  for (int i = 0; i < kTries && best_ > plus_hundredths(bound(), 2); ++i) {
    if (!improves(around_found())) {
      break;
    }
  }
  return best_;
}

// The first search knows more places nearby, the last one has what was found among its places. Ends that are later than
// anything can tell no search finds.
std::vector<SlotRange> Division::with_fewest_nodes() {
  const auto limit = plus_hundredths(best_, 1);
  const auto* cheapest = &searches_.front();
  auto least = searches_.front().seek_cost(limit);
  if (searches_.size() > 1) {
    if (const auto cost = searches_.back().seek_cost(limit); cost <= least) {
      least = cost;
      cheapest = &searches_.back();
    }
  }
  return least == Cost{} ? found_ : cheapest->cheapest();
}

bool divides(const std::vector<SlotRange>& ranges, Slot slots, std::size_t sessions) {
  Slot next = 0;
  for (const auto range : ranges) {
    if (range.begin != next || range.end < next) {
      return false;
    }
    next = range.end;
  }
  return ranges.size() == sessions && next == slots;
}

Shares shares_of(const StepSize& step, const std::vector<SessionPace>& sessions) {
  Shares shares;
  for (const auto& pace : sessions) {
    shares.emplace_back(step, pace);
  }
  return shares;
}

}  // namespace

Micros latest_end(const StepSize& step, const std::vector<SessionPace>& sessions,
                  const std::vector<SlotRange>& ranges) {
  return latest(shares_of(step, sessions), ranges);
}

std::vector<SlotRange> divide_slots(const StepSize& step, const std::vector<SessionPace>& sessions,
                                    const std::vector<SlotRange>* kept) {
  constexpr std::uint64_t kKeptWithin = 3;  // hundredths
  const auto shares = shares_of(step, sessions);
  Division division(shares, step.slots);
  if (kept != nullptr && divides(*kept, step.slots, sessions.size())) {
    const auto end = latest(shares, *kept);
    division.know(*kept);
    if (end <= plus_hundredths(division.bound(), kKeptWithin) || end <= plus_hundredths(division.seek(), kKeptWithin)) {
      return *kept;
    }
  } else {
    (void)division.seek();
  }
  return division.with_fewest_nodes();
}

}  // namespace ballast
