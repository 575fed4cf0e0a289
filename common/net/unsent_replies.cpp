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
};

std::optional<zmq::message_t> UnsentReplies::frame(std::string_view name, SharedBytes bytes) {
  const auto* peer = find(name);
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
      Note{std::move(bytes), counted, is_own ? peer->own : peer->shared, is_own ? Count() : shared_});
  *note->peer += counted;
  if (note->all) {
    *note->all += counted;
  }
  BALLAST_TSAN_RELEASE(note.get());
  return zmq::message_t(data, size, let_go, note.release());
}

std::optional<zmq::message_t> UnsentReplies::frame(std::string_view peer, std::span<const std::byte> bytes) {
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
}

std::uint64_t UnsentReplies::bytes() const {
  std::uint64_t bytes = *shared_;
  for (const auto& [name, peer] : peers_) {
    bytes += *peer.own;
  }
  return bytes;
}

// Null if too many others are known, and have not read all.
UnsentReplies::Peer* UnsentReplies::find(std::string_view name) {
  std::string key(name);
  if (const auto known = peers_.find(key); known != peers_.end()) {
    return &known->second;
  }
  if (peers_.size() >= kMostPeers) {
    std::erase_if(peers_, [](const auto& known) { return known.second.has_read_all(); });
  }
  if (peers_.size() >= kMostPeers) {
    return nullptr;
  }
  return &peers_.emplace(std::move(key), Peer{none(), none()}).first->second;
}

}  // namespace ballast
