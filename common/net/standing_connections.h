// Which connections of sessions to a ROUTER stand, and which have ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/net/connection_descriptors.h"
#include "common/net/peer.h"
#include "common/net/read_rounds.h"
#include "common/net/router.h"
#include "protocol/ids.h"

namespace ballast {

// A connection has ended when a message for it finds nobody, and since then all that had come over it by then has been
// read (common/net/read_rounds.h). So after its end nothing comes of it. ZeroMQ tells that a connection is over before
// that; to such ones probes are sent, for else nobody may send to a connection in whose place the session has another
// one. A name that another connection takes before the end of the one that had it is found may hold what was sent to
// that one: to drop the former is to drop the latter. Keeps something for each connection that stands or whose end is
// not found yet. One thread.
class StandingConnections {
 public:
  struct Connection {
    ConnectionId id = 0;
    SessionId session = 0;
    PayerId payer = 0;
    bool takes_calls = false;  // what it is sent must not be lost as long as it stands
  };
  struct Ended {
    SessionId session = 0;
    ConnectionId connection = 0;
    bool operator==(const Ended&) const = default;
  };
  struct Probe {
    std::string routing_id;
    bool is_over = false;  // ZeroMQ has told so: nobody will get the probe
  };
  static constexpr std::size_t kProbesAtOnce = 256;
  static constexpr Micros kDropPatience = 1'000'000;

  // `router` is bound, has SocketOptions::tells_connections, and outlives this.
  // `unread`: as its SocketOptions have it. Ids of connections that `after` others were heard before are not used
  // again.
  StandingConnections(Router& router, int unread, std::uint64_t after = 0);
  StandingConnections(const StandingConnections&) = delete;
  StandingConnections& operator=(const StandingConnections&) = delete;

  // A message was read, whoever sent it.
  void read(const std::string& routing_id);
  // A read has found the socket empty.
  void found_empty() { rounds_.found_empty(); }
  // A message of a session was read and is taken. Its connection has a greater id than all that were heard before, but
  // for those with a greater number.
  Connection& heard(const PeerConnection& from, SessionId session, const Frame& header, Micros now);
  // Its routing id; nothing if it has ended.
  [[nodiscard]] std::optional<std::string> routing_id(ConnectionId connection) const;
  // Null if nothing was heard of it, or it has ended.
  Connection* find(const std::string& routing_id);
  // A message for it found nobody.
  void unreachable(const std::string& routing_id);

  // Those to be probed now; what becomes of it is told by unreachable().
  std::vector<Probe> probes(Micros now);
  // Ends the connection, now or as soon as its descriptor can be told. False: it is over, as far as is known, or was
  // dropped before.
  bool drop(ConnectionId connection, Micros now);
  // Tries again those that have not ended. After kDropPatience all are ended that had begun by then and of which it is
  // not known which connections they are: whoever had just begun, and whoever is to go. True: that long afterwards one
  // has not ended yet, and does not but by making the socket anew.
  bool drop_again(Micros now);

  // Since the last call. What came over them has been read before.
  std::vector<Ended> take_ended();
  // All that stand, in no order: the socket is closed.
  [[nodiscard]] std::vector<Ended> all() const;
  // Of each session that stands and of whose connection it can be told, the system's socket; in no order.
  [[nodiscard]] std::vector<std::pair<SessionId, SystemSocket>> sockets() const;
  // What of all that came has been read.
  [[nodiscard]] const ReadRounds& rounds() const { return rounds_; }
  // How many connections were heard in this life.
  [[nodiscard]] std::uint64_t heard() const { return heard_; }
  [[nodiscard]] std::size_t size() const { return standing_.size(); }

 private:
  struct Standing {
    Connection connection;
    ConnectionDescriptors::Connection held;  // number 0: not known
    bool is_over = false;
    bool is_unreachable = false;
    bool is_dropped = false;
    ConnectionId former = 0;                         // had its name before; 0: nobody
    std::optional<std::pair<Micros, Micros>> probe;  // when, and how long before the one after
  };

  struct Drop {
    Micros since = 0;
    ConnectionDescriptors::Number newest = 0;  // connection of the socket at that time: later ones are not meant
    Micros unknown_ended_at = 0;               // 0: not yet
  };

  [[nodiscard]] Standing* standing(ConnectionId connection);  // null: it has ended
  // Or of the one that has its name now, if that is another one.
  [[nodiscard]] Standing* standing_or_heir(ConnectionId connection);
  void learn(Standing& standing, const Frame& header);
  bool is_anothers(const Standing& standing, const Frame& header);
  void end_unknown(ConnectionDescriptors::Number newest);
  void end(ConnectionId connection);
  void take_over(Micros now);
  void probe(Standing& standing, Micros at, Micros wait);
  void forget_probe(Standing& standing);

  ReadRounds rounds_;
  ConnectionDescriptors descriptors_;
  const bool is_ipc_;
  std::uint64_t heard_;
  std::unordered_map<std::string, Standing> standing_;  // by routing id
  std::unordered_map<ConnectionId, std::string> ids_;   // their routing ids
  std::unordered_map<ConnectionDescriptors::Number, ConnectionId> numbers_;
  std::deque<std::pair<ReadRounds::Moment, ConnectionId>> waiting_;  // that are unreachable, the first ones first
  std::set<std::pair<Micros, ConnectionId>> probes_;
  std::unordered_map<ConnectionId, std::string> heirs_;  // by Standing::former: the routing id
  std::unordered_map<ConnectionId, Drop> drops_;         // to be ended
  Micros unknown_ended_at_ = 0;                          // last
  std::vector<Ended> ended_;
};

}  // namespace ballast
