// A connection of a peer that never waits: what its socket does not take is not said.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <zmq.hpp>

#include "common/keys/client_keys.h"
#include "protocol/messages.h"

namespace ballast::hostile {

// One thread.
class Talker {
 public:
  // `keys`: null if it has none. `most_unread`: messages that have come and wait in the program; then the kernel's
  // buffers fill.
  Talker(zmq::context_t& context, const std::string& address, const std::string& routing_id, ClientKeys* keys,
         int most_unread = kUnread);

  // Whether it was taken.
  bool send(const Message& message);
  bool send(const Message& message, std::span<const std::byte> payload);
  bool send(std::span<const std::byte> frame);
  // A message of so many parts of zeros, which are sent one after the other: until the last one is there nobody sees
  // any of it. Their bytes are one buffer of the program's, so that a message of gigabytes costs it nothing.
  bool send_parts(std::size_t parts, std::size_t bytes_each);
  // The next message that has come, without its payload; nothing: none has, or the last one is of nobody's language.
  std::optional<Message> next();

 private:
  static constexpr int kUnread = 1000;

  bool send_frame(std::span<const std::byte> frame, bool more);

  zmq::socket_t socket_;
};

}  // namespace ballast::hostile
