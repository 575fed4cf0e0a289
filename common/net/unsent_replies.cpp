#include "common/net/unsent_replies.h"

#include <algorithm>
#include <utility>

#include "common/net/tsan.h"

namespace ballast {

// Of one frame.
struct UnsentReplies::Note {
  SharedBytes bytes;
  std::uint64_t counted = 0;
  Count peer;
  Count all;  // null: the frame is in the peer's own room
  Count read;
};

std::optional<zmq::message_t> UnsentReplies::frame(To to, SharedBytes bytes) {
  const auto* peer = find(to);
  const std::uint64_t counted = bytes->size() + kOfFrame;
  if (peer == nullptr) {
    return std::nullopt;
  }
  const bool is_own = *peer->own + counted <= room_.own;
  if (!is_own && !fits_shared(*peer, counted)) {
    return std::nullopt;
  }
  // ZeroMQ takes a pointer to non-const but only reads.
  auto* const data = const_cast<std::byte*>(bytes->data());  // NOLINT
  const auto size = bytes->size();
  auto note = std::make_unique<Note>(
      Note{std::move(bytes), counted, is_own ? peer->own : peer->shared, is_own ? Count() : shared_, read_});
  *note->peer += counted;
  if (note->all) {
    *note->all += counted;
  }
  BALLAST_TSAN_RELEASE(note.get());
  return zmq::message_t(data, size, let_go, note.release());
}

std::optional<zmq::message_t> UnsentReplies::frame(To peer, std::span<const std::byte> bytes) {
  return frame(peer, std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()));
}

bool UnsentReplies::fits_shared(const Peer& peer, std::uint64_t bytes) const {
  const std::uint64_t left = room_.shared - std::min<std::uint64_t>(room_.shared, *shared_);
  return bytes <= left && (peer.has_read_all() || *peer.shared + bytes <= left / kShare);
}

void UnsentReplies::let_go(void* /*data*/, void* hint) {
  const std::unique_ptr<Note> note(static_cast<Note*>(hint));
  BALLAST_TSAN_ACQUIRE(note.get());
  *note->peer -= note->counted;
  if (note->all) {
    *note->all -= note->counted;
  }
  ++*note->read;
}

std::uint64_t UnsentReplies::bytes() const {
  std::uint64_t bytes = *shared_;
  for (const auto& [name, peer] : peers_) {
    bytes += *peer.own;
  }
  return bytes;
}

// Null if too many others are known, and have not read all.
UnsentReplies::Peer* UnsentReplies::find(To peer) {
  std::string name(peer.name);
  if (const auto known = peers_.find(name); known != peers_.end()) {
    return &known->second;
  }
  if (!has_place(peer.key)) {
    forget_readers();
  }
  if (!has_place(peer.key)) {
    return nullptr;
  }
  ++places_[std::string(peer.key)];
  return &peers_.emplace(std::move(name), Peer{none(), none(), std::string(peer.key)}).first->second;
}

bool UnsentReplies::has_place(std::string_view key) const {
  const auto left = kMostPeers - peers_.size();
  const auto taken = key.empty() ? places_.end() : places_.find(std::string(key));
  return left > 0 && (taken == places_.end() || taken->second < left);
}

// Nobody has read all since the last look unless something was let go of.
void UnsentReplies::forget_readers() {
  if (std::exchange(looked_at_, *read_) == *read_) {
    return;
  }
  std::erase_if(peers_, [&](const auto& known) {
    const auto& peer = known.second;
    if (!peer.has_read_all()) {
      return false;
    }
    const auto taken = places_.find(peer.key);
    if (--taken->second == 0) {
      places_.erase(taken);
    }
    return true;
  });
}

}  // namespace ballast
