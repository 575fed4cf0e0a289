#include "tests/cluster/malformed/probe.h"

#include <cstring>

#include "common/keys/client_keys.h"
#include "common/wire/wire.h"

namespace ballast::malformed {

namespace {

// A name for each: that of a closed monitor stays taken for a while.
std::string monitor_address() {
  static int number = 0;
  return "inproc://monitor-" + std::to_string(++number);
}

}  // namespace

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Bytes encoded(const Message& message) {
  Encoder encoder;
  const auto header = encoder.encode(message);
  return {header.begin(), header.end()};
}

Probe::Probe(zmq::context_t& context, const std::string& address, const std::string& routing_id)
    : socket_(context, zmq::socket_type::dealer), monitor_(context, zmq::socket_type::pair) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::routing_id, routing_id);
  const auto monitored = monitor_address();
  if (zmq_socket_monitor(socket_.handle(), monitored.c_str(), ZMQ_EVENT_DISCONNECTED) != 0) {
    throw zmq::error_t();
  }
  monitor_.set(zmq::sockopt::linger, 0);
  monitor_.connect(monitored);
  if (!keys_.empty() || !key_.empty()) {
    show_key(routing_id.empty() ? 'w' : routing_id.front());
  }
  socket_.connect(address);
}

void Probe::show_key(char kind) {
  ClientKeys keys(!key_.empty() ? key_
                                : keys_ / (kind == 's'   ? "server.key"
                                           : kind == 'c' ? "operator.key"
                                                         : "worker.key"));
  const auto handshake = keys.handshake(0);
  socket_.set(zmq::sockopt::curve_serverkey, handshake.server_key);
  socket_.set(zmq::sockopt::curve_publickey, handshake.own.public_key);
  socket_.set(zmq::sockopt::curve_secretkey, handshake.own.secret_key);
}

void Probe::send(const Frames& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
    socket_.send(zmq::const_buffer(frames[i].data(), frames[i].size()), more);
  }
}

std::optional<Message> Probe::next() {
  socket_.set(zmq::sockopt::rcvtimeo, kPatienceMs);
  zmq::message_t header;
  if (!socket_.recv(header)) {
    return std::nullopt;
  }
  std::optional<zmq::message_t> payload;
  for (bool more = header.more(); more; more = payload->more()) {
    payload.emplace();
    if (!socket_.recv(*payload)) {
      return std::nullopt;
    }
  }
  const auto bytes = std::as_bytes(std::span(static_cast<const char*>(header.data()), header.size()));
  auto decoded = decode(bytes, payload ? payload->size() : 0, payload.has_value());
  auto* message = std::get_if<Message>(&decoded);
  return message == nullptr ? std::nullopt : std::optional(std::move(*message));
}

bool Probe::is_cut() {
  monitor_.set(zmq::sockopt::rcvtimeo, kPatienceMs);
  zmq::message_t event;
  return monitor_.recv(event).has_value();
}

}  // namespace ballast::malformed
