// A disk that is full, or may not be written: a small file system in memory. Needs root; says so where it cannot be
// had.
#include <doctest/doctest.h>
#include <unistd.h>

#include <map>

#include "common/store/store.h"
#include "tests/unit/small_disk.h"

namespace ballast {
namespace {

constexpr std::size_t kValue = 1U << 18U;

std::unique_ptr<Store> open(const std::filesystem::path& path) {
  auto store = open_rocksdb(path, OpenMode::create);
  REQUIRE_MESSAGE(store.ok(), (store.ok() ? "" : store.status().text()));
  return std::move(store.value());
}

// Writes values until the disk refuses: those that were accepted, and the refusal.
StoreStatus write_until_refused(Store& store, std::map<std::string, char>& accepted) {
  for (int i = 0; i < 200; ++i) {
    const auto key = "k" + std::to_string(accepted.size());
    const auto letter = static_cast<char>('a' + i % 26);
    const auto status = store.write(WriteBatch{}.put(key, std::string(kValue, letter)), Sync::yes);
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
                      CHECK(value == std::string(kValue, expected->second));
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
  std::map<std::string, char> accepted;
  {
    const auto store = open(disk.path("database"));
    for (int round = 0; round < 3; ++round) {
      CAPTURE(round);
      disk.fill(1U << 20U);
      const auto refused = write_until_refused(*store, accepted);
      CHECK(refused.code() == StoreCode::io);
      CHECK(refused.text().find(disk.path("database").string()) == 0);
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
  const auto again = open(disk.path("database"));
  holds_exactly(*again, accepted);
  CHECK(again->get("after").value() == "2");
}

TEST_CASE("a database that is closed or killed on a full disk keeps what it accepted") {
  const SmallDisk disk(96);
  if (!disk.mounted()) {
    return;
  }
  std::map<std::string, char> accepted;
  {
    const auto store = open(disk.path("database"));
    disk.fill(1U << 20U);
    CHECK_FALSE(write_until_refused(*store, accepted).ok());
    const auto image = disk.path("database").parent_path() / "image";
    disk.make_room();
    std::filesystem::copy(disk.path("database"), image, std::filesystem::copy_options::recursive);
    holds_exactly(*open(image), accepted);
    std::filesystem::remove_all(image);
    disk.fill(0);
  }
  disk.make_room();
  holds_exactly(*open(disk.path("database")), accepted);
}

TEST_CASE("a file system that may not be written can be read, and says so to who would write") {
  const SmallDisk disk(96);
  if (!disk.mounted()) {
    return;
  }
  REQUIRE(open(disk.path("database"))->write(WriteBatch{}.put("k", "v"), Sync::yes).ok());
  REQUIRE(disk.make_read_only());
  const auto refused = open_rocksdb(disk.path("database"), OpenMode::create);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().code() == StoreCode::io);
  CHECK(refused.status().text().find(disk.path("database").string()) == 0);
  CHECK(refused.status().text().find("Read-only file system") != std::string::npos);
  const auto reader = open_rocksdb(disk.path("database"), OpenMode::read_only);
  REQUIRE(reader.ok());
  CHECK(reader.value()->get("k").value() == "v");
}

}  // namespace
}  // namespace ballast
