#include "common/http/http_connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace ballast {
namespace {

bool is_to_be_tried_again(int code) { return code == EAGAIN || code == EWOULDBLOCK || code == EINTR; }

}  // namespace

HttpConnection::HttpConnection(int descriptor, Clock::time_point now)
    : descriptor_(descriptor), until_(now + kReads), moved_at_(now) {}

HttpConnection::~HttpConnection() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

HttpConnection::HttpConnection(HttpConnection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      state_(other.state_),
      until_(other.until_),
      moved_at_(other.moved_at_),
      text_(std::move(other.text_)),
      request_(std::move(other.request_)),
      parts_(std::move(other.parts_)),
      part_(other.part_),
      sent_(other.sent_),
      moved_(other.moved_) {}

HttpConnection& HttpConnection::operator=(HttpConnection&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  state_ = other.state_;
  until_ = other.until_;
  moved_at_ = other.moved_at_;
  text_ = std::move(other.text_);
  request_ = std::move(other.request_);
  parts_ = std::move(other.parts_);
  part_ = other.part_;
  sent_ = other.sent_;
  moved_ = other.moved_;
  return *this;
}

// One that waits is watched for its end alone, which poll tells unasked.
short HttpConnection::events() const {
  switch (state_) {
    case State::reads:
    case State::drains:
      return POLLIN;
    case State::sends:
      return POLLOUT;
    case State::waits:
    case State::is_over:
      break;
  }
  return 0;
}

// A request comes in one piece from who means it: what is there of one is nothing.
std::optional<HttpConnection::Clock::time_point> HttpConnection::stands_still_since(Clock::time_point now) const {
  const bool may =
      state_ == State::reads || state_ == State::drains || (state_ == State::sends && now >= judged_from());
  return may ? std::optional(moved_at_) : std::nullopt;
}

void HttpConnection::enter(State state, std::chrono::milliseconds patience, Clock::time_point now) {
  state_ = state;
  moved_at_ = now;
  moved_ = 0;
  until_ = now + patience;
}

void HttpConnection::go_on(Clock::time_point now) {
  switch (state_) {
    case State::reads:
      return read(now);
    case State::sends:
      return send(now);
    case State::drains:
      return drain();
    case State::waits:  // there is nothing to be read: it has hung up
      state_ = State::is_over;
      break;
    case State::is_over:
      break;
  }
}

void HttpConnection::read(Clock::time_point now) {
  std::array<char, 2048> bytes{};
  const auto came = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
  if (came < 0 && is_to_be_tried_again(errno)) {
    return;
  }
  if (came <= 0) {
    state_ = State::is_over;
    return;
  }
  text_.append(bytes.data(), static_cast<std::size_t>(came));
  auto reading = read_http_request(text_);
  if (!reading.is_whole) {
    return;
  }
  text_.clear();
  request_ = std::move(reading.request);
  enter(State::waits, kWaits, now);
  if (reading.refusal != 0) {
    auto refused = http_text(reading.refusal, reading.why);
    if (reading.refusal == 405) {
      refused.headers.emplace_back("Allow", "GET, HEAD");
    }
    answer(refused, now);
  }
}

void HttpConnection::answer(const HttpAnswer& answer, Clock::time_point now) {
  parts_ = {std::make_shared<const std::string>(http_head(answer))};
  if (!request_.is_head) {
    parts_.insert(parts_.end(), answer.body.begin(), answer.body.end());
  }
  enter(State::sends, kSends, now);
  send(now);
}

void HttpConnection::send(Clock::time_point now) {
  while (part_ < parts_.size()) {
    if (!parts_[part_] || sent_ == parts_[part_]->size()) {
      ++part_;
      sent_ = 0;
      continue;
    }
    const auto& part = *parts_[part_];
    const auto went = ::send(descriptor_, part.data() + sent_, part.size() - sent_, MSG_NOSIGNAL);
    if (went < 0) {
      state_ = is_to_be_tried_again(errno) ? state_ : State::is_over;
      return;
    }
    sent_ += static_cast<std::size_t>(went);
    moved_ += static_cast<std::size_t>(went);
    if (moved_ >= kMoves) {
      moved_at_ = now;
      moved_ = 0;
    }
  }
  parts_.clear();
  ::shutdown(descriptor_, SHUT_WR);
  enter(State::drains, kDrains, now);
}

void HttpConnection::drain() {
  std::array<char, 4096> bytes{};
  const auto came = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
  if (came == 0 || (came < 0 && !is_to_be_tried_again(errno))) {
    state_ = State::is_over;
  }
}

void HttpConnection::be_late(Clock::time_point now) {
  if (state_ == State::reads) {
    answer(http_text(408, "the request was not whole within 5 s"), now);
  } else if (state_ == State::waits) {
    answer(http_text(503, "the lead does not answer"), now);
  } else {
    state_ = State::is_over;
  }
}

}  // namespace ballast
