// Who answers for sessions, as one lane knows them: whether they pay what is called of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// Whoever let a call go unpaid, or said that there is nothing where something is missing, is out of good standing until
// it has paid calls: one after the first time, twice as many after each further one. Who pays well is forgiven. What is
// called of it holds room, and the spine, until it is given up: so nothing is for a while after it has failed, twice as
// long each time. Standing belongs to the key, for a session is made anew in no time. Pure and copyable. Not
// thread-safe.
class Payers {
 public:
  static constexpr std::size_t kMostKept = 4096;  // beyond that the one that failed longest ago is forgotten
  static constexpr std::uint32_t kMostDoublings = 10;
  static constexpr std::uint32_t kForgiven = 64;      // calls paid in good standing
  static constexpr std::uint32_t kMostTakenBack = 2;  // without a payment between
  static constexpr std::uint32_t kMostPauseDoublings = 7;

  // `pause`: for which nothing is called of it, the first time.
  explicit Payers(Micros pause) : pause_(pause) {}

  [[nodiscard]] bool is_good(PayerId payer) const { return !is_out(payer); }
  // Something may be called of it.
  [[nodiscard]] bool may_be_called(PayerId payer, Micros now) const;
  // How many have failed since it did last; the least is to be asked last. Of one that is out of good standing.
  [[nodiscard]] std::uint64_t last_failure(PayerId payer) const {
    const auto found = payers_.find(payer);
    return found == payers_.end() ? 0 : found->second.failed_at;
  }
  // True if it was in good standing. `taken_back`: its call was, for nothing came.
  bool fails(PayerId payer, Micros now, bool taken_back = false);
  // What was called of it was of no use, or it was gone: true if that was so before, and it has paid nothing since.
  bool is_struck(PayerId payer);
  // It has paid a call. True if it is in good standing again.
  bool pays(PayerId payer);
  // Calls of it were taken back kMostTakenBack times, and none was paid between.
  [[nodiscard]] bool pays_nothing(PayerId payer) const {
    const auto found = payers_.find(payer);
    return found != payers_.end() && found->second.taken_back >= kMostTakenBack;
  }
  // Who is out of good standing, first who failed last. Costs as much as there are who ever failed.
  [[nodiscard]] std::vector<PayerId> out() const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(pause_), listed::parts(payers_), listed::plain(failures_));
  }

 private:
  struct Payer {
    std::uint32_t owes = 0;        // calls to be paid; 0: it is in good standing
    std::uint32_t doublings = 0;   // of what it will owe next
    std::uint32_t paid = 0;        // since it is in good standing
    std::uint32_t taken_back = 0;  // calls, since it paid one
    bool was_struck = false;       // since then
    std::uint64_t failed_at = 0;   // by failures_
    Micros pauses_from = 0;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(owes, doublings, paid, taken_back, was_struck, failed_at),
                         listed::ages(pauses_from));
    }
  };

  [[nodiscard]] bool is_out(PayerId payer) const {
    const auto found = payers_.find(payer);
    return found != payers_.end() && found->second.owes > 0;
  }
  void make_room();

  Micros pause_;
  std::map<PayerId, Payer> payers_;  // who has failed, and is not forgiven
  std::uint64_t failures_ = 0;
};

}  // namespace ballast
