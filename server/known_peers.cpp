#include "server/known_peers.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "server/authenticator.h"

namespace ballast {

namespace {

KeyRole role_of(const Peer& peer) {
  if (std::holds_alternative<SessionPeer>(peer)) {
    return KeyRole::worker;
  }
  return std::holds_alternative<LanePeer>(peer) ? KeyRole::shard : KeyRole::command;
}

}  // namespace

std::string KnownPeers::name_before(std::string_view key) const {
  if (!before_) {
    return {};
  }
  const auto was = before_->find(std::string(key));
  return was == before_->end() ? std::string() : " (" + was->second.name + ")";
}

std::string KnownPeers::why_not(const Peer& peer, std::string_view key) {
  if (keys_ == nullptr) {
    return {};
  }
  if (const auto edition = keys_->edition(); !allowed_ || edition != edition_) {
    edition_ = edition;
    before_ = std::exchange(allowed_, keys_->allowed());
  }
  const auto found = allowed_->find(std::string(key));
  if (found == allowed_->end()) {
    return "its key" + name_before(key) + " is no longer allowed: it has been taken out of the servers' allowed.keys";
  }
  const auto needed = role_of(peer);
  if (found->second.role != needed) {
    return "the key " + found->second.name + " is of role " + std::string(word_of(found->second.role)) +
           " in the servers' allowed.keys, and " + name_of_peer(peer) + " needs one of role " +
           std::string(word_of(needed));
  }
  return {};
}

std::string KnownPeers::heard(const PeerConnection& from, std::string_view key) {
  if (auto why = why_not(from.peer, key); !why.empty()) {
    return why;
  }
  const std::string first(from.first);
  auto found = known_.find(first);
  if (found == known_.end()) {
    if (known_.size() >= kMost) {
      forget_some();
    }
    found =
        known_.emplace(first, Known{from.connection, kProtocolVersion, std::string(key), std::string(from.id)}).first;
    named_by_[std::string(key)].push_back(first);
  }
  auto& known = found->second;
  if (known.key != key) {
    return name_of_peer(from.peer) + " has another key: who has named it first is the one who may speak for it";
  }
  if (from.connection > known.connection) {
    known.connection = from.connection;
    known.routing_id = from.id;
    known.version = kProtocolVersion;
    known.clock = {};
  }
  return {};
}

bool KnownPeers::speaks(const PeerConnection& from, std::uint32_t version) {
  const auto found = known_.find(std::string(from.first));
  if (found == known_.end() || found->second.connection != from.connection || !is_spoken(version)) {
    return false;
  }
  return std::exchange(found->second.version, version) != version;
}

void KnownPeers::tells_time(const PeerConnection& from, const FrameClock& clock, Micros now) {
  const auto found = known_.find(std::string(from.first));
  if (found != known_.end() && found->second.connection == from.connection) {
    found->second.clock.heard(clock, now);
  }
}

FrameClock KnownPeers::clock_for(const std::string& first, Micros now) const {
  const auto found = known_.find(first);
  return found == known_.end() ? FrameClock{now} : found->second.clock.now(now);
}

std::string KnownPeers::reached_by(const std::string& first) const {
  const auto found = known_.find(first);
  return found == known_.end() ? first : found->second.routing_id;
}

std::uint32_t KnownPeers::version_of(const std::string& first) const {
  const auto found = known_.find(first);
  return found == known_.end() ? kProtocolVersion : found->second.version;
}

std::string_view KnownPeers::public_key_of(const std::string& first) const {
  const auto found = known_.find(first);
  return found == known_.end() ? std::string_view() : found->second.key;
}

std::string KnownPeers::key_of(const std::string& first) const {
  const auto found = known_.find(first);
  if (found == known_.end() || !allowed_) {
    return {};
  }
  const auto key = allowed_->find(found->second.key);
  return key == allowed_->end() ? std::string() : key->second.name;
}

void KnownPeers::forget_some() {
  const auto most = std::max_element(named_by_.begin(), named_by_.end(), [](const auto& one, const auto& other) {
    return one.second.size() < other.second.size();
  });
  auto& names = most->second;
  const auto going = names.begin() + static_cast<std::ptrdiff_t>((names.size() + 1) / 2);
  std::for_each(names.begin(), going, [this](const std::string& name) { known_.erase(name); });
  names.erase(names.begin(), going);
}

}  // namespace ballast
