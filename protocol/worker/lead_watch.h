// When a worker speaks to its lead, and for how long the lead has been silent.
#pragma once

#include <optional>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// Told of every message of the lead and of every tick. Pure and copyable.
class LeadWatch {
 public:
  struct Times {
    Micros hello_every = 0;  // until it is answered
    Micros silence = 0;      // a lead that has answered before and is silent for longer is gone
    bool operator==(const Times&) const = default;
  };

  explicit LeadWatch(const Times& times) : times_(times) {}
  void set_silence(Micros silence) { times_.silence = silence; }

  void heard() {
    is_known_ = true;
    was_heard_ = true;
  }
  // How long the lead has been silent, if it is gone. Ticks are rare: what was heard since the last one was heard just
  // now, and time in which this process did not run is not the lead's silence.
  std::optional<Micros> tick(Micros now);

  // Whether a hello is due; then it counts as said. `answered`: the lead has welcomed this worker.
  bool greets(bool answered, Micros now);
  // The lead knows this session no more: it is greeted anew.
  void greet_again();

  [[nodiscard]] bool is_silent_for(Micros span, Micros now) const { return now - beaten_at_ >= span; }
  [[nodiscard]] bool has_beaten(Micros now) const { return beaten_at_ == now; }
  void beats(Micros now) { beaten_at_ = now; }
  // Whether the worker has just become idle, which the lead is told at once.
  bool becomes_idle();
  void works() { is_idle_ = false; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(times_), listed::ages(ticked_at_, heard_at_), listed::plain(was_heard_, is_known_),
                       listed::ages(greeted_at_), listed::plain(has_greeted_), listed::ages(beaten_at_),
                       listed::plain(is_idle_));
  }

 private:
  Times times_;
  Micros ticked_at_ = 0;
  Micros heard_at_ = 0;
  bool was_heard_ = false;  // since the last tick
  bool is_known_ = false;
  Micros greeted_at_ = 0;
  bool has_greeted_ = false;
  Micros beaten_at_ = 0;
  bool is_idle_ = false;
};

}  // namespace ballast
