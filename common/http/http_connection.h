// One connection of the HTTP server: a request, its answer, and the end.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/http/http_request.h"

namespace ballast {

// Owns its descriptor, which is not waited for. One thread.
class HttpConnection {
 public:
  using Clock = std::chrono::steady_clock;

  enum class State {
    reads,    // the request is not whole
    waits,    // it is, and nobody has answered it yet
    sends,    // the answer
    drains,   // all is sent; what still comes is thrown away, so that no reset takes the answer away
    is_over,  // to be closed
  };

  // Each state takes so long at most.
  static constexpr std::chrono::milliseconds kReads{5'000};
  static constexpr std::chrono::milliseconds kWaits{3'000};
  static constexpr std::chrono::milliseconds kSends{20'000};
  static constexpr std::chrono::milliseconds kDrains{500};
  // An answer stands still of which less than kMoves bytes went within that.
  static constexpr std::chrono::milliseconds kUnjudged{1'000};
  static constexpr std::size_t kMoves = 4096;

  HttpConnection(int descriptor, Clock::time_point now);
  ~HttpConnection();
  HttpConnection(HttpConnection&& other) noexcept;
  HttpConnection& operator=(HttpConnection&& other) noexcept;
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // Reads or sends what can be, after poll has said that something can.
  void go_on(Clock::time_point now);
  // Of one that waits.
  void answer(const HttpAnswer& answer, Clock::time_point now);
  // The time of its state is over: it is answered so, or ends.
  void be_late(Clock::time_point now);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const HttpRequest& request() const { return request_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] short events() const;
  [[nodiscard]] Clock::time_point until() const { return until_; }
  // Since when nothing has come of it; who is the first to give way has that for longest. Nothing: nobody may take its
  // place, for it waits for us, or is being sent its answer.
  [[nodiscard]] std::optional<Clock::time_point> stands_still_since(Clock::time_point now) const;
  // When it may be found to stand still, if nothing comes of it until then.
  [[nodiscard]] Clock::time_point judged_from() const { return moved_at_ + kUnjudged; }

 private:
  void enter(State state, std::chrono::milliseconds patience, Clock::time_point now);
  void read(Clock::time_point now);
  void send(Clock::time_point now);
  void drain();

  int descriptor_;
  State state_ = State::reads;
  Clock::time_point until_;
  Clock::time_point moved_at_;  // the begin of its state, or kMoves bytes of the answer since
  std::string text_;
  HttpRequest request_;
  std::vector<std::shared_ptr<const std::string>> parts_;
  std::size_t part_ = 0;
  std::size_t sent_ = 0;   // of that part
  std::size_t moved_ = 0;  // since moved_at_
};

}  // namespace ballast
