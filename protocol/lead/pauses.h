// What the user wants of a job, a pause or a stop, and where the job is to hold for it.
#pragma once

#include <optional>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// A pause itself is a fact of the ledger; here is what this life of the lead does about it, and about a stop.
// Pure and copyable. Not thread-safe.
class Pauses {
 public:
  struct Patience {
    Micros stop = 0;  // with a stop that comes to no snapshot
    Micros room = 0;  // between a snapshot that a disk had no room for and the next try
    bool operator==(const Patience&) const = default;
  };

  explicit Pauses(Patience patience) : patience_(patience) {}

  // ---- the user's word

  void want_stop(Micros now);
  // The user wants something else instead.
  void withdraw_stop();
  // Neither a pause nor a stop is held for any more.
  void release();
  [[nodiscard]] bool wants_stop() const { return wants_stop_; }
  [[nodiscard]] bool is_overdue(Micros now) const { return wants_stop_ && now - wanted_since_ > patience_.stop; }
  // What follows has the patience of a stop of its own.
  void restart_patience(Micros now) { wanted_since_ = now; }
  // So long the lead did not listen.
  void forgive(Micros slept) { wanted_since_ += slept; }
  // The stop waits only for the newest snapshot to be copied.
  void wait_for_copy(bool waits) { waits_for_copy_ = waits; }
  [[nodiscard]] bool waits_for_copy() const { return waits_for_copy_; }

  // ---- where to hold

  // Nobody goes beyond this step; none: nothing is to be held for, or not now.
  [[nodiscard]] std::optional<Step> hold() const { return hold_; }
  // Holds some steps after `untouched`, of which nobody has anything yet, so that every shard can take its part of a
  // snapshot there: further with each time that they had passed it, unless it is a new wish. False if the job, of
  // `steps` steps, is as good as finished.
  bool hold_after(Step untouched, Step steps);
  void hold_at(Step step) { hold_ = step; }
  void expect_little() { margin_ = kMargin; }
  // A disk that had no room for the snapshot may have some in a moment. Meanwhile the job trains.
  void hold_later(Micros now);
  [[nodiscard]] bool waits_for_room() const { return hold_again_at_.has_value(); }
  // Whether it is time for another try; said once.
  bool has_waited(Micros now);

  // ---- the timeline

  // A new one: nothing of it has been given out.
  void rewind();
  void begin() { untouched_ = false; }
  [[nodiscard]] bool untouched() const { return untouched_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(patience_, wants_stop_), listed::ages(wanted_since_),
                       listed::plain(waits_for_copy_, hold_, margin_), listed::ages(hold_again_at_),
                       listed::plain(untouched_));
  }

 private:
  static constexpr Step kMargin = 2;

  Patience patience_;
  bool wants_stop_ = false;
  Micros wanted_since_ = 0;  // while a stop is wanted
  bool waits_for_copy_ = false;
  std::optional<Step> hold_;
  Step margin_ = 0;
  std::optional<Micros> hold_again_at_;
  bool untouched_ = false;  // this lead began the timeline, and has given out nothing of it
};

}  // namespace ballast
