// A raw peer of a running cluster, which may send anything.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "protocol/messages.h"

namespace ballast::malformed {

using Bytes = std::vector<std::byte>;
using Frames = std::vector<Bytes>;

Bytes bytes_of(std::string_view text);
Bytes encoded(const Message& message);

// One connection. One thread.
class Probe {
 public:
  // From then on each has the keys in this folder that its routing id stands for: of a worker, a server, an operator.
  static void use_keys(const std::filesystem::path& folder) { keys_ = folder; }
  // The same with this one key, whatever its routing id.
  static void use_key(const std::filesystem::path& file) { key_ = file; }

  Probe(zmq::context_t& context, const std::string& address, const std::string& routing_id);

  void send(const Frames& frames);
  void send(const Message& message) { send(Frames{encoded(message)}); }

  // The next answer of type T, others before it are dropped; nothing within kPatience.
  template <typename T>
  std::optional<T> answer() {
    while (auto message = next()) {
      if (auto* body = std::get_if<T>(&*message)) {
        return std::move(*body);
      }
    }
    return std::nullopt;
  }

  // The next answer, whatever it is; nothing within kPatience.
  std::optional<Message> any() { return next(); }

  // Whether the other side cuts the connection within kPatience.
  bool is_cut();

 private:
  static constexpr int kPatienceMs = 20'000;

  std::optional<Message> next();
  void show_key(char kind);

  static inline std::filesystem::path keys_;  // empty: there are none
  static inline std::filesystem::path key_;   // likewise
  zmq::socket_t socket_;
  zmq::socket_t monitor_;
};

}  // namespace ballast::malformed
