#include "common/net/connection_descriptors.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace ballast {

namespace {

// 0: there is none.
std::uint64_t cookie_of(int descriptor) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof(cookie);
  return ::getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

}  // namespace

// By a descriptor of our own: ZeroMQ's thread may close the other one, and be given it for another connection, between
// a look at it and the call. Where no other one is free, by that.
bool shut_down(const SystemSocket& socket) {
  const int own = ::fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0);
  const int looked_at = own >= 0 ? own : socket.descriptor;
  const bool is_that = socket.cookie != 0 && cookie_of(looked_at) == socket.cookie;
  const bool is_shut = is_that && ::shutdown(looked_at, SHUT_RDWR) == 0;
  if (own >= 0) {
    ::close(own);
  }
  return is_shut;
}

// ZeroMQ tells that a connection is over before it closes the descriptor, and closes it before another one can have it;
// and what it had read of it is then on its way to the socket.
void ConnectionDescriptors::take_changes() {
  bool is_used_again = false;
  const auto changes = router_.callers().changes();
  for (const auto& change : changes) {
    auto [at, is_new] = held_.try_emplace(change.descriptor);
    auto& held = at->second;
    if (!change.begun) {
      if (std::exchange(held.stands, false)) {
        over_.push_back(held.number);
      }
      continue;
    }
    if (held.stands) {
      over_.push_back(held.number);
    }
    held = {++last_, true, is_new, 0};
    is_used_again = is_used_again || !is_new;
  }
  if (!is_used_again) {
    return;
  }
  static_cast<void>(router_.raw().get(zmq::sockopt::events));  // takes in what is on its way
  for (const auto& change : changes) {
    held_[change.descriptor].begun_at = rounds_.now();
  }
}

ConnectionDescriptors::Number ConnectionDescriptors::standing_at(int descriptor) const {
  const auto found = held_.find(descriptor);
  return found == held_.end() || !found->second.stands ? 0 : found->second.number;
}

// 0: it can't be told.
ConnectionDescriptors::Number ConnectionDescriptors::surely_at(int descriptor) const {
  const auto number = standing_at(descriptor);
  if (number == 0) {
    return 0;
  }
  const auto& held = held_.at(descriptor);
  return held.is_first || rounds_.is_read(held.begun_at) ? number : 0;
}

// Looked at before and after: it has not been closed, so the cookie is that connection's.
template <typename NumberAt>
std::optional<ConnectionDescriptors::Connection> ConnectionDescriptors::look_at(int descriptor, NumberAt&& number_at) {
  take_changes();
  const auto number = number_at();
  if (number == 0) {
    return std::nullopt;
  }
  const auto cookie = cookie_of(descriptor);
  take_changes();
  if (cookie == 0 || number_at() != number) {
    return std::nullopt;
  }
  return Connection{number, {descriptor, cookie}};
}

std::optional<ConnectionDescriptors::Connection> ConnectionDescriptors::of_message(int descriptor) {
  return look_at(descriptor, [&] { return surely_at(descriptor); });
}

ConnectionDescriptors::Number ConnectionDescriptors::newest() {
  take_changes();
  return last_;
}

std::vector<ConnectionDescriptors::Connection> ConnectionDescriptors::standing() {
  take_changes();
  std::vector<int> descriptors;
  for (const auto& [descriptor, held] : held_) {
    if (held.stands) {
      descriptors.push_back(descriptor);
    }
  }
  std::vector<Connection> standing;
  for (const int descriptor : descriptors) {
    if (const auto connection = look_at(descriptor, [&] { return standing_at(descriptor); })) {
      standing.push_back(*connection);
    }
  }
  return standing;
}

std::vector<ConnectionDescriptors::Number> ConnectionDescriptors::over() {
  take_changes();
  return std::exchange(over_, {});
}

}  // namespace ballast
