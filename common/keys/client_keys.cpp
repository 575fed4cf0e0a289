#include "common/keys/client_keys.h"

#include <utility>

#include "common/command/usage_error.h"
#include "common/log/log.h"

namespace ballast {

ClientKeys::ClientKeys(std::filesystem::path path) : path_(std::move(path)), change_(path_) {
  change_.seen();
  keys_ = load_own_keys(path_);
  if (const auto why = why_not_private(path_); !why.empty()) {
    log_warn("{}", why);
  }
}

ClientKeys::Handshake ClientKeys::handshake(std::uint32_t connection) {
  const std::scoped_lock lock(mutex_);
  if (change_.seen()) {
    try {
      keys_.servers = load_own_keys(path_).servers;
      log_info("the server keys in {} are read anew", path_.string());
    } catch (const UsageError& error) {
      log_warn("keys stay as they were: {}", error.what());
    }
  }
  return {keys_.pair, keys_.servers[connection % keys_.servers.size()]};
}

}  // namespace ballast
