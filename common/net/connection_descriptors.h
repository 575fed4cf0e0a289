// Which file descriptor each connection of a ROUTER has, where it can be told for sure.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/net/read_rounds.h"
#include "common/net/router.h"

namespace ballast {

// A socket of the system's. Its descriptor is used again when it is closed, its cookie never.
struct SystemSocket {
  int descriptor = -1;
  std::uint64_t cookie = 0;
};

// Ends the connection of this socket, for both of its ends. False: the descriptor is another's now, or nobody's.
bool shut_down(const SystemSocket& socket);

// ZeroMQ tells of each message by which descriptor it came, and of descriptors that they have begun a connection and
// that this is over. A message may be read when its connection has ended and the descriptor is another's. One thread.
class ConnectionDescriptors {
 public:
  using Number = std::uint64_t;  // of a connection, never used twice
  struct Connection {
    Number number = 0;
    SystemSocket socket;
  };

  // Of a router that outlives this; `rounds`: of the same.
  ConnectionDescriptors(Router& router, const ReadRounds& rounds) : router_(router), rounds_(rounds) {}

  // The connection that a message came over which is read now; nothing if it can't be told: it is over, or one that had
  // the descriptor before is, and messages of it may still have been unread.
  std::optional<Connection> of_message(int descriptor);
  // The number of the one that has begun last.
  Number newest();
  // Connections that stand now, messages of which may still be unread.
  std::vector<Connection> standing();
  // The numbers of those that are over, since the last call. Their messages may still be unread.
  std::vector<Number> over();

 private:
  struct Held {
    Number number = 0;
    bool stands = false;
    bool is_first = false;            // no other connection had the descriptor before
    ReadRounds::Moment begun_at = 0;  // all that came by the descriptor before it was there to be read then
  };

  void take_changes();
  // Whose number that is; nothing if the descriptor is another's meanwhile.
  template <typename NumberAt>
  std::optional<Connection> look_at(int descriptor, NumberAt&& number_at);
  [[nodiscard]] Number standing_at(int descriptor) const;  // 0: none
  [[nodiscard]] Number surely_at(int descriptor) const;

  Router& router_;
  const ReadRounds& rounds_;
  Number last_ = 0;
  std::unordered_map<int, Held> held_;  // by descriptor: as many as the process may have
  std::vector<Number> over_;
};

}  // namespace ballast
