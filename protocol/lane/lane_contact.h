// When a lane has last heard of the lead.
#pragma once

#include <utility>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// Pure and copyable. Not thread-safe.
class LeadContact {
 public:
  // Without a word for longer than `patience` the lead is given up; for longer than `away` at most, what is sent to it
  // would queue up until it is back.
  LeadContact(Micros patience, Micros away) : patience_(patience), away_(away < patience / 2 ? away : patience / 2) {}

  void heard() {
    is_known_ = true;
    is_heard_ = true;
  }
  // Time in which this process did not run is not the lead's silence, and what was heard since the last tick was heard
  // just now.
  void tick(Micros now) {
    const bool was_asleep = now - now_ > patience_ / 2;
    now_ = now;
    if (std::exchange(is_heard_, false) || was_asleep) {
      heard_at_ = now_;
    }
  }

  [[nodiscard]] Micros now() const { return now_; }
  [[nodiscard]] Micros silence() const { return now_ - heard_at_; }
  [[nodiscard]] bool is_given_up() const { return is_known_ && silence() > patience_; }
  [[nodiscard]] bool is_away() const { return is_known_ && !is_heard_ && silence() > away_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(patience_, away_), listed::ages(now_, heard_at_),
                       listed::plain(is_heard_, is_known_));
  }

 private:
  Micros patience_;
  Micros away_;
  Micros now_ = 0;
  Micros heard_at_ = 0;
  bool is_heard_ = false;  // since the last tick
  bool is_known_ = false;
};

}  // namespace ballast
