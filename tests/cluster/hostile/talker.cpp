#include "tests/cluster/hostile/talker.h"

#include "common/wire/wire.h"

namespace ballast::hostile {

namespace {

constexpr std::size_t kMostOfPart = 1 << 20;
constexpr int kUnsent = 2000;  // messages that wait in the program

std::byte* zeros() {
  static std::array<std::byte, kMostOfPart> bytes{};
  return bytes.data();
}

void keep(void* /*data*/, void* /*hint*/) {}

}  // namespace

Talker::Talker(zmq::context_t& context, const std::string& address, const std::string& routing_id, ClientKeys* keys,
               int most_unread)
    : socket_(context, zmq::socket_type::dealer) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::sndhwm, kUnsent);
  socket_.set(zmq::sockopt::rcvhwm, most_unread);
  socket_.set(zmq::sockopt::routing_id, routing_id);
  if (keys != nullptr) {
    const auto handshake = keys->handshake(0);
    socket_.set(zmq::sockopt::curve_serverkey, handshake.server_key);
    socket_.set(zmq::sockopt::curve_publickey, handshake.own.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, handshake.own.secret_key);
  }
  socket_.connect(address);
}

bool Talker::send_frame(std::span<const std::byte> frame, bool more) {
  const auto flags = more ? zmq::send_flags::sndmore | zmq::send_flags::dontwait : zmq::send_flags::dontwait;
  return socket_.send(zmq::const_buffer(frame.data(), frame.size()), flags).has_value();
}

bool Talker::send(std::span<const std::byte> frame) { return send_frame(frame, false); }

bool Talker::send(const Message& message) {
  Encoder encoder;
  return send_frame(encoder.encode(message), false);
}

bool Talker::send(const Message& message, std::span<const std::byte> payload) {
  Encoder encoder;
  return send_frame(encoder.encode(message), true) && send_frame(payload, false);
}

bool Talker::send_parts(std::size_t parts, std::size_t bytes_each) {
  for (std::size_t i = 0; i < parts; ++i) {
    zmq::message_t part(zeros(), bytes_each, keep);
    const bool more = i + 1 < parts;
    if (!socket_.send(part, more ? zmq::send_flags::sndmore | zmq::send_flags::dontwait : zmq::send_flags::dontwait)) {
      return false;
    }
  }
  return true;
}

std::optional<Message> Talker::next() {
  zmq::message_t header;
  if (!socket_.recv(header, zmq::recv_flags::dontwait)) {
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
  auto* const message = std::get_if<Message>(&decoded);
  return message == nullptr ? std::nullopt : std::optional(std::move(*message));
}

}  // namespace ballast::hostile
