// What each connection of a listening socket has brought, beside messages that were whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
#include <zmq.hpp>

namespace ballast {

// Connections, by the address that they come from and the key that they have shown.
using ConnectionCounts = std::map<std::pair<std::string, std::string>, std::uint64_t>;
inline constexpr std::size_t kMostConnectionCounts = 4096;
// Takes one more; false: there is no place for it.
bool count(ConnectionCounts& counts, const std::string& address, const std::string& key);

// ZeroMQ keeps the parts of a message until the last one is there, and tells nobody. But the kernel says how many bytes
// a connection has taken in (TCP_INFO), and each whole message says which connection it came by. What is left is of
// messages that have not ended, or wait to be read. Only for tcp with keys. Thread-safe.
class Intake {
 public:
  // Of the socket that is bound there from now on: connections of the one before are gone.
  void begin(const std::string& endpoint);
  // By the socket's thread: a message has come, or more parts of one that is not kept, all of it `bytes` on the wire;
  // `frame` is its newest.
  void add(zmq::message_t& frame, std::uint64_t bytes);

  // Bytes of a frame on the wire, as CURVE has it there.
  static std::uint64_t wire_bytes(std::size_t frame);

  struct Rest {
    std::string address;             // without the port
    std::optional<std::string> key;  // nothing: no whole message has come by it
    std::uint64_t bytes = 0;         // that came beside whole messages
    bool operator==(const Rest&) const = default;
  };
  // Of every connection that stands. Looks at every descriptor of the process: for rare moments.
  [[nodiscard]] std::vector<Rest> rests() const;
  // Connections by which a whole message has ever come; nothing: they were too many to be counted.
  [[nodiscard]] std::optional<ConnectionCounts> heard() const;

 private:
  // Descriptors are used again: the cookie is that of one connection alone.
  struct Connection {
    std::uint64_t cookie = 0;
    std::string key;
    std::uint64_t bytes = 0;  // of whole messages
    bool is_clear = true;     // all came with one key
  };

  mutable std::mutex mutex_;
  std::string endpoint_;
  std::unordered_map<int, Connection> connections_;  // by descriptor
  ConnectionCounts heard_;
  bool is_lost_ = false;  // not all could be counted
};

}  // namespace ballast
