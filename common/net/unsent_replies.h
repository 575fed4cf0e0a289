// What a ROUTER has said and its peers have not read: bounded in bytes, of each and of all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
#include <zmq.hpp>

namespace ballast {

// Bytes that several messages may share.
using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

// Counts the frames given to the transport until it lets go of them. Anybody may ask and not read the answers, so what
// has no room is not said: whoever needs it asks again. Whatever it is that they are told, a peer has room of its own,
// which nobody can take from it, and beside it an eighth of what is left of the room that all share; of that a first
// frame may have as much as there is. So all of it together is at most kMostPeers * own + shared, by default 96 MiB.
// Where peers have keys, a key has no more of kMostPeers places than it leaves: 2,048 where no other has any, and 1,024
// beside another one that has as many as it may. One thread, but for the transport's.
class UnsentReplies {
 public:
  struct Room {
    std::uint64_t own = 16U << 10U;
    std::uint64_t shared = 32U << 20U;
  };
  static constexpr std::uint64_t kShare = 8;
  // That have something unsent; others are told nothing meanwhile. So one key has places for two connections of each of
  // 1,000 sessions at a lane; at the lead, beside 1,024 lanes, for 1,000 sessions and half as many that come anew.
  static constexpr std::size_t kMostPeers = 4096;
  // Counts beside the bytes of each frame: what the transport and this keep of it.
  static constexpr std::uint64_t kOfFrame = 256;

  // `has_keys`: peers have keys; else one may have all places.
  UnsentReplies(bool has_keys, Room room) : room_(room), has_keys_(has_keys) {}
  explicit UnsentReplies(bool has_keys) : UnsentReplies(has_keys, Room{}) {}

  // By a name of its own, and the key that it came with; an empty one: there are none, or its is not known. Those whose
  // key is not known are one key's.
  struct To {
    std::string_view name;
    std::string_view key = {};
  };
  // A frame of these bytes, which count as unsent by the peer until the transport lets go of it; nothing if they have
  // no room.
  std::optional<zmq::message_t> frame(To peer, SharedBytes bytes);
  std::optional<zmq::message_t> frame(To peer, std::span<const std::byte> bytes);

  // Of all peers.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  using Count =
      std::shared_ptr<std::atomic<std::uint64_t>>;  // the transport may hold frames for longer than this lives
  struct Peer {
    Count own;
    Count shared;
    std::string key;
    [[nodiscard]] bool has_read_all() const { return *own == 0 && *shared == 0; }
  };
  struct Note;

  static Count none() { return std::make_shared<std::atomic<std::uint64_t>>(0); }
  static void let_go(void* data, void* hint);
  Peer* add(To peer);
  [[nodiscard]] bool has_place(const std::string& key) const;
  void forget_readers();
  [[nodiscard]] bool fits_shared(const Peer* peer, std::uint64_t bytes) const;

  const Room room_;
  const bool has_keys_;
  const Count shared_ = none();  // of all peers
  const Count read_ = none();    // frames that were let go of, ever
  std::uint64_t looked_at_ = 0;  // read_, when peers were looked through last
  std::unordered_map<std::string, Peer> peers_;
  std::unordered_map<std::string, std::size_t> places_;  // of them, by key
};

}  // namespace ballast
