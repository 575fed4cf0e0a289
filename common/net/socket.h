// ZeroMQ as Ballast uses it: one ROUTER per loop, one DEALER per peer, header frame and optional payload frame.
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

#include "common/net/address.h"
#include "common/net/gate.h"
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

// Sockets of one context at most. A worker of 64 shards with 16 lanes each has 1,025.
inline constexpr int kMaxSockets = 4096;

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

 private:
  zmq::message_t message_;
};

// The transport has let go of borrowed bytes.
struct Released {
  std::uint64_t owner = 0;   // as the sender chose, e.g. a session
  std::uint64_t object = 0;  // as the sender chose, e.g. a chunk
  void* buffer = nullptr;    // as the sender chose
  std::uint64_t bytes = 0;
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
  std::int64_t frame_bytes = 0;  // of one frame at most; 0: the limit of the socket's kind, above
};

class Socket {
 public:
  // False if the message could not be queued: the peer is unknown or gone. `peer` only for a Router.
  bool send(std::string_view peer, std::span<const std::byte> header);
  bool send(std::string_view peer, std::span<const std::byte> header, const Borrowed& payload);
  // The same with a header frame of the caller's making; without a payload if that is null. True: both are taken.
  bool send(std::string_view peer, zmq::message_t& header, const Borrowed* payload = nullptr);
  // The next message, if one is there. Of one with too many parts none is kept, and kPartsAtOnce are read by each call:
  // the first one tells of it, and no other message is there before the last of them.
  std::optional<Received> receive();

  // Unsent messages linger; borrowed bytes may still be in use until the context has been closed.
  void close() { socket_.close(); }

  [[nodiscard]] zmq::socket_t& raw() { return socket_; }

 protected:
  Socket(zmq::context_t& context, zmq::socket_type type, const SocketOptions& options);

 private:
  bool send_frames(std::string_view peer, zmq::message_t& header, zmq::message_t* payload);
  bool skip();

  zmq::socket_t socket_;
  bool is_router_;
  bool is_skipping_ = false;  // the rest of a message with too many parts
};

class Router : public Socket {
 public:
  explicit Router(zmq::context_t& context, const SocketOptions& options = {});
  // Binds tcp://HOST:PORT (PORT * takes a free one) or ipc://PATH, and returns the address with the port filled in. A
  // socket file that a dead process left behind is replaced, one that a live process listens on is not. Throws
  // std::runtime_error with the address, the reason and the remedy.
  std::string bind(const std::string& address);
  // Where it is bound, with the port filled in.
  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  // Leaves the address, so that another Router can bind it, cuts all who are connected, and closes: what they had sent
  // and was not read is freed, also the parts of messages that have not ended, and what they were to be sent is not.
  // Waits for ZeroMQ to let go of the address, a moment as a rule, two seconds at most. Whoever has another hold of
  // gate() must let go of it as well.
  void leave();
  // The way in, once it is bound; null if ZeroMQ does not tell which socket listens.
  [[nodiscard]] const std::shared_ptr<Gate>& gate() const { return gate_; }
  void close();

 private:
  zmq::context_t& context_;
  std::string endpoint_;
  std::shared_ptr<Gate> gate_;
};

class Dealer : public Socket {
 public:
  Dealer(zmq::context_t& context, std::string_view routing_id, const SocketOptions& options = {});
  ~Dealer();
  Dealer(const Dealer&) = delete;
  Dealer& operator=(const Dealer&) = delete;

  // Connects now or whenever the peer is there, and reconnects by itself. A host that is a name is looked up by tick(),
  // at first and again when the peer is gone or silent: it may have come back under another address
  // (common/net/dial.h). What was sent to the earlier one and has not arrived is lost.
  void connect(const std::string& address);
  // Before connect(): from then on is_connected() can be asked.
  void watch();
  // A few times a second. Never waits for the resolver.
  void tick(Micros now);
  // Whether one that speaks ZeroMQ is there. It need not have said anything.
  bool is_connected();
  std::optional<Received> receive();
  void close();

 private:
  struct Named;

  void connect_to(const std::string& address);
  void redial(const std::string& before);
  void take_events();
  void unwatch();

  zmq::context_t& context_;
  std::unique_ptr<zmq::socket_t> events_;
  bool connected_ = false;
  std::unique_ptr<Named> named_;  // null: its address is a number, or a path
};

// Waits on sockets and file descriptors.
class Poll {
 public:
  void add(Socket& socket);
  void add(int fd);
  // Whether anything is ready before the time is over. Interruptions by signals count as nothing.
  bool wait(long timeout_ms);
  // Of the item added as number `index`.
  [[nodiscard]] bool ready(std::size_t index) const { return (items_[index].revents & ZMQ_POLLIN) != 0; }

 private:
  std::vector<zmq::pollitem_t> items_;
};

}  // namespace ballast
