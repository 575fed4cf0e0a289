// A disk that is full, or may not be written: a small file system in memory. Needs root; says so where it cannot be
// had.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <map>

#include "storage/store/store.h"
#include "tests/unit/small_disk.h"

namespace ballast {
namespace {

constexpr std::size_t kLargeValue = 1U << 18U;

std::unique_ptr<Store> opened_on(const std::filesystem::path& path) {
  auto store = open_rocksdb(path, OpenMode::create);
  REQUIRE_MESSAGE(store.ok(), (store.ok() ? "" : store.status().text()));
  return std::move(store.value());
}

// Writes values until the disk refuses: those that were accepted, and the refusal.
StoreStatus write_until_refused(Store& store, std::map<std::string, char>& accepted) {
  for (int i = 0; i < 200; ++i) {
    const auto key = "k" + std::to_string(accepted.size());
    const auto letter = static_cast<char>('a' + i % 26);
    const auto status = store.write(WriteBatch{}.put(key, std::string(kLargeValue, letter)), Sync::yes);
    if (!status.ok()) {
      return status;
    }
    accepted.emplace(key, letter);
  }
  return {};
}

void holds_exactly(const Store& store, const std::map<std::string, char>& accepted) {
  std::size_t found = 0;
  REQUIRE(store
              .scan("k",
                    [&](std::string_view key, std::string_view value) {
                      const auto expected = accepted.find(std::string(key));
                      REQUIRE(expected != accepted.end());
                      CHECK(value == std::string(kLargeValue, expected->second));
                      ++found;
                      return true;
                    })
              .ok());
  CHECK(found == accepted.size());
}

TEST_CASE("a full disk refuses with a text, loses nothing, and is written again once there is room") {
  const SmallDisk disk(96);
  if (!disk.mounted()) {
    return;
  }
  const auto database = disk.path("database");
  std::map<std::string, char> accepted;
  {
    const auto store = opened_on(database);
    for (int round = 0; round < 3; ++round) {
      CAPTURE(round);
      disk.fill(1U << 20U);
      const auto refused = write_until_refused(*store, accepted);
      CHECK(refused.code() == StoreCode::no_space);
      CHECK(refused.text().find(database.string()) == 0);
      CHECK(refused.text().find("the disk is full: make room on it") != std::string::npos);
      CHECK_FALSE(store->write(WriteBatch{}.put("k-never", "x"), Sync::yes).ok());
      holds_exactly(*store, accepted);
      disk.make_room();
      const auto written = store->write(WriteBatch{}.put("after", std::to_string(round)), Sync::yes);
      CHECK_MESSAGE(written.ok(), written.text());
      CHECK(store->sync().ok());
      holds_exactly(*store, accepted);
    }
  }
  const auto again = opened_on(database);
  holds_exactly(*again, accepted);
  CHECK(again->get("after").value() == "2");
}

TEST_CASE("a disk that is full from the first write on is waited for, and whoever reads meanwhile holds nothing up") {
  const SmallDisk disk(96);
  if (!disk.mounted()) {
    return;
  }
  const auto database = disk.path("database");
  CHECK(opened_on(database)->write(WriteBatch{}.put("k0", std::string(kLargeValue, 'a')), Sync::yes).ok());
  const auto store = opened_on(database);
  const auto write = [&](const char* key, std::size_t size) {
    return store->write(WriteBatch{}.put(key, std::string(size, 'a')), Sync::yes).code();
  };
  disk.fill(0);
  CHECK(write("k1", kLargeValue) == StoreCode::no_space);
  for (int attempt = 0; attempt < 3; ++attempt) {
    CHECK(write("small", 10) == StoreCode::no_space);
    CHECK(store->sync().code() == StoreCode::no_space);
  }
  holds_exactly(*store, {{"k0", 'a'}});
  disk.make_room();
  REQUIRE(store
              ->scan("k",
                     [&](std::string_view, std::string_view) {
                       CHECK(write("k1", kLargeValue) == StoreCode::busy);
                       return true;
                     })
              .ok());
  CHECK(write("k1", kLargeValue) == StoreCode::ok);
  holds_exactly(*store, {{"k0", 'a'}, {"k1", 'a'}});
}

// No file may become longer than `limit` bytes, in this process.
class FileLimit {
 public:
  explicit FileLimit(rlim_t limit) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{limit, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST_CASE("a failure that is not want of space is told as such, and mended is mended too") {
  const TemporaryFolder folder;
  const auto store = opened_on(folder.path() / "database");
  const auto write = [&](const std::string& key) {
    return store->write(WriteBatch{}.put(key, std::string(kLargeValue, 'a')), Sync::yes).code();
  };
  CHECK(write("k0") == StoreCode::ok);
  {
    const FileLimit limit(kLargeValue / 2);
    CHECK(write("k1") == StoreCode::io);
    CHECK(write("k1") == StoreCode::io);
  }
  REQUIRE(store
              ->scan("k",
                     [&](std::string_view, std::string_view) {
                       const auto refused = store->write(WriteBatch{}.put("k1", "x"), Sync::yes);
                       CHECK(refused.code() == StoreCode::busy);  // it is mended, only not to be opened again yet
                       CHECK(refused.text().find("has been read") != std::string::npos);
                       return true;
                     })
              .ok());
  CHECK(write("k2") == StoreCode::ok);
  holds_exactly(*store, {{"k0", 'a'}, {"k2", 'a'}});
}

TEST_CASE("a database that is closed or killed on a full disk keeps what it accepted") {
  const SmallDisk disk(96);
  if (!disk.mounted()) {
    return;
  }
  const auto database = disk.path("database");
  std::map<std::string, char> accepted;
  {
    const auto store = opened_on(database);
    disk.fill(1U << 20U);
    CHECK_FALSE(write_until_refused(*store, accepted).ok());
    const auto image = disk.path("image");
    disk.make_room();
    std::filesystem::copy(database, image, std::filesystem::copy_options::recursive);
    holds_exactly(*opened_on(image), accepted);
    std::filesystem::remove_all(image);
    disk.fill(0);
  }
  disk.make_room();
  holds_exactly(*opened_on(database), accepted);
}

TEST_CASE("a database cannot be opened on a full disk, tells so, and has all it had once there is room") {
  const SmallDisk disk(96);
  if (!disk.mounted()) {
    return;
  }
  const auto database = disk.path("database");
  const auto write = [&](const char* key) {
    CHECK(opened_on(database)->write(WriteBatch{}.put(key, std::string(kLargeValue, 'a')), Sync::yes).ok());
  };
  write("k0");
  disk.fill(0);
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto refused = open_rocksdb(database, OpenMode::create);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.status().code() == StoreCode::no_space);
    CHECK(refused.status().text().find("the disk is full: make room on it") != std::string::npos);
  }
  disk.make_room();
  write("k1");
  holds_exactly(*opened_on(database), {{"k0", 'a'}, {"k1", 'a'}});
  disk.fill(0);
  CHECK(open_rocksdb(disk.path("new"), OpenMode::create).status().code() == StoreCode::no_space);
}

// Wherever in a database's creation the disk becomes full.
TEST_CASE("a database whose creation met a full disk is created once there is room") {
  constexpr std::size_t kPage = 4096;
  int refusals = 0;
  for (std::size_t pages = 0; pages < 12; ++pages) {
    CAPTURE(pages);
    const SmallDisk disk(2);
    if (!disk.mounted()) {
      return;
    }
    const auto database = disk.path("database");
    disk.fill(pages * kPage);
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto opened = open_rocksdb(database, OpenMode::create);
      if (!opened.ok()) {
        ++refusals;
        CHECK_MESSAGE(opened.status().code() == StoreCode::no_space, opened.status().text());
      }
    }
    disk.make_room();
    CHECK(opened_on(database)->write(WriteBatch{}.put("k0", std::string(kLargeValue, 'a')), Sync::yes).ok());
    holds_exactly(*opened_on(database), {{"k0", 'a'}});
  }
  CHECK(refusals > 3);
}

TEST_CASE("what a killed process took to see whether there is room is given back") {
  const TemporaryFolder folder;
  const auto database = folder.path() / "database";
  CHECK(opened_on(database)->write(WriteBatch{}.put("k0", std::string(kLargeValue, 'a')), Sync::yes).ok());
  std::ofstream(database / "ROOM") << std::string(kLargeValue, 'r');
  REQUIRE(open_rocksdb(database, OpenMode::read_only).ok());
  CHECK(std::filesystem::exists(database / "ROOM"));
  holds_exactly(*opened_on(database), {{"k0", 'a'}});
  CHECK_FALSE(std::filesystem::exists(database / "ROOM"));
}

TEST_CASE("a file system that may not be written can be read, and says so to who would write") {
  const SmallDisk disk(96);
  if (!disk.mounted()) {
    return;
  }
  const auto database = disk.path("database");
  REQUIRE(opened_on(database)->write(WriteBatch{}.put("k", "v"), Sync::yes).ok());
  REQUIRE(disk.make_read_only());
  const auto refused = open_rocksdb(database, OpenMode::create);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().code() == StoreCode::io);
  CHECK(refused.status().text().find(database.string()) == 0);
  CHECK(refused.status().text().find("Read-only file system") != std::string::npos);
  const auto reader = open_rocksdb(database, OpenMode::read_only);
  REQUIRE(reader.ok());
  CHECK(reader.value()->get("k").value() == "v");
}

}  // namespace
}  // namespace ballast
