// Databases on a real disk: reopening, locks, kill -9, damage.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "common/store/store.h"
#include "tests/unit/store/temporary_folder.h"

namespace ballast {
namespace {

constexpr const char* kVictimFolder = "BALLAST_TEST_VICTIM_FOLDER";

std::unique_ptr<Store> open(const std::filesystem::path& path) {
  auto store = open_rocksdb(path, OpenMode::create);
  REQUIRE_MESSAGE(store.ok(), (store.ok() ? "" : store.status().text()));
  return std::move(store.value());
}

// A process that holds the lock of the database as another server would, until it is destroyed.
class LockHolder {
 public:
  explicit LockHolder(const std::filesystem::path& database) {
    const auto file = (database / "LOCK").string();
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      struct flock lock {};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT, 0644);
      const char outcome = ::fcntl(descriptor, F_SETLK, &lock) == 0 ? 'y' : 'n';
      [[maybe_unused]] const auto written = ::write(ready[1], &outcome, 1);
      ::pause();
      ::_exit(0);
    }
    char outcome = 'n';
    REQUIRE(::read(ready[0], &outcome, 1) == 1);
    REQUIRE(outcome == 'y');
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~LockHolder() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  LockHolder(const LockHolder&) = delete;
  LockHolder& operator=(const LockHolder&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

std::filesystem::path newest_log(const std::filesystem::path& database) {
  std::filesystem::path found;
  for (const auto& file : std::filesystem::directory_iterator(database)) {
    if (file.path().extension() == ".log" && file.file_size() > 0 && file.path() > found) {
      found = file.path();
    }
  }
  REQUIRE_FALSE(found.empty());
  return found;
}

TEST_CASE("what was written is there again after closing") {
  const TemporaryFolder folder;
  REQUIRE(open(folder.path())->write(WriteBatch{}.put("k", "v"), Sync::no).ok());
  CHECK(open(folder.path())->get("k").value() == "v");
  const auto again = open_rocksdb(folder.path(), OpenMode::existing);
  REQUIRE(again.ok());
  CHECK(again.value()->get("k").value() == "v");
}

TEST_CASE("a missing database is told as missing, and nothing is made") {
  const TemporaryFolder folder;
  for (const auto mode : {OpenMode::existing, OpenMode::read_only}) {
    const auto opened = open_rocksdb(folder.path() / "none", mode);
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.status().code() == StoreCode::missing);
    CHECK(opened.status().text().find((folder.path() / "none").string()) == 0);
  }
  CHECK_FALSE(std::filesystem::exists(folder.path() / "none"));
}

TEST_CASE("a folder that cannot be made is an error") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "not a folder";
  const auto opened = open_rocksdb(folder.path() / "file" / "database", OpenMode::create);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.status().code() == StoreCode::io);
}

TEST_CASE("a database that this process has open is in use, and stays so") {
  const TemporaryFolder folder;
  const auto first = open(folder.path());
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto second = open_rocksdb(folder.path(), OpenMode::create);
    REQUIRE_FALSE(second.ok());
    CHECK(second.status().code() == StoreCode::in_use);
    CHECK(second.status().text().find("this process") != std::string::npos);
  }
  CHECK(first->write(WriteBatch{}.put("k", "v"), Sync::yes).ok());
}

TEST_CASE("a database that another process has open names that process") {
  const TemporaryFolder folder;
  open(folder.path());
  {
    const LockHolder holder(folder.path());
    const auto opened = open_rocksdb(folder.path(), OpenMode::create);
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.status().code() == StoreCode::in_use);
    CHECK(opened.status().text().find("pid " + std::to_string(holder.pid())) != std::string::npos);
    CHECK(opened.status().text().find(folder.path().string()) == 0);
  }
  open(folder.path());
}

TEST_CASE("reading only needs no lock, sees what was written and changes nothing") {
  const TemporaryFolder folder;
  const auto owner = open(folder.path());
  REQUIRE(owner->write(WriteBatch{}.put("k", "v"), Sync::yes).ok());
  const auto reader = open_rocksdb(folder.path(), OpenMode::read_only);
  REQUIRE(reader.ok());
  CHECK(reader.value()->get("k").value() == "v");
  CHECK(reader.value()->write(WriteBatch{}.put("k", "w"), Sync::no).code() == StoreCode::io);
  CHECK(owner->get("k").value() == "v");
}

// Run in a process of its own, by the next test.
TEST_CASE("victim: writes and is killed" * doctest::skip()) {
  const char* folder = std::getenv(kVictimFolder);
  REQUIRE(folder != nullptr);
  const auto store = open(folder);
  for (int i = 0; i < 40; ++i) {  // beyond a memtable, so that files are written as well
    const auto sync = i % 10 == 9 ? Sync::yes : Sync::no;
    REQUIRE(store->write(WriteBatch{}.put("k" + std::to_string(i), std::string(1U << 20U, 'x')), sync).ok());
  }
  ::raise(SIGKILL);
}

TEST_CASE("a process killed amid its work loses no write that returned") {
  const TemporaryFolder folder;
  const auto pid = ::fork();
  if (pid == 0) {
    ::setenv(kVictimFolder, folder.path().c_str(), 1);
    ::execl("/proc/self/exe", "store-test", "--test-case=victim: writes and is killed", "--no-skip",
            static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGKILL);
  const auto store = open(folder.path());
  for (int i = 0; i < 40; ++i) {
    const auto value = store->get("k" + std::to_string(i));
    REQUIRE(value.ok());
    REQUIRE(value.value());
    CHECK(value.value()->size() == 1U << 20U);
  }
}

TEST_CASE("a torn last record is a write that never was; what was before it stays") {
  const TemporaryFolder folder;
  {
    const auto store = open(folder.path());
    REQUIRE(store->write(WriteBatch{}.put("kept", "v"), Sync::yes).ok());
    REQUIRE(store->write(WriteBatch{}.put("torn", std::string(1000, 't')), Sync::no).ok());
  }
  const auto log = newest_log(folder.path());
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 100);
  const auto store = open(folder.path());
  CHECK(store->get("kept").value() == "v");
  CHECK(store->get("torn").value() == std::nullopt);
}

TEST_CASE("damage amid what was synced is an error, never a shorter history") {
  const TemporaryFolder folder;
  {
    const auto store = open(folder.path());
    for (int i = 0; i < 4; ++i) {
      REQUIRE(store->write(WriteBatch{}.put("k" + std::to_string(i), std::string(100'000, 'x')), Sync::yes).ok());
    }
  }
  {
    std::fstream log(newest_log(folder.path()), std::ios::in | std::ios::out | std::ios::binary);
    log.seekp(150'000);
    log.put('?');
  }
  const auto opened = open_rocksdb(folder.path(), OpenMode::create);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.status().code() == StoreCode::corrupt);
  CHECK(opened.status().text().find(folder.path().string()) == 0);
}

}  // namespace
}  // namespace ballast
