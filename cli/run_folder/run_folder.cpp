#include "cli/run_folder/run_folder.h"

#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cli/run_folder/scale_files.h"
#include "common/files/new_file.h"
#include "common/text/shell_word.h"
#include "storage/reshard/switch.h"

namespace ballast {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxSocketPath = sizeof(sockaddr_un{}.sun_path) - 1;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const auto size = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return {text.data(), size};
}

fs::path made_new(const std::string& job) {
  const auto base = fs::absolute("runs") / (job + "-" + utc_now());
  fs::create_directories(base.parent_path());
  auto path = base;
  // Only one of several runs that begin in the same second makes a name.
  for (int again = 2; !fs::create_directory(path); ++again) {
    path = base.string() + "-" + std::to_string(again);
  }
  return path;
}

void refuse_databases(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && entry.path().filename().string().starts_with("shard-") && !fs::is_empty(entry.path())) {
      throw std::runtime_error("the run folder " + folder.string() + " holds the database " + entry.path().string() +
                               " of an earlier run; go on with it by `ballast run --resume " +
                               shell_word(folder.string()) + "`, choose another --run-dir, or remove it");
    }
  }
}

fs::path made(const std::string& wanted, const std::string& job) {
  try {
    if (wanted.empty()) {
      return made_new(job);
    }
    auto path = fs::absolute(wanted).lexically_normal();
    fs::create_directories(path);
    return path;
  } catch (const fs::filesystem_error& error) {
    throw std::runtime_error("the run folder cannot be made: " + std::string(error.what()) +
                             "; choose another --run-dir");
  }
}

fs::path private_folder() {
  const char* chosen = std::getenv("TMPDIR");
  std::string path =
      (chosen == nullptr || *chosen == '\0' ? std::string("/tmp") : std::string(chosen)) + "/ballast-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    throw std::runtime_error("no folder for sockets can be made at " + path + ": " + std::strerror(errno) +
                             "; set TMPDIR to a folder that can be written, or use --set cluster.transport=tcp");
  }
  return path;
}

}  // namespace

// Under the lock: of two runs that begin at once, the second finds the first one's databases, or its lock.
RunFolder::RunFolder(const std::string& wanted, const std::string& job)
    : RunFolder(made(wanted, job), RunLock::Use::run) {
  refuse_databases(path_);
}

fs::path RunFolder::path_of_earlier_run(const std::string& folder) {
  auto path = fs::absolute(folder).lexically_normal();
  if (!path.has_filename()) {
    path = path.parent_path();  // DIR/ is DIR
  }
  if (!fs::is_regular_file(path / "job.yaml")) {
    throw std::runtime_error("there is no run in " + path.string() +
                             ": it has no job.yaml; name the folder that `ballast run` told when it began");
  }
  return path;
}

RunFolder RunFolder::of_earlier_run(const std::string& folder, RunLock::Use use) {
  return {path_of_earlier_run(folder), use};
}

// What a `ballast reshard` that was killed has left comes to its end first, one way or the other.
RunFolder::RunFolder(fs::path path, RunLock::Use use) : path_(std::move(path)), lock_(path_, use) {
  throw_unless_ok(finish_switch(path_));
  remove_reshard_remains(path_);
  std::error_code error;
  fs::create_directories(path_ / "logs", error);
  if (!fs::is_directory(path_ / "logs")) {
    throw std::runtime_error("the folder " + (path_ / "logs").string() + " cannot be made");
  }
}

std::string RunFolder::shown() const {
  const auto relative = path_.lexically_relative(fs::current_path());
  return relative.empty() || relative.string().size() > path_.string().size() ? path_.string() : relative.string();
}

void RunFolder::begin() const {
  std::error_code ignored;
  fs::remove(address_file(), ignored);
  forget_scale_files(path_);
}

void mark_run_folder(const fs::path& folder) {
  if (!is_marked_run_folder(folder)) {
    write_atomically(folder / "processes.json", "[]\n");
  }
}

bool is_marked_run_folder(const fs::path& folder) {
  std::error_code unknown;
  return fs::is_regular_file(folder / "processes.json", unknown);
}

bool was_never_started(const fs::path& folder) {
  std::error_code unknown;
  return is_marked_run_folder(folder) && !fs::exists(folder / "lock", unknown) &&
         !fs::exists(folder / "lead.address", unknown);
}

void write_atomically(const fs::path& file, const std::string& content) {
  if (const auto refused = write_whole(file, content, {.through_special = true})) {
    throw std::runtime_error("cannot write " + file.string() + ": " + refused.message());
  }
}

SocketFolder::SocketFolder(const fs::path& run_folder, std::uint32_t shards, std::uint32_t lanes)
    : path_(run_folder / "sockets") {
  const auto longest = [&] {
    return path_.string().size() + ("/shard-" + std::to_string(shards - 1) + "-l" + std::to_string(lanes - 1)).size();
  };
  if (longest() <= kMaxSocketPath) {
    fs::create_directories(path_);
    fs::permissions(path_, fs::perms::owner_all);  // who may connect may do all
    return;
  }
  path_ = private_folder();
  if (longest() > kMaxSocketPath) {
    fs::remove(path_);
    throw std::runtime_error("the paths of sockets in " + path_.string() + " would be longer than " +
                             std::to_string(kMaxSocketPath) +
                             " bytes; set TMPDIR to a shorter path, or use --set cluster.transport=tcp");
  }
}

SocketFolder::~SocketFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string SocketFolder::lead_address() const { return "ipc://" + (path_ / "lead").string(); }

std::string SocketFolder::shard_address(std::uint32_t shard) const {
  return "ipc://" + (path_ / ("shard-" + std::to_string(shard))).string();
}

}  // namespace ballast
