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
  const auto known = peers_.find(std::string(to.name));
  const auto* peer = known == peers_.end() ? nullptr : &known->second;
  const std::uint64_t counted = bytes->size() + kOfFrame;
  const bool is_own = (peer == nullptr ? 0 : peer->own->load()) + counted <= room_.own;
  if (!is_own && !fits_shared(peer, counted)) {
    return std::nullopt;
  }
  peer = peer == nullptr ? add(to) : peer;
  if (peer == nullptr) {
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

// Null: of one that has read all.
bool UnsentReplies::fits_shared(const Peer* peer, std::uint64_t bytes) const {
  const std::uint64_t left = room_.shared - std::min<std::uint64_t>(room_.shared, *shared_);
  return bytes <= left && (peer == nullptr || peer->has_read_all() || *peer->shared + bytes <= left / kShare);
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
UnsentReplies::Peer* UnsentReplies::add(To peer) {
  const std::string key(peer.key);
  if (!has_place(key)) {
    forget_readers();
  }
  if (!has_place(key)) {
    return nullptr;
  }
  ++places_[key];
  return &peers_.emplace(std::string(peer.name), Peer{none(), none(), key}).first->second;
}

bool UnsentReplies::has_place(const std::string& key) const {
  const auto left = kMostPeers - peers_.size();
  const auto taken = has_keys_ ? places_.find(key) : places_.end();
  return left > 0 && (taken == places_.end() || taken->second < left);
}

// Nobody has read all since the last look unless something was let go of.
void UnsentReplies::forget_readers() {
  const std::uint64_t read = *read_;  // asked once: the transport counts on
  if (std::exchange(looked_at_, read) == read) {
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
