// Who speaks to a listening socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/keys/key_file.h"
#include "common/net/peer.h"
#include "common/wire/frame_clock.h"
#include "common/wire/versions.h"

namespace ballast {

class Authenticator;

// By which connection each is reached, in which version of the protocol it is answered, and with which key it came:
// whoever names a session or a life of a lane first, with a key for such, is the only one who may speak for it. One
// thread.
class KnownPeers {
 public:
  // Anybody may name a peer. If there are more, those of the key that has named most go, the older half of them:
  // nobody can make others be forgotten. Who is forgotten is noted anew when it speaks.
  static constexpr std::size_t kMost = 65536;

  // `keys`: null if there are none, and everybody is who he says; outlives this.
  explicit KnownPeers(const Authenticator* keys) : keys_(keys) {}

  // A message has come from this connection with this key. Why it is not taken, for its sender; empty: it is, and the
  // connection, if it is the newest, is the one that the peer is reached by.
  std::string heard(const PeerConnection& from, std::string_view key);
  // And it was in this version; 0: that could not be told. True if it is news. Of an older connection it says nothing.
  bool speaks(const PeerConnection& from, std::uint32_t version);

  // And it said when it was sent. Of an older connection it says nothing.
  void tells_time(const PeerConnection& from, const FrameClock& clock, Micros now);
  // Of a frame that is sent to it now.
  [[nodiscard]] FrameClock clock_for(const std::string& first, Micros now) const;

  // The routing id by which it is reached, by that of its first connection, which it is known by.
  [[nodiscard]] std::string reached_by(const std::string& first) const;
  // In which it is answered: the newest until it has spoken.
  [[nodiscard]] std::uint32_t version_of(const std::string& first) const;
  // The public key that it came with; empty: there are no keys, or nobody is known by that name.
  [[nodiscard]] std::string_view public_key_of(const std::string& first) const;
  // The name of its key in the list of allowed keys; empty: there are no keys, or it is there no more.
  [[nodiscard]] std::string key_of(const std::string& first) const;
  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    std::uint32_t connection = 0;
    std::uint32_t version = kProtocolVersion;
    std::string key;
    std::string routing_id;  // of that connection
    HeardClock clock = {};   // of what came over it
  };

  [[nodiscard]] std::string name_before(std::string_view key) const;
  [[nodiscard]] std::string why_not(const Peer& peer, std::string_view key);
  void forget_some();

  const Authenticator* keys_;
  std::shared_ptr<const AllowedKeys> allowed_;
  std::shared_ptr<const AllowedKeys> before_;  // until they were read anew: with the names of those that are gone
  std::uint64_t edition_ = 0;                  // of that
  std::unordered_map<std::string, Known> known_;
  std::unordered_map<std::string, std::deque<std::string>> named_by_;  // by key, the oldest first
};

}  // namespace ballast
