#include "common/keys/key_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <sstream>

#include "common/command/usage_error.h"
#include "common/text/text.h"

namespace ballast {

namespace {

constexpr off_t kMostKeyFileBytes = 16 << 20;
constexpr std::size_t kMostNameBytes = 128;
constexpr const char* kMakeThem = "`ballast keygen` makes such files";

struct KeyLine {
  std::string word;
  std::string key;
  std::string name;
};

[[noreturn]] void refuse_line(const std::string& path, std::size_t number, const std::string& fault) {
  throw UsageError(path + ": line " + std::to_string(number) + ": " + fault + "; " + kMakeThem);
}

std::optional<KeyLine> parse_key_line(const std::string& line, const std::string& path, std::size_t number) {
  std::istringstream in(line);
  KeyLine parsed;
  if (!(in >> parsed.word) || parsed.word.front() == '#') {
    return std::nullopt;
  }
  if (!(in >> parsed.key) || !is_key(parsed.key)) {
    refuse_line(path, number, "the first word must be followed by a key, which is 40 characters of Z85");
  }
  std::getline(in >> std::ws, parsed.name);
  if (parsed.name.size() > kMostNameBytes || text_fault(parsed.name, TextKind::line)) {
    refuse_line(path, number, "a name is a line of at most 128 bytes of text");
  }
  return parsed;
}

void each_key_line(std::string_view text, const std::string& path,
                   const std::function<void(const KeyLine&, std::size_t number)>& take) {
  std::istringstream in{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (const auto parsed = parse_key_line(line, path, ++number)) {
      take(*parsed, number);
    }
  }
}

[[noreturn]] void refuse_file(const std::filesystem::path& path, const std::string& why) {
  throw UsageError(path.string() + ": " + why + "; " + kMakeThem);
}

}  // namespace

// A pipe or device might never end.
std::string read_key_file(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    refuse_file(path, std::string("cannot be read (") + std::strerror(errno) + ")");
  }
  if (!S_ISREG(found.st_mode) || found.st_size > kMostKeyFileBytes) {
    refuse_file(path, S_ISREG(found.st_mode) ? "is too long for a file of keys" : "is no file");
  }
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) {
    refuse_file(path, std::string("cannot be read (") + std::strerror(errno) + ")");
  }
  return text;
}

OwnKeys parse_own_keys(std::string_view text, const std::string& path) {
  OwnKeys keys;
  each_key_line(text, path, [&](const KeyLine& line, std::size_t number) {
    if (line.word == "server") {
      keys.servers.push_back(line.key);
      return;
    }
    if (line.word != "secret" && line.word != "public") {
      refuse_line(path, number, "its first word is none of secret, public, server");
    }
    auto& key = line.word == "secret" ? keys.pair.secret_key : keys.pair.public_key;
    if (!key.empty()) {
      refuse_line(path, number, "there is a second " + line.word + " key");
    }
    key = line.key;
  });
  if (keys.pair.secret_key.empty()) {
    throw UsageError(path + ": it has no line with a secret key; " + kMakeThem);
  }
  if (keys.servers.empty()) {
    throw UsageError(path + ": it has no line with a server key, by which a server is recognised; " + kMakeThem);
  }
  const auto derived = public_key_of(keys.pair.secret_key);
  if (!keys.pair.public_key.empty() && keys.pair.public_key != derived) {
    throw UsageError(path + ": its public key does not belong to its secret key; " + kMakeThem);
  }
  keys.pair.public_key = derived;
  return keys;
}

AllowedKeys parse_allowed_keys(std::string_view text, const std::string& path) {
  AllowedKeys allowed;
  each_key_line(text, path, [&](const KeyLine& line, std::size_t number) {
    const auto* const found = std::find(kKeyRoleWords.begin(), kKeyRoleWords.end(), line.word);
    if (found == kKeyRoleWords.end()) {
      refuse_line(path, number, "its first word is none of worker, shard, operator");
    }
    const auto role = static_cast<KeyRole>(found - kKeyRoleWords.begin());
    if (!allowed.emplace(line.key, AllowedKey{role, line.name}).second) {
      refuse_line(path, number, "the same key stands there a second time: who has it would have two roles or names");
    }
  });
  return allowed;
}

OwnKeys load_own_keys(const std::filesystem::path& path) { return parse_own_keys(read_key_file(path), path.string()); }

// One that is being written would take everybody's key away for a moment, and workers end for that.
AllowedKeys load_allowed_keys(const std::filesystem::path& path, std::string_view own) {
  const auto text = read_key_file(path);
  auto allowed = parse_allowed_keys(text, path.string());
  const bool has_shard = std::any_of(allowed.begin(), allowed.end(),
                                     [](const auto& entry) { return entry.second.role == KeyRole::shard; });
  if (!has_shard) {
    refuse_file(path, "is not whole: it has no line that begins with shard, for the servers' own key");
  }
  if (!text.ends_with('\n')) {
    refuse_file(path, "is not whole: its last line has no end");
  }
  if (const auto found = allowed.find(std::string(own));
      !own.empty() && (found == allowed.end() || found->second.role != KeyRole::shard)) {
    refuse_file(path, "does not let in this server itself: it has no line \"shard " + std::string(own) +
                          "\", so it is of other keys than " + kServerKeyFile + " here");
  }
  return allowed;
}

std::string why_not_private(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || (found.st_mode & (S_IROTH | S_IWOTH)) == 0) {
    return {};
  }
  return path.string() + " holds a secret key, and every user of this machine may " +
         ((found.st_mode & S_IROTH) != 0 ? "read" : "change") + " it: chmod o= " + path.string();
}

std::string why_not_guarded(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || (found.st_mode & S_IWOTH) == 0) {
    return {};
  }
  return "every user of this machine may change " + path.string() + ": chmod o-w " + path.string();
}

std::string format_keys(const OwnKeys& keys, std::string_view remark) {
  std::string text =
      "# " + std::string(remark) + "\npublic " + keys.pair.public_key + "\nsecret " + keys.pair.secret_key + '\n';
  for (const auto& server : keys.servers) {
    text.append("server ").append(server).append("\n");
  }
  return text;
}

std::string line_of(KeyRole role, const std::string& public_key, const std::string& name) {
  return std::string(word_of(role)).append(" ").append(public_key).append(" ").append(name).append("\n");
}

}  // namespace ballast
