// ZeroMQ as Ballast uses it: one ROUTER per loop (router.h), one DEALER per peer (dealer.h), header frame and optional
// payload frame.
//
// Sockets belong to one thread each. Nothing here blocks but Poll::wait. What must not be lost is asked for again by
// the protocol, so a send that cannot happen is a return value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "common/net/intake.h"
#include "common/net/mailbox.h"
#include "protocol/ids.h"

namespace ballast {

// Bytes of one frame at most; the transport cuts a peer that exceeds them. A ROUTER hears anyone: a chunk and some
// words. A DEALER hears the server it chose, whose status of many workers may be longer.
inline constexpr std::int64_t kMaxRouterFrameBytes = 4 << 20;
inline constexpr std::int64_t kMaxDealerFrameBytes = 32 << 20;

// Parts of a message with too many that are read at once: as one may have millions, which are there before the first
// can be read, a loop that read them all would be silent meanwhile.
inline constexpr int kPartsAtOnce = 4096;

// Sockets of one context at most. A worker of 64 shards with 16 lanes each has 1,025 connections, each with the two by
// which ZeroMQ tells how it fares; and those that replace others while these are still closing.
inline constexpr int kMaxSockets = 8192;

// A context that takes so many.
zmq::context_t make_context();

// A received frame; moving it moves the ownership of its bytes, which may be written.
class Frame {
 public:
  Frame() = default;
  explicit Frame(zmq::message_t message) : message_(std::move(message)) {}
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(message_.data()), message_.size()};
  }
  [[nodiscard]] std::byte* data() { return static_cast<std::byte*>(message_.data()); }
  [[nodiscard]] std::size_t size() const { return message_.size(); }
  // The public key of whoever sent it, as long as the frame is there; empty where there are no keys.
  [[nodiscard]] std::string_view key() const;
  // The host that it came from, without a port; over ipc the sender's process and user.
  [[nodiscard]] std::string_view host() const;
  // Of the connection that it came over, which may have ended since: another one may have it now. -1: not known.
  [[nodiscard]] int descriptor() const;

 private:
  // What reads properties takes no message that is const.
  mutable zmq::message_t message_;
};

// The transport has let go of borrowed bytes.
struct Released {
  std::uint64_t owner = 0;   // as the sender chose, e.g. a session
  std::uint64_t object = 0;  // as the sender chose, e.g. a chunk
  void* buffer = nullptr;    // as the sender chose
  std::uint64_t bytes = 0;
  Micros at = 0;  // when, by the monotonic clock; 0: they were not sent
};
using ReleaseQueue = Mailbox<Released>;

// Bytes sent without copying: unchanged until the queue says `released`, which happens exactly once for each send that
// was given them, also a failed one. The queue must outlive the context.
struct Borrowed {
  const void* data = nullptr;
  std::size_t size = 0;
  Released released;
  ReleaseQueue* queue = nullptr;
};

struct Received {
  std::string peer;  // the routing id; empty from a Dealer
  Frame header;
  std::optional<Frame> payload;
  bool malformed = false;  // the wrong number of frames: none of them is kept
};

struct SocketOptions {
  int linger_ms = 1000;  // how long unsent messages keep a closing socket
  // Of the system, for each connection and direction; 0: the kernel tunes them. A given size ends that, and is cut to
  // what the kernel allows.
  int buffer_bytes = 0;
  // Messages that wait for one peer at most; then `send` fails. 0: what is sent is bounded otherwise, by credits and
  // reply windows.
  int unsent = 0;
  // Of a Router: messages of one peer that wait to be read at most; then nothing is read from its connection, and the
  // peer itself keeps what it has to say. More than a worker's credit has in chunks of the largest size: it bounds
  // those who send small messages without end. Not for less: a connection whose messages nobody takes for 10 s is cut.
  int unread = 256;
  bool tells_connections = false;       // of a Router: somebody takes its callers' changes
  std::int64_t frame_bytes = 0;         // of one frame at most; 0: the limit of the socket's kind, above
  std::shared_ptr<Intake> intake = {};  // of a Router: is told what comes by which connection; null: nobody is
};

class Socket {
 public:
  // False if the message could not be queued: the peer is unknown or gone. `peer` only for a Router.
  bool send(std::string_view peer, std::span<const std::byte> header);
  bool send(std::string_view peer, std::span<const std::byte> header, const Borrowed& payload);
  // The same with a header frame of the caller's making; without a payload if that is null. True: both are taken.
  bool send(std::string_view peer, zmq::message_t& header, const Borrowed* payload = nullptr);
  // Whether the last message that was not taken has nobody to go to, any more or yet; else the peer takes no more now.
  [[nodiscard]] bool is_unreachable() const { return is_unreachable_; }
  // The next message, if one is there. Of one with too many parts none is kept, and kPartsAtOnce are read by each call:
  // the first one tells of it, and no other message is there before the last of them.
  std::optional<Received> receive();
  // Whether no message is there because the rest of one with too many parts is still to be read.
  [[nodiscard]] bool is_skipping() const { return is_skipping_; }

  // Unsent messages linger; borrowed bytes may still be in use until the context has been closed.
  void close() { socket_.close(); }

  [[nodiscard]] zmq::socket_t& raw() { return socket_; }

 protected:
  Socket(zmq::context_t& context, zmq::socket_type type, const SocketOptions& options);
  // Another socket of the same kind, of which nothing is known to anybody, in place of this one, which is closed.
  // False: there is none for want of descriptors or memory, and all is as it was.
  bool renew();
  [[nodiscard]] zmq::context_t& context() { return context_; }
  [[nodiscard]] const SocketOptions& options() const { return options_; }

 private:
  zmq::socket_t make();
  bool send_frames(std::string_view peer, zmq::message_t& header, zmq::message_t* payload);
  bool send_first(zmq::message_t& frame, bool more);
  bool skip();
  void take_in(std::vector<zmq::message_t>& frames) const;

  zmq::context_t& context_;
  zmq::socket_type type_;
  SocketOptions options_;
  zmq::socket_t socket_;
  bool is_router_;
  bool is_skipping_ = false;  // the rest of a message with too many parts
  bool is_unreachable_ = false;
};

// Waits on sockets and file descriptors.
class Poll {
 public:
  // Whatever socket of ZeroMQ's that is at each wait.
  void add(Socket& socket);
  void add(int fd);
  // Whether anything is ready before the time is over. Interruptions by signals count as nothing.
  bool wait(long timeout_ms);
  // Of the item added as number `index`.
  [[nodiscard]] bool ready(std::size_t index) const { return (items_[index].revents & ZMQ_POLLIN) != 0; }

 private:
  std::vector<zmq::pollitem_t> items_;
  std::vector<Socket*> sockets_;  // of each item; null: it is a descriptor
};

}  // namespace ballast
