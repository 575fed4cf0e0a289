#include "common/net/intake.h"

#include <algorithm>

#include "common/net/connected_peers.h"

namespace ballast {

namespace {

std::string key_of(zmq::message_t& frame) {
  const auto* const key = zmq_msg_gets(frame.handle(), "User-Id");
  return key == nullptr ? std::string() : std::string(key);
}

}  // namespace

bool count(ConnectionCounts& counts, const std::string& address, const std::string& key) {
  const std::pair place(address, key);
  if (counts.size() >= kMostConnectionCounts && !counts.contains(place)) {
    return false;
  }
  ++counts[place];
  return true;
}

void Intake::begin(const std::string& endpoint) {
  const std::scoped_lock lock(mutex_);
  endpoint_ = endpoint;
  connections_.clear();
}

// A frame of CURVE has a name (8 bytes), a nonce (8), an authenticator (16) and flags (1) before its bytes, and ZMTP's
// length before all of that.
std::uint64_t Intake::wire_bytes(std::size_t frame) {
  constexpr std::uint64_t kCurve = 33;
  constexpr std::uint64_t kMostOfShort = 255;
  const auto sealed = frame + kCurve;
  return sealed + (sealed > kMostOfShort ? 9 : 2);
}

void Intake::add(zmq::message_t& frame, std::uint64_t bytes) {
  const int descriptor = zmq_msg_get(frame.handle(), ZMQ_SRCFD);
  const auto cookie = descriptor < 0 ? 0 : connection_cookie(descriptor);
  if (cookie == 0) {
    return;  // it has ended
  }
  const std::scoped_lock lock(mutex_);
  auto& connection = connections_[descriptor];
  if (connection.cookie != cookie) {
    connection = {cookie, key_of(frame)};
    is_lost_ = is_lost_ || !count(heard_, connection_address(descriptor), connection.key);
  } else if (const auto* const key = zmq_msg_gets(frame.handle(), "User-Id"); key == nullptr || connection.key != key) {
    connection.is_clear = false;  // of another one, which had the descriptor before
  }
  connection.bytes += bytes;
}

std::vector<Intake::Rest> Intake::rests() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Rest> rests;
  for (auto& peer : connected_peers(endpoint_)) {
    auto& rest = rests.emplace_back(Rest{std::move(peer.host), std::nullopt, peer.received});
    const auto known = connections_.find(peer.descriptor);
    if (known != connections_.end() && known->second.cookie == peer.cookie && known->second.is_clear) {
      rest.key = known->second.key;
      rest.bytes -= std::min(rest.bytes, known->second.bytes);
    }
  }
  return rests;
}

std::optional<ConnectionCounts> Intake::heard() const {
  const std::scoped_lock lock(mutex_);
  return is_lost_ ? std::nullopt : std::optional(heard_);
}

}  // namespace ballast
