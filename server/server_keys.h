// The keys of a server process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <zmq.hpp>

#include "common/keys/client_keys.h"
#include "server/authenticator.h"

namespace ballast {

// All servers of a job have the same: the key by which workers recognise a server, and with which a shard comes to the
// lead. Empty where a server has none. Outlives the sockets that use it.
class ServerKeys {
 public:
  ServerKeys() = default;
  // From a folder with server.key and allowed.keys. Throws UsageError.
  ServerKeys(zmq::context_t& context, const std::filesystem::path& folder)
      : own_(std::make_unique<ClientKeys>(folder / kServerKeyFile)),
        authenticator_(
            std::make_unique<Authenticator>(context, folder / kAllowedKeysFile, own_->handshake(0).own.public_key)),
        secret_key_(own_->handshake(0).own.secret_key) {}

  // For who connects to another server; null: none.
  [[nodiscard]] ClientKeys* own() const { return own_.get(); }
  [[nodiscard]] Authenticator* authenticator() const { return authenticator_.get(); }
  // For a socket that others connect to; empty: none.
  [[nodiscard]] const std::string& secret_key() const { return secret_key_; }

 private:
  std::unique_ptr<ClientKeys> own_;
  std::unique_ptr<Authenticator> authenticator_;
  std::string secret_key_;
};

}  // namespace ballast
