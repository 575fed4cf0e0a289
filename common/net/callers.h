// Who is connected to a listening socket, and who was refused before it said anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/net/monitor.h"

namespace ballast {

// Why a handshake came to nothing. Every cause is a label of a metric.
enum class RefusedHandshake : std::uint8_t {
  unknown_key,   // the key is none that is allowed, or no longer
  other_server,  // who connects takes this for another server: it has another server's key, or none that is right
  unencrypted,   // one end has keys and the other has none
  malformed,     // what came is no handshake of ZeroMQ
  broken_off,    // the connection ended before its handshake did, or said nothing for too long
  barred_key,    // the key is refused for a while, because of what came with it
};
inline constexpr std::array<std::string_view, 6> kRefusedHandshakeWords = {"unknown_key", "other_server", "unencrypted",
                                                                           "malformed",   "broken_off",   "barred_key"};
// What an authenticator answers of a key that it refuses for a while (ZAP, RFC 27 of ZeroMQ), and who asks is told. Any
// other key is refused by 400.
inline constexpr std::string_view kBarredStatus = "500";
inline constexpr std::uint32_t kBarredStatusNumber = 500;
constexpr std::string_view word_of(RefusedHandshake reason) {
  return kRefusedHandshakeWords[static_cast<std::size_t>(reason)];
}
// For a log, after "refused a handshake: ".
std::string_view text_of(RefusedHandshake reason);

// One thread, the socket's.
class Callers {
 public:
  struct Refusal {
    RefusedHandshake reason = RefusedHandshake::broken_off;
    std::string from;  // an address as HOST:PORT, "this machine" over ipc; empty: it is not known
  };

  // Of a socket that is not bound yet and outlives this. `tells_changes`: somebody takes changes().
  Callers(zmq::context_t& context, zmq::socket_t& socket, bool tells_changes = false)
      : monitor_(context, socket, kEvents), tells_changes_(tells_changes) {}

  // Those since the last call; at most kMostRefusals are told one by one, all are counted in `more`. Takes all that
  // ZeroMQ has to tell.
  struct Refusals {
    std::vector<Refusal> told;
    std::array<std::uint64_t, kRefusedHandshakeWords.size()> more{};  // by reason, those of `told` not among them
  };
  static constexpr std::size_t kMostRefusals = 16;
  Refusals refusals();

  // Connections that have begun or are over, since the last call and in order. Takes all that ZeroMQ has to tell. To be
  // called as often as refusals().
  struct Change {
    int descriptor = -1;
    bool begun = false;
  };
  std::vector<Change> changes();

  // By which descriptor the socket listens, if that was told.
  std::optional<int> listening();
  // Connections that stand, by their descriptors: where each comes from.
  [[nodiscard]] const std::unordered_map<int, std::string>& connections() const { return connections_; }

 private:
  static constexpr int kEvents = ZMQ_EVENT_LISTENING | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

  void take(const SocketEvent& event);
  void count(std::optional<RefusedHandshake> refused);

  Monitor monitor_;
  std::optional<int> listening_;
  std::unordered_map<int, std::string> connections_;
  // The newest refusal, whose connection's end is told next; not counted yet.
  std::optional<RefusedHandshake> refused_;
  Refusals refusals_;
  const bool tells_changes_;
  std::vector<Change> changes_;
};

}  // namespace ballast
