// How long sessions take for a piece of work, and who is late with the one in hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/recent_median.h"
#include "protocol/state_list.h"

namespace ballast {

// The median of the newest spans. Pieces that end at one moment share the span: an observer that looks now and then
// sees several end at once, of which only the first would seem to have taken time.
class RecentTimes {
 public:
  void observe(Micros span) {
    span_ = span;
    pieces_ = 1;
    seen_.observe(span);
  }
  // One more piece has ended with the newest.
  void share() { seen_.amend(span_ / ++pieces_); }
  // Nothing before the first observation.
  [[nodiscard]] std::optional<Micros> median() const {
    return seen_.empty() ? std::nullopt : std::optional(seen_.median());
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(seen_), listed::plain(span_, pieces_));
  }

 private:
  RecentMedian<7> seen_;
  Micros span_ = 0;  // of all pieces that ended at the newest moment
  Micros pieces_ = 0;
};

// Of each session the last pieces. One of whom nothing is known is taken to be like the others. Late is who takes three
// times as long as it did before: a slow session is waited for, one that hangs is not. What was learnt stays while a
// session rests. Each call costs the logarithm of the sessions.
// Pure and copyable. Not thread-safe.
class WorkTimes {
 public:
  // Nobody is late before the floor has passed, nor before `initial` while nothing is known of anybody. There is no
  // ceiling: a piece may take as long as it takes.
  explicit WorkTimes(LearntDeadline::Bounds late) : floor_(late.floor), initial_(late.initial) {}

  // The session has a piece in hand from now on.
  void begins(SessionId session, Micros now);
  // It has brought it, and has none in hand.
  void brings(SessionId session, Micros now);
  // It has none in hand, and has brought nothing.
  void rests(SessionId session, Micros now);
  // It is not late any more, though it has it in hand: when it brings it, that counts.
  void excuse(SessionId session);
  void forget(SessionId session);
  // All that is in hand is forgotten; what was learnt stays.
  void rest_all();

  // Since when it has something in hand, or has nothing; 0: always.
  [[nodiscard]] Micros since(SessionId session) const;
  // What it needs for a piece by what is known of itself; nothing: it has brought none yet.
  [[nodiscard]] std::optional<Micros> own(SessionId session) const;
  // Likewise, if need be by what is known of the others.
  [[nodiscard]] std::optional<Micros> expected(SessionId session) const;
  [[nodiscard]] bool is_late(SessionId session, Micros now) const;
  // All that are, those first that are so for longest by what is known of them. Costs as much as there are.
  [[nodiscard]] std::vector<SessionId> late(Micros now) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::fixed(floor_, initial_), listed::parts(known_, all_), listed::fixed(due_, untimed_));
  }

 private:
  struct Known {
    RecentTimes times;
    Micros since = 0;
    Micros brought_at = 0;
    bool is_awaited = false;
    Micros due = 0;  // if it is awaited, and something is known of it

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::parts(times), listed::ages(since, brought_at), listed::plain(is_awaited),
                         listed::ages(due));
    }
  };
  void await_no_more(SessionId session, Known& known);
  [[nodiscard]] Micros late_after(const std::optional<Micros>& expected) const {
    return expected ? std::max(3 * *expected, floor_) : initial_;
  }

  Micros floor_;
  Micros initial_;
  std::map<SessionId, Known> known_;
  RecentTimes all_;                                 // medians of those that brought something last
  std::set<std::pair<Micros, SessionId>> due_;      // awaited: when they are late
  std::set<std::pair<Micros, SessionId>> untimed_;  // awaited, and nothing known of them: since when
};

}  // namespace ballast
