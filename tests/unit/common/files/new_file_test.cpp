#include "common/files/new_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/temporary_folder.h"

namespace {

std::vector<std::string>* synced = nullptr;  // what is synced, in order
bool sync_fails = false;

}  // namespace

// In the place of the library's, for the whole program.
extern "C" int fsync(int descriptor) {
  if (sync_fails) {
    errno = EIO;
    return -1;
  }
  if (synced != nullptr) {
    synced->push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor)).string());
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace ballast {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// No file of this process may become longer.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  void (*signal_)(int);
  rlimit before_{};
};

TEST_CASE("a file has its name when it is whole; until then what was there stays") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  REQUIRE_FALSE(write_whole(path, "one"));
  NewFile file;
  REQUIRE_FALSE(file.create(path));
  REQUIRE_FALSE(file.append("tw"));
  CHECK(read_file(path) == "one");
  CHECK(fs::exists(path.string() + ".new"));
  REQUIRE_FALSE(file.append("o"));
  REQUIRE_FALSE(file.finish());
  CHECK(read_file(path) == "two");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a file that is dropped leaves what was there, and nothing else") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  REQUIRE_FALSE(write_whole(path, "one"));
  {
    NewFile file;
    REQUIRE_FALSE(file.create(path, {.suffix = ".part"}));
    REQUIRE_FALSE(file.append("two"));
    CHECK(fs::exists(path.string() + ".part"));
    NewFile moved = std::move(file);
    REQUIRE_FALSE(moved.append("three"));
  }
  CHECK(read_file(path) == "one");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a file whose folder is missing cannot be made") {
  const TemporaryFolder folder;
  CHECK(write_whole(folder.path() / "no" / "file", "one") == std::errc::no_such_file_or_directory);
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("a file that finds no room leaves what was there, and nothing else") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  REQUIRE_FALSE(write_whole(path, "one"));
  const SizeLimit limit(1000);
  CHECK(write_whole(path, std::string(2000, 'x')) == std::errc::file_too_large);
  CHECK(read_file(path) == "one");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a name that cannot be given leaves what was there, and nothing else") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  fs::create_directory(path);
  CHECK(write_whole(path, "one") == std::errc::is_a_directory);
  CHECK(fs::is_directory(path));
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("what is to be durable is synced before it has its name, and has it only then") {
  const TemporaryFolder folder;
  const auto path = fs::canonical(folder.path()) / "file";
  std::vector<std::string> order;
  synced = &order;
  REQUIRE_FALSE(write_whole(path, "one"));
  CHECK(order.empty());
  REQUIRE_FALSE(write_whole(path, "two", {.synced = true}));
  REQUIRE_FALSE(sync_folder(path.parent_path()));
  synced = nullptr;
  CHECK(order == std::vector<std::string>{path.string() + ".new", path.parent_path().string()});

  sync_fails = true;
  CHECK(write_whole(path, "three", {.synced = true}) == std::errc::io_error);
  CHECK(sync_folder(path.parent_path()) == std::errc::io_error);
  sync_fails = false;
  CHECK(read_file(path) == "two");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a folder that is not there cannot be synced; no path is the current one") {
  const TemporaryFolder folder;
  CHECK(sync_folder(folder.path() / "no") == std::errc::no_such_file_or_directory);
  CHECK_FALSE(sync_folder({}));
}

TEST_CASE("a link is replaced, or written through where that is asked for") {
  const TemporaryFolder folder;
  const auto target = folder.path() / "target";
  const auto link = folder.path() / "link";
  fs::create_symlink(target, link);
  CHECK(is_special(link));
  CHECK(is_special("/dev/null"));
  REQUIRE_FALSE(write_whole(link, "one", {.through_special = true}));
  CHECK(fs::is_symlink(link));
  CHECK(read_file(target) == "one");
  CHECK_FALSE(is_special(target));
  CHECK_FALSE(is_special(folder.path() / "no"));

  REQUIRE_FALSE(write_whole(link, "two"));
  CHECK(fs::is_regular_file(fs::symlink_status(link)));
  CHECK(read_file(target) == "one");
}

TEST_CASE("a device that takes nothing says so, and stays") {
  CHECK(write_whole("/dev/full", "one", {.through_special = true}) == std::errc::no_space_on_device);
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("a file has the permissions that are asked for, less the umask") {
  const TemporaryFolder folder;
  const auto umask_before = ::umask(0002);
  REQUIRE_FALSE(write_whole(folder.path() / "a", "one"));
  REQUIRE_FALSE(write_whole(folder.path() / "b", "one", {.mode = 0600}));
  ::umask(umask_before);
  CHECK(fs::status(folder.path() / "a").permissions() == fs::perms{0664});
  CHECK(fs::status(folder.path() / "b").permissions() == fs::perms{0600});
}

}  // namespace
}  // namespace ballast
