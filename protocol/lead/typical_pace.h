// What is typical of all sessions, for what is not known of one.
#pragma once

#include <optional>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/predicted_end.h"
#include "protocol/state_list.h"

namespace ballast {

// What is known of one session.
struct KnownPace {
  std::optional<Micros> lag;
  std::optional<Micros> slot;
  std::optional<double> up;  // bytes per microsecond
  bool operator==(const KnownPace&) const = default;
};

// The medians of what is known of all, kept sorted: a change costs a search and a move within the sessions' values, a
// median nothing. Pure and copyable. Not thread-safe.
class TypicalPace {
 public:
  // What is known of a session was `before` and is `after`. A session that comes, or goes, is one of which nothing was,
  // or is, known.
  void learn(const KnownPace& before, const KnownPace& after);
  // Takes the medians as they are now; of what is known of nobody the last one stays.
  void settle();
  // As it was settled; 0: it was never known of any.
  [[nodiscard]] const SessionPace& pace() const { return pace_; }
  // Of the others than one of which this is known, as of now; what is known of none of them as it was settled.
  [[nodiscard]] SessionPace pace_beside(const KnownPace& own) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(pace_), listed::fixed(lags_, slots_, ups_));
  }

 private:
  SessionPace pace_;
  std::vector<Micros> lags_;  // ascending, as are the others
  std::vector<Micros> slots_;
  std::vector<double> ups_;
};

}  // namespace ballast
