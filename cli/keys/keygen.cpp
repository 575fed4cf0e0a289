#include "cli/keys/keygen.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "common/command/usage_error.h"
#include "common/files/new_file.h"
#include "common/keys/key_file.h"
#include "common/text/shell_word.h"
#include "storage/copies/copy_keys.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

constexpr unsigned kOwnersAlone = 0600;
constexpr const char* kNextServerKeyFile = "server.next.key";
constexpr const char* kAllowedRemark =
    "# Who is let in: a role (worker, shard, operator), a public key, a name. Servers read this anew when it changes;\n"
    "# whose line is gone is refused from then on.\n";

// Whoever may read `like` may read it: by default the file that is replaced.
void write_key_file(const fs::path& path, const std::string& text, const fs::path& like = {}) {
  NewFileOptions options;
  options.mode = kOwnersAlone;
  options.synced = true;
  struct stat before {};
  const bool was_there = ::stat(like.empty() ? path.c_str() : like.c_str(), &before) == 0;
  if (const auto refused = write_whole(path, text, options)) {
    throw std::runtime_error("cannot write " + path.string() + ": " + refused.message());
  }
  if (was_there && (::chown(path.c_str(), before.st_uid, before.st_gid) != 0 ||
                    ::chmod(path.c_str(), before.st_mode & 0777U) != 0)) {
    throw std::runtime_error("cannot give " + path.string() + " the owner and rights of " +
                             (like.empty() ? "the file before" : like.string()) + ": " + std::strerror(errno));
  }
}

std::string remark_of(KeyRole role, const std::string& name) {
  switch (role) {
    case KeyRole::worker:
      return "Ballast: the keys of " + name + ", a worker. SECRET: who has this file can train along as it.";
    case KeyRole::shard:
      return "Ballast: the keys of the servers. SECRET: who has this file can pose as a server.";
    case KeyRole::command:
      break;
  }
  return "Ballast: the keys of " + name + ", an operator. SECRET: who has this file can stop the job.";
}

// Its line in the list of allowed keys.
std::string write_keys(const fs::path& path, KeyRole role, const std::string& name, const OwnKeys& keys,
                       const fs::path& like = {}) {
  write_key_file(path, format_keys(keys, remark_of(role, name)), like);
  return line_of(role, keys.pair.public_key, name);
}

std::string read_list(const fs::path& path) {
  load_allowed_keys(path);  // says what is wrong with it
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  auto list = text.str();
  return list.empty() || list.back() == '\n' ? list : list + '\n';
}

bool is_listed(const fs::path& path, const std::string& name) {
  const auto allowed = load_allowed_keys(path);
  return std::any_of(allowed.begin(), allowed.end(), [&](const auto& entry) { return entry.second.name == name; });
}

bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter == '.';
         });
}

void add_key(const fs::path& folder, KeyRole role, const std::string& name) {
  if (!is_name(name)) {
    throw UsageError("'" + name + "' is no name for a key: letters, digits, '-', '_' and '.', at most 64");
  }
  const auto path = folder / (name + ".key");
  if (fs::exists(path) || path.filename() == kNextServerKeyFile) {
    throw UsageError(path.string() + (fs::exists(path) ? " exists" : " is kept for the servers' next key") +
                     ": choose another name");
  }
  const auto servers = load_own_keys(folder / kServerKeyFile).servers;
  const auto allowed = folder / kAllowedKeysFile;
  if (is_listed(allowed, name)) {
    throw UsageError(allowed.string() + " has a key of the name " + name +
                     ": choose another name, or take its line out");
  }
  auto list = read_list(allowed);
  list += write_keys(path, role, name, {make_key_pair(), servers});
  write_key_file(allowed, list);
  std::printf("%s: give it to the %s alone. Copy %s to the servers, which let it in within a second.\n", path.c_str(),
              role == KeyRole::worker ? "worker" : "operator", allowed.c_str());
}

// It may lie with the others.
bool is_of_copies(const fs::path& path) { return parse_copy_keys(read_key_file(path), path.string()).ok(); }

// Each file of keys in the folder, with other server keys.
void change_servers(const fs::path& folder, const std::function<void(std::vector<std::string>&)>& change) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".key" || is_of_copies(entry.path())) {
      continue;
    }
    auto keys = load_own_keys(entry.path());
    change(keys.servers);
    std::ifstream in(entry.path());
    std::string remark;
    std::getline(in, remark);
    write_key_file(entry.path(),
                   format_keys(keys, remark.starts_with("# ") ? remark.substr(2) : "Ballast: keys. SECRET."));
  }
}

void make_next_server(const fs::path& folder) {
  const auto path = folder / kNextServerKeyFile;
  if (fs::exists(path)) {
    throw UsageError(path.string() + " exists: the change that it was made for has not ended (docs/security.md)");
  }
  auto list = read_list(folder / kAllowedKeysFile);
  const auto pair = make_key_pair();
  change_servers(folder, [&](auto& servers) { servers.push_back(pair.public_key); });
  const auto now = folder / kServerKeyFile;
  list += write_keys(path, KeyRole::shard, "server", {pair, load_own_keys(now).servers}, now);
  write_key_file(folder / kAllowedKeysFile, list);
  const auto word = shell_word(folder.string());
  std::printf(
      "Every file in %s knows the servers' next key as well. Copy each to where it is used: running processes read "
      "them anew. Then, on the servers, put %s in place of %s and start them again one after the other. Then: ballast "
      "keygen %s --forget-servers\n",
      word.c_str(), kNextServerKeyFile, kServerKeyFile, word.c_str());
}

void forget_servers(const fs::path& folder) {
  if (fs::exists(folder / kNextServerKeyFile)) {
    throw UsageError((folder / kNextServerKeyFile).string() + " is still there: first put it in place of " +
                     kServerKeyFile + ", here as on the servers");
  }
  const auto own = load_own_keys(folder / kServerKeyFile).pair.public_key;
  std::istringstream old(read_list(folder / kAllowedKeysFile));
  std::string list;
  for (std::string line; std::getline(old, line);) {
    const bool is_shard = line.starts_with(std::string(word_of(KeyRole::shard)) + ' ');
    if (!is_shard || line.find(own) != std::string::npos) {
      list += line + '\n';
    }
  }
  change_servers(folder, [&](auto& servers) { servers = {own}; });
  write_key_file(folder / kAllowedKeysFile, list);
  std::printf("Every file in %s knows one key of the servers, %s. Copy each to where it is used.\n", folder.c_str(),
              own.c_str());
}

constexpr const char* kCopyKeysRemark =
    "# Ballast: keys of copies of snapshots. SECRET: who has this file can read the copies; without it nobody can, so\n"
    "# keep a second one of it elsewhere. The first key encrypts, all decrypt.\n";

void make_copy_keys(const fs::path& path) {
  if (fs::exists(path)) {
    throw UsageError(path.string() + " exists: --next puts a new key before those in it");
  }
  const auto key = make_copy_key();
  write_key_file(path, kCopyKeysRemark + format_copy_key(key));
  std::printf(
      "key %s: name %s in durability.copy_key_file, and give it to each server. Without it nobody can restore the "
      "copies: keep a second one where the copies are not.\n",
      key.id.c_str(), path.c_str());
}

// The keys that were there go on to decrypt.
void put_next_copy_key(const fs::path& path) {
  auto text = read_key_file(path);
  const auto old = value_or_throw(parse_copy_keys(text, path.string()));
  const auto key = make_copy_key();
  const auto remark = text.starts_with(kCopyKeysRemark) ? std::string(kCopyKeysRemark) : std::string();
  write_key_file(path, remark + format_copy_key(key) + text.substr(remark.size()));
  std::printf(
      "key %s now encrypts. Copy %s to each server, which reads it anew, and to where its second one is. The key %s is "
      "needed as long as there are copies of it.\n",
      key.id.c_str(), path.c_str(), old.front().id.c_str());
}

void make_keys_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.has_parent_path() ? folder.parent_path() : fs::path("."), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && !fs::is_directory(folder)) {
    throw std::runtime_error("cannot make the folder " + folder.string() + ": " + std::strerror(errno));
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".key" || entry.path().filename() == kAllowedKeysFile) {
      throw UsageError(folder.string() + " has keys already (" + entry.path().filename().string() +
                       "): --add-worker NAME and --add-operator NAME add to them");
    }
  }
}

}  // namespace

void make_keys(const fs::path& folder, std::uint32_t workers) {
  make_keys_folder(folder);
  const auto server = make_key_pair();
  const std::vector<std::string> servers = {server.public_key};
  std::string list = kAllowedRemark;
  list += write_keys(folder / kServerKeyFile, KeyRole::shard, "server", {server, servers});
  list += write_keys(folder / kOperatorKeyFile, KeyRole::command, "operator", {make_key_pair(), servers});
  for (std::uint32_t i = workers == 0 ? 0 : 1; i <= workers; ++i) {
    const auto name = workers == 0 ? std::string("worker") : "worker-" + std::to_string(i);
    list += write_keys(folder / (name + ".key"), KeyRole::worker, name, {make_key_pair(), servers});
  }
  write_key_file(folder / kAllowedKeysFile, list);  // last: without it no server begins
}

int keygen(const KeygenOptions& options) {
  if (!options.copies.empty()) {
    options.next_copy_key ? put_next_copy_key(options.copies) : make_copy_keys(options.copies);
    return 0;
  }
  const fs::path folder(options.folder);
  if (!options.worker.empty()) {
    add_key(folder, KeyRole::worker, options.worker);
  } else if (!options.command.empty()) {
    add_key(folder, KeyRole::command, options.command);
  } else if (options.next_server) {
    make_next_server(folder);
  } else if (options.forget_servers) {
    forget_servers(folder);
  } else {
    make_keys(folder, options.workers);
    const auto word = shell_word(folder.string());
    std::printf(
        "servers:   --keys FOLDER, with %s and %s in it\n"
        "workers:   --keys %s\n"
        "operators: ballast status ADDRESS --keys %s\n"
        "All are in %s. Files that end with .key are secret.\n",
        kServerKeyFile, kAllowedKeysFile, options.workers == 0 ? "worker.key" : "worker-1.key, and so on, one each",
        kOperatorKeyFile, word.c_str());
  }
  return 0;
}

}  // namespace ballast
