// The files in which keys lie. Each line is a word, a key and, in a list of allowed keys, a name; lines that begin with
// # are remarks. docs/security.md shows them.
//
//   server.key     secret, public; server: what other servers are recognised by, its own and the one to come
//   worker.key     secret, public; server, one or more: what is recognised as a server
//   allowed.keys   worker, shard or operator: who may do what
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/keys/key.h"

namespace ballast {

// What a key is good for. A worker computes; a shard speaks for its part of the weights; an operator sees the status,
// stops, pauses and scales.
enum class KeyRole : std::uint8_t { worker, shard, command };
inline constexpr std::array<std::string_view, 3> kKeyRoleWords = {"worker", "shard", "operator"};
constexpr std::string_view word_of(KeyRole role) { return kKeyRoleWords[static_cast<std::size_t>(role)]; }

// Of one process. `servers` are in the order in which they are tried; never empty.
struct OwnKeys {
  KeyPair pair;
  std::vector<std::string> servers;
};

struct AllowedKey {
  KeyRole role = KeyRole::worker;
  std::string name;  // for people; one line
};

// By public keys.
using AllowedKeys = std::unordered_map<std::string, AllowedKey>;

inline constexpr const char* kServerKeyFile = "server.key";
inline constexpr const char* kAllowedKeysFile = "allowed.keys";
inline constexpr const char* kOperatorKeyFile = "operator.key";

// Each throws UsageError with the file, the line and the remedy; never with the line itself, which may hold a secret.
OwnKeys parse_own_keys(std::string_view text, const std::string& path);
AllowedKeys parse_allowed_keys(std::string_view text, const std::string& path);
OwnKeys load_own_keys(const std::filesystem::path& path);
// Throws as well if the list is not whole, or does not let in the servers of this public key; empty: whichever they
// are.
AllowedKeys load_allowed_keys(const std::filesystem::path& path, std::string_view own = {});

// A file of keys as it is. Throws UsageError.
std::string read_key_file(const std::filesystem::path& path);

// What is wrong with who else may read or change a file of secrets, for a log; empty if nothing is.
std::string why_not_private(const std::filesystem::path& path);
// The same of one that holds no secret, and that only its owner and his group may change.
std::string why_not_guarded(const std::filesystem::path& path);

std::string format_keys(const OwnKeys& keys, std::string_view remark);
std::string line_of(KeyRole role, const std::string& public_key, const std::string& name);

}  // namespace ballast
