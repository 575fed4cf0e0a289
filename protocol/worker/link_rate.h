// How fast a session's bytes get through.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// The largest of the last samples, as N. Cardwell et al., "BBR: Congestion-Based Congestion Control", 2016, estimate a
// bottleneck: whatever else made a sample wait made it smaller. A sample is what has arrived in a time in which
// something was always on its way. Word of arrivals may come late and all at once; so a sample lasts until something
// has arrived that was sent after its begin, as there. Pure and copyable.
class LinkRate {
 public:
  void sent(std::uint64_t bytes, Micros at) {
    if (on_its_way_ == 0 || !is_running_) {
      begin(at, 0);
    }
    on_its_way_ += bytes;
  }
  // To come when the other side has it: the time until the first of it has come is not the link's.
  void awaited(std::uint64_t bytes) {
    is_running_ = is_running_ && on_its_way_ > 0;
    on_its_way_ += bytes;
  }
  void arrived(std::uint64_t bytes, Micros at) {
    on_its_way_ -= std::min(on_its_way_, bytes);
    if (!is_running_) {
      return on_its_way_ > 0 ? begin(at, 0) : void();
    }
    arrived_ += bytes;
    ++count_;
    if (at > begun_ && arrived_ > older_ && (on_its_way_ == 0 || count_ >= kArrivals)) {
      samples_[next_++ % samples_.size()] =
          static_cast<std::uint64_t>(1e6 * static_cast<double>(arrived_) / static_cast<double>(at - begun_));
      begin(at, on_its_way_);
    }
    is_running_ = on_its_way_ > 0;
  }
  // Nobody waits any more to hear that they have arrived.
  void forget_sent(std::uint64_t bytes) {
    on_its_way_ -= std::min(on_its_way_, bytes);
    is_running_ = is_running_ && on_its_way_ > 0;
  }
  // Nothing is on its way: what was counted twice, or will not be heard of.
  void forget_sent() {
    on_its_way_ = 0;
    is_running_ = false;
  }

  // 0: nothing has arrived.
  [[nodiscard]] std::uint64_t bytes_per_second() const { return *std::ranges::max_element(samples_); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::ages(begun_),
                       listed::plain(is_running_, on_its_way_, older_, arrived_, count_, samples_, next_));
  }

 private:
  void begin(Micros at, std::uint64_t older) {
    is_running_ = true;
    begun_ = at;
    older_ = older;
    arrived_ = 0;
    count_ = 0;
  }

  static constexpr std::size_t kWindow = 15;
  static constexpr std::uint32_t kArrivals = 8;

  Micros begun_ = 0;
  bool is_running_ = false;  // since then something is on its way
  std::uint64_t on_its_way_ = 0;
  std::uint64_t older_ = 0;  // bytes that were on their way when the sample began
  std::uint64_t arrived_ = 0;
  std::uint32_t count_ = 0;
  std::array<std::uint64_t, kWindow> samples_{};
  std::size_t next_ = 0;
};

}  // namespace ballast
