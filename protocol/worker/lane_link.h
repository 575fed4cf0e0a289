// A worker's link to one lane: whether it is welcome there, how long it has asked in vain, and what it sends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"
#include "protocol/worker/outbox.h"

namespace ballast {

class LaneLink {
 public:
  explicit LaneLink(LearntDeadline::Bounds retry) : outbox(retry) {}

  [[nodiscard]] bool is_welcome() const { return welcome_; }
  // Whether a hello is due; then it counts as said.
  bool asks(Micros now, Micros every);
  // True if it was not welcome before.
  bool welcome(std::uint64_t credit_bytes);
  // Any word of the lane.
  void answered();
  void refused(std::string text) { refusal_ = std::move(text); }
  // Why nobody can be reached there; empty: no reason is known.
  void unreachable(std::string why);
  // The lane does not know this worker any more, or the connection has ended: another one begins with a hello.
  void forgotten();
  // The lane's call: what is to be sent now; none: nothing is. `is_new`: it was not heard before.
  struct Called {
    bool is_new = false;
    std::optional<Contribution> contribution = {};
  };
  Called called(const Call& call, Micros now);
  // The lane gives so many bytes ahead.
  void has_room(std::uint64_t bytes);
  // It lives elsewhere, or in another life.
  void moved();

  // It answers no hello for so long, or refuses this worker for now.
  [[nodiscard]] bool lets_wait(Micros now, Micros silence) const;
  // Which lane lets wait, where it is, and why.
  [[nodiscard]] std::string describe(const LaneAddress& at) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(outbox), listed::plain(welcome_), listed::ages(hello_at_, asked_at_),
                       listed::names(last_call_), listed::plain(refusal_, why_));
  }

  Outbox outbox;

 private:
  bool welcome_ = false;
  Micros hello_at_ = 0;
  Micros asked_at_ = 0;          // the first hello since it last answered; 0: none
  std::uint64_t last_call_ = 0;  // the number of
  std::string refusal_;          // of the newest hello
  std::string why_;
};

}  // namespace ballast
