// A worker's sockets to the lanes, one each: messages instead of frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "common/job/spec.h"
#include "common/net/dealer.h"
#include "common/net/link_info.h"
#include "common/net/turn.h"
#include "common/wire/versions.h"
#include "common/wire/wire.h"
#include "protocol/messages.h"

namespace ballast {

// One thread. Bytes that are still being sent after close() must outlive this object, and so must the queue that is
// told of them.
class LaneSockets {
 public:
  struct Incoming {
    Decoded decoded;
    std::optional<Frame> payload;
  };

  // `keys`: null if it has none; outlive this.
  LaneSockets(SessionId session, ClientKeys* keys) : session_(session), keys_(keys) {}

  // Once, before anything else: how many lanes there are, and what the job says of their sockets.
  void open(std::uint32_t shards, std::uint32_t lanes_per_shard, const ClusterSpec& cluster);
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(links_.size()); }
  [[nodiscard]] std::uint32_t per_shard() const { return per_shard_; }
  // To a new address, or anew, by a name that no earlier connection had: what was queued for the lane's earlier life
  // never reaches anyone.
  void connect(std::uint32_t lane, const std::string& address);
  void add_to(Poll& poll);
  // Whose connections are over, by lane: another one begins, and nothing has come over it yet. Not those that connect()
  // has put others in place of.
  std::vector<std::uint32_t> tick(Micros now);
  void close();

  // What the kernel says of the connection to the lane; nothing before it has said anything, or where there is nothing
  // to be said.
  [[nodiscard]] std::optional<LinkInfo> link(std::uint32_t lane) const;

  // The lane whose turn it is to be heard; each call names the next one.
  std::uint32_t next();
  // The lane's next message, or why it could not be read; nothing if none is there. Its payload is spent of the turn.
  std::optional<Incoming> receive(std::uint32_t lane, Turn& turn);
  void send(std::uint32_t lane, const Message& message);
  void send(std::uint32_t lane, const Message& message, const Borrowed& payload);
  // Why this worker and one of the lanes can't talk: no version of the protocol is common to them.
  [[nodiscard]] const std::optional<std::string>& hopeless() const { return hopeless_; }

 private:
  struct Link {
    Dealer socket;
    Conversation conversation;
    std::uint32_t connection = 0;  // of the socket's, that is known to be the newest
    SystemSocket system = {};      // that the newest message came by
  };

  bool heard(std::uint32_t lane, Decoded& decoded);
  std::span<const std::byte> encode(Link& peer, const Message& message);

  SessionId session_;
  ClientKeys* keys_;
  int buffer_bytes_ = 0;
  std::uint32_t per_shard_ = 1;
  zmq::context_t context_ = make_context();   // its number of threads is the job's, which the lead tells
  std::vector<std::unique_ptr<Link>> links_;  // null until it is known where to connect
  std::uint32_t next_ = 0;
  std::optional<std::string> hopeless_;
  Encoder encoder_;
};

}  // namespace ballast
