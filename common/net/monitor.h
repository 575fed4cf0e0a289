// What ZeroMQ tells of the connections of one socket.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <zmq.hpp>

namespace ballast {

struct SocketEvent {
  std::uint16_t number = 0;  // ZMQ_EVENT_...
  std::uint32_t value = 0;   // by the number: a descriptor, an errno, a fault of the protocol
  std::string address;
};

// Of one socket, from when it is made. What is told is kept until it is taken, without a bound: with one, ZeroMQ's
// thread would wait where nobody takes it, and every connection of the context with it. So it is taken often, and a
// monitor that nobody looks at any more goes. The socket outlives it. Must be used by one thread at a time, and may be
// handed from one to another.
class Monitor {
 public:
  Monitor(zmq::context_t& context, zmq::socket_t& socket, int which);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // The next event, if one is there.
  std::optional<SocketEvent> next();
  [[nodiscard]] zmq::socket_t& raw() { return events_; }

 private:
  zmq::socket_t& socket_;
  zmq::socket_t events_;
};

}  // namespace ballast
