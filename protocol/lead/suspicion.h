// Whether a session is counted on to bring its share of the open step, and why not.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// A session is suspected while it is lost, silent or late, or sends nothing of what lanes call. Its *credit* is how
// many steps it may miss: none at first, one more for each report by which it has brought something, up to kMostCredit,
// and one less for each step in which it was heard of, was late and brought nothing; none while it sends nothing of
// what is called. Without credit it is not suspected, but has no standing range: others wait no longer for it than it
// has brought them something. A silent one has stopped, and may go on as it did: steps meanwhile say nothing of it.
// Pure and copyable.
class Suspicion {
 public:
  static constexpr std::uint32_t kMostCredit = 3;

  // It is given up, and may be back in this step.
  void lose() { is_lost_ = true; }
  void find() { is_lost_ = false; }
  void hear_nothing(bool is_silent);
  // Lanes say that nothing came of what they called of it: it has no credit until they do not.
  void send_nothing(bool is_unpaying);
  void find_late();
  // It gets on, or has been given something else: it is not late.
  void excuse();
  // Others have got of its share: what it is late with, it stays late with until it gets on.
  void relieve() { is_relieved_ = is_relieved_ || is_late_; }
  // Nothing of its share is waited for any more.
  void await_nothing() { is_late_ = is_late_ && is_relieved_; }
  // The lanes say that something of it has become part of a step before `end`: of the step that is open here, or of the
  // next, for the lane that counts may be a step ahead.
  void bring(Step end);
  // The open step is over.
  void close_step(Step step);
  // The next one opens, or work is given out again.
  void open_step(bool has_share);
  void rewind();

  [[nodiscard]] bool is_suspect() const { return is_lost_ || is_silent_ || is_unpaying_ || is_late_; }
  [[nodiscard]] bool is_lost() const { return is_lost_; }
  [[nodiscard]] bool is_silent() const { return is_silent_; }
  [[nodiscard]] bool is_unpaying() const { return is_unpaying_; }
  [[nodiscard]] bool is_late() const { return is_late_; }
  [[nodiscard]] bool has_credit() const { return credit_ > 0; }
  // Why a session that lives, and was heard of like this last, is not counted on while step `open` is; empty: it is.
  [[nodiscard]] std::string why(const SlotProgress& progress, Step open) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(is_lost_, is_silent_, is_unpaying_, is_late_, is_relieved_),
                       listed::plain(was_late_, brought_until_, credit_, misses_));
  }

 private:
  bool is_lost_ = false;
  bool is_silent_ = false;
  bool is_unpaying_ = false;
  bool is_late_ = false;
  bool is_relieved_ = false;
  bool was_late_ = false;   // in the open step, when it was heard of
  Step brought_until_ = 0;  // it has brought something of each step before it, as far as anybody says
  std::uint32_t credit_ = 0;
  std::uint32_t misses_ = 0;  // steps in a row in which it was late, though not silent, and brought nothing
};

}  // namespace ballast
