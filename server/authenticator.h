// Whose keys are let in, said to ZeroMQ (ZAP, RFC 27 of ZeroMQ) and to whoever takes messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <zmq.hpp>

#include "common/files/file_change.h"
#include "common/keys/key_file.h"
#include "common/net/intake.h"
#include "common/net/wakeup.h"
#include "server/barred_keys.h"

namespace ballast {

struct ZapRequest;

// Answers every handshake of one context on a thread of its own, by a file of allowed keys that is read anew within a
// second of its change; if it cannot be read any more, what it said last holds, and that is logged. A message of a
// socket that has keys bears the public key of its sender (Frame::key). Thread-safe.
class Authenticator {
 public:
  // Before any socket of the context is bound. Throws UsageError if the file cannot be read, or if it does not let in
  // servers with `own`, this server's public key.
  Authenticator(zmq::context_t& context, std::filesystem::path allowed_keys, std::string own);
  // After all of them have been closed, before the context is.
  ~Authenticator();
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  // Who is allowed now.
  [[nodiscard]] std::shared_ptr<const AllowedKeys> allowed() const;
  // Counts the changes of that; cheap.
  [[nodiscard]] std::uint64_t edition() const { return edition_.load(std::memory_order_acquire); }

  // Connections of a socket that were let in; nothing: they were too many to be counted, or it has been made anew.
  [[nodiscard]] std::optional<ConnectionCounts> let_in(SocketLife life) const;
  // With the key messages came that do not end. From the second time on it is refused for a while; those connections
  // are to be cut by whoever blames it. Never a server's: without it there is no job. For a log: what follows.
  std::string blame(const std::string& key);

 private:
  void work();
  void answer();
  std::string_view verdict(const ZapRequest& request);
  void look();
  void warn_of_rights() const;
  void count_let_in(const ZapRequest& request);

  const std::filesystem::path path_;
  const std::string own_;
  FileChange change_;
  mutable std::mutex mutex_;
  std::shared_ptr<const AllowedKeys> allowed_;
  std::atomic<std::uint64_t> edition_ = 0;
  struct LetIn {
    std::uint64_t life = 0;
    ConnectionCounts counts;
    bool is_lost = false;  // not all could be counted
  };
  std::unordered_map<std::uint64_t, LetIn> let_in_;  // by socket: those of its newest life
  BarredKeys barred_;
  zmq::socket_t requests_;
  Wakeup ending_;
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;  // last: it uses what is above
};

}  // namespace ballast
