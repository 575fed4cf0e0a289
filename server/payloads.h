// The contributions that a lane holds, as they came, and the sums that they become.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>

#include "common/net/socket.h"
#include "protocol/ids.h"

namespace ballast {

// Sums are formed in the frames that came: nothing is copied, and nothing is allocated for a sum. Payloads lie where
// they please in their messages; the arithmetic takes any alignment. One thread.
class Payloads {
 public:
  // `sender`: who has sent it.
  PayloadId add(Frame frame, SessionId sender = 0);
  // `with` is added to `into`, and forgotten. `is_root`: nothing more is added then, and while it is written it is
  // looked at for values that are not finite.
  void sum(PayloadId into, PayloadId with, bool is_root);
  void drop(PayloadId payload);

  [[nodiscard]] std::span<const float> values(PayloadId payload) const;
  // Whether it is the last root that was summed, and was seen to be finite. Asked for once: a later question is
  // answered with no.
  bool is_known_finite(PayloadId root);
  // Whoever else has it keeps it too; it must not be summed into any more.
  [[nodiscard]] std::shared_ptr<const Frame> share(PayloadId payload) const { return held_.at(payload).frame; }
  // Of a sum: who has sent what the others were added to.
  [[nodiscard]] SessionId sender(PayloadId payload) const { return held_.at(payload).sender; }

  [[nodiscard]] std::size_t size() const { return held_.size(); }
  // Of their frames. The journal may have more of them for a moment.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Held {
    std::shared_ptr<Frame> frame;  // the journal may share it
    SessionId sender = 0;
  };

  std::unordered_map<PayloadId, Held> held_;
  std::uint64_t bytes_ = 0;
  PayloadId next_ = 1;
  PayloadId finite_root_ = kNoPayload;
};

}  // namespace ballast
