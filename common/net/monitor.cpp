#include "common/net/monitor.h"

#include <cstdint>
#include <cstring>

#include "common/net/frames.h"

namespace ballast {

Monitor::Monitor(zmq::context_t& context, zmq::socket_t& socket, int which)
    : socket_(socket), events_(context, ZMQ_PAIR) {
  const auto name = "inproc://events-" + std::to_string(reinterpret_cast<std::uintptr_t>(socket.handle()));
  events_.set(zmq::sockopt::rcvhwm, 0);  // or ZeroMQ's thread would wait here, and nobody could end the monitor then
  if (zmq_socket_monitor(socket.handle(), name.c_str(), which) == 0) {
    events_.connect(name);
  }
}

Monitor::~Monitor() { zmq_socket_monitor(socket_.handle(), nullptr, 0); }

// An event has a frame of its number, 2 bytes, and its value, 4 bytes; and one of the address.
std::optional<SocketEvent> Monitor::next() {
  zmq::message_t frame;
  SocketEvent event;
  if (!receive_frame(events_, frame) || frame.size() != sizeof(event.number) + sizeof(event.value)) {
    return std::nullopt;
  }
  std::memcpy(&event.number, frame.data(), sizeof(event.number));
  std::memcpy(&event.value, static_cast<const std::byte*>(frame.data()) + sizeof(event.number), sizeof(event.value));
  if (!receive_frame(events_, frame)) {
    return std::nullopt;
  }
  event.address = frame.to_string();
  return event;
}

}  // namespace ballast
