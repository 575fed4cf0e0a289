// Databases on a real disk: reopening, locks, kill -9, damage.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "storage/store/store.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

constexpr const char* kVictimFolder = "BALLAST_TEST_VICTIM_FOLDER";

std::unique_ptr<Store> opened_in(const std::filesystem::path& path) {
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
  REQUIRE(opened_in(folder.path())->write(WriteBatch{}.put("k", "v"), Sync::no).ok());
  CHECK(opened_in(folder.path())->get("k").value() == "v");
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
  const auto first = opened_in(folder.path());
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
  opened_in(folder.path());
  {
    const LockHolder holder(folder.path());
    const auto opened = open_rocksdb(folder.path(), OpenMode::create);
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.status().code() == StoreCode::in_use);
    CHECK(opened.status().text().find("pid " + std::to_string(holder.pid())) != std::string::npos);
    CHECK(opened.status().text().find(folder.path().string()) == 0);
  }
  opened_in(folder.path());
}

TEST_CASE("reading only needs no lock, sees what was written and changes nothing") {
  const TemporaryFolder folder;
  const auto owner = opened_in(folder.path());
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
  const auto store = opened_in(folder);
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
  const auto store = opened_in(folder.path());
  for (int i = 0; i < 40; ++i) {
    const auto value = store->get("k" + std::to_string(i));
    REQUIRE(value.ok());
    REQUIRE(value.value());
    CHECK(value.value()->size() == 1U << 20U);
  }
}

// The database as a killed process leaves it: closing one properly would empty its log.
std::filesystem::path crashed(const std::filesystem::path& folder, const std::function<void(Store&)>& write) {
  const auto store = opened_in(folder / "alive");
  write(*store);
  std::filesystem::copy(folder / "alive", folder / "crashed", std::filesystem::copy_options::recursive);
  return folder / "crashed";
}

TEST_CASE("a torn last record is a write that never was; what was before it stays") {
  const TemporaryFolder folder;
  const auto database = crashed(folder.path(), [](Store& store) {
    REQUIRE(store.write(WriteBatch{}.put("kept", "v"), Sync::yes).ok());
    REQUIRE(store.write(WriteBatch{}.put("torn", std::string(1000, 't')), Sync::no).ok());
  });
  const auto log = newest_log(database);
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 100);
  const auto store = opened_in(database);
  CHECK(store->get("kept").value() == "v");
  CHECK(store->get("torn").value() == std::nullopt);
}

TEST_CASE("damage amid what was synced is an error, never a shorter history") {
  const TemporaryFolder folder;
  const auto database = crashed(folder.path(), [](Store& store) {
    for (int i = 0; i < 4; ++i) {
      REQUIRE(store.write(WriteBatch{}.put("k" + std::to_string(i), std::string(100'000, 'x')), Sync::yes).ok());
    }
  });
  {
    std::fstream log(newest_log(database), std::ios::in | std::ios::out | std::ios::binary);
    log.seekp(150'000);
    log.put('?');
  }
  for (const auto mode : {OpenMode::create, OpenMode::read_only}) {
    const auto opened = open_rocksdb(database, mode);
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.status().code() == StoreCode::corrupt);
    CHECK(opened.status().text().find(database.string()) == 0);
    CHECK(opened.status().text().find(newest_log(database).filename().string()) != std::string::npos);
    CHECK(opened.status().text().find("ballast restore") != std::string::npos);
  }
}

TEST_CASE("a log that lost what was synced is an error, wherever it was cut") {
  const TemporaryFolder folder;
  const auto database = crashed(folder.path(), [](Store& store) {
    for (int i = 0; i < 4; ++i) {
      REQUIRE(store.write(WriteBatch{}.put("k" + std::to_string(i), std::string(100'000, 'x')), Sync::no).ok());
    }
    REQUIRE(store.sync().ok());
    REQUIRE(store.write(WriteBatch{}.put("last", "v"), Sync::yes).ok());
  });
  const auto log = newest_log(database).filename();
  const auto size = std::filesystem::file_size(database / log);
  for (const std::uintmax_t left : {std::uintmax_t{0}, std::uintmax_t{50'000}, std::uintmax_t{200'000}, size - 1}) {
    CAPTURE(left);
    const auto cut = folder.path() / std::to_string(left);
    std::filesystem::copy(database, cut, std::filesystem::copy_options::recursive);
    std::filesystem::resize_file(cut / log, left);
    for (const auto mode : {OpenMode::read_only, OpenMode::create, OpenMode::create}) {
      const auto opened = open_rocksdb(cut, mode);
      REQUIRE_FALSE(opened.ok());
      CHECK(opened.status().code() == StoreCode::corrupt);
      CHECK(opened.status().text().find(cut.string()) == 0);
      CHECK(opened.status().text().find("ballast restore") != std::string::npos);
    }
  }
  CHECK(opened_in(database)->get("last").value() == "v");
}

TEST_CASE("a database without CURRENT is not made anew") {
  const TemporaryFolder folder;
  REQUIRE(opened_in(folder.path())->write(WriteBatch{}.put("k", "v"), Sync::yes).ok());
  std::filesystem::rename(folder.path() / "CURRENT", folder.path() / "gone");
  const auto opened = open_rocksdb(folder.path(), OpenMode::create);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.status().code() == StoreCode::corrupt);
  CHECK(opened.status().text().find("CURRENT is missing") != std::string::npos);
  std::filesystem::rename(folder.path() / "gone", folder.path() / "CURRENT");
  CHECK(opened_in(folder.path())->get("k").value() == "v");
}

// Deletes, overwritten and empty writes as well: none may make the mark run ahead of the database.
TEST_CASE("a database that was never damaged always opens again") {
  const TemporaryFolder folder;
  std::mt19937 random(7);
  const auto key = [&random] { return "k" + std::to_string(random() % 8); };
  for (int life = 0; life < 12; ++life) {
    const auto store = opened_in(folder.path() / "alive");
    for (int i = static_cast<int>(random() % 40); i > 0; --i) {
      WriteBatch batch;
      for (auto count = random() % 4; count > 0; --count) {
        const auto kind = random() % 3;
        kind == 0   ? batch.put(key(), std::string(random() % 2000, 'x'))
        : kind == 1 ? batch.erase(key())
                    : batch.erase_range(key(), key());
      }
      REQUIRE(store->write(batch, random() % 2 == 0 ? Sync::yes : Sync::no).ok());
      if (random() % 8 == 0) {
        REQUIRE(store->sync().ok());
      }
    }
    const auto image = folder.path() / std::to_string(life);
    std::filesystem::copy(folder.path() / "alive", image, std::filesystem::copy_options::recursive);
    store->reclaim("k", "l");
    opened_in(image)->reclaim("k", "l");
    opened_in(image);
    CHECK(open_rocksdb(image, OpenMode::read_only).ok());
  }
}

std::uintmax_t bytes_in(const std::filesystem::path& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::error_code gone;
    const auto size = file.file_size(gone);
    bytes += gone ? 0 : size;
  }
  return bytes;
}

TEST_CASE("the space of deleted ranges comes back while others write") {
  const TemporaryFolder folder;
  const auto store = opened_in(folder.path());
  constexpr std::size_t kValueBytes = 1U << 20U;
  constexpr int kValues = 20;
  constexpr int kRounds = 6;
  for (int round = 0; round < kRounds; ++round) {
    const auto prefix = "s" + std::to_string(round) + "/";
    for (int i = 0; i < kValues; ++i) {
      REQUIRE(store->write(WriteBatch{}.put(prefix + std::to_string(i), std::string(kValueBytes, 'x')), Sync::no).ok());
    }
    REQUIRE(store->sync().ok());
    if (round > 0) {
      const auto old = "s" + std::to_string(round - 1);
      REQUIRE(store->write(WriteBatch{}.erase_range(old + "/", old + "0"), Sync::no).ok());
      store->reclaim(old + "/", old + "0");
    }
  }
  // One round is left; beside it there may be logs (at most 64 MiB) and what is being compacted. The disk may be slow.
  const auto bound = 3 * kValues * kValueBytes;
  for (int i = 0; i < 2000 && bytes_in(folder.path()) > bound; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  CHECK(bytes_in(folder.path()) <= bound);
  CHECK(store->get("s5/0").value()->size() == kValueBytes);
  CHECK(store->get("s4/0").value() == std::nullopt);
}

}  // namespace
}  // namespace ballast
