// What both implementations of the seam promise, and what the memory one forgets.
#include "storage/store/store.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

std::vector<std::string> keys(const Store& store, std::string_view prefix) {
  std::vector<std::string> found;
  const auto scanned = store.scan(prefix, [&found](std::string_view key, std::string_view value) {
    found.push_back(std::string(key) + "=" + std::string(value));
    return true;
  });
  REQUIRE(scanned.ok());
  return found;
}

void keeps_the_contract(Store& store) {
  CHECK(store.get("a").value() == std::nullopt);
  REQUIRE(store.write(WriteBatch{}.put("b/2", "two").put("b/1", "one").put("a", "").put("c", "see"), Sync::no).ok());
  CHECK(store.get("a").value() == "");
  CHECK(store.get("b/1").value() == "one");
  CHECK(keys(store, "b/") == std::vector<std::string>{"b/1=one", "b/2=two"});
  CHECK(keys(store, "").size() == 4);
  CHECK(keys(store, "d").empty());

  REQUIRE(store.write(WriteBatch{}.put("x", "first").erase("x").put("b/1", "new").erase("c").erase("none"), Sync::yes)
              .ok());
  CHECK(store.get("x").value() == std::nullopt);
  CHECK(store.get("c").value() == std::nullopt);
  CHECK(store.get("b/1").value() == "new");

  CHECK(store.first_key("b/").value() == "b/1");
  CHECK(store.first_key("b/1").value() == "b/1");
  CHECK(store.first_key("b/11").value() == "b/2");
  CHECK(store.first_key("z").value() == std::nullopt);

  std::size_t visited = 0;
  REQUIRE(store.scan("", [&visited](std::string_view, std::string_view) { return ++visited < 2; }).ok());
  CHECK(visited == 2);

  REQUIRE(store.write(WriteBatch{}.put("r/1", "").put("r/2", "").put("r/3", "").put("s", ""), Sync::no).ok());
  REQUIRE(
      store.write(WriteBatch{}.erase_range("r/2", "s").put("r/9", "after").erase_range("r/9", "r/1"), Sync::no).ok());
  CHECK(keys(store, "r") == std::vector<std::string>{"r/1=", "r/9=after"});
  CHECK(keys(store, "s") == std::vector<std::string>{"s="});
  REQUIRE(store.write(WriteBatch{}.put("r/5", "before").erase_range("r", "s"), Sync::yes).ok());
  CHECK(keys(store, "r").empty());
  store.reclaim("r", "s");
  CHECK(store.sync().ok());
  CHECK(store.verify().ok());

  const std::string odd_key("\0k\xFF", 3);
  const std::string large(3U << 20U, '\x7F');
  REQUIRE(store.write(WriteBatch{}.put(odd_key, large), Sync::no).ok());
  CHECK(store.get(odd_key).value() == large);
  CHECK(store.write(WriteBatch{}, Sync::yes).ok());
}

TEST_CASE("memory keeps the store's contract") {
  MemoryStore store;
  keeps_the_contract(store);
}

TEST_CASE("RocksDB keeps the store's contract") {
  const TemporaryFolder folder;
  auto store = open_rocksdb(folder.path() / "new" / "database", OpenMode::create);
  REQUIRE(store.ok());
  keeps_the_contract(*store.value());
}

TEST_CASE("a crash of the memory store forgets exactly what was not synced") {
  MemoryStore store;
  REQUIRE(store.write(WriteBatch{}.put("early", "1"), Sync::no).ok());
  REQUIRE(store.write(WriteBatch{}.put("synced", "1").put("changed", "old"), Sync::yes).ok());
  REQUIRE(store.write(WriteBatch{}.put("late", "1").put("changed", "new").erase("synced"), Sync::no).ok());
  CHECK(store.get("late").value() == "1");
  store.crash();
  CHECK(store.get("early").value() == "1");  // a synced write covers the ones before it
  CHECK(store.get("synced").value() == "1");
  CHECK(store.get("changed").value() == "old");
  CHECK(store.get("late").value() == std::nullopt);
  REQUIRE(store.write(WriteBatch{}.put("next", "1"), Sync::no).ok());
  REQUIRE(store.sync().ok());
  store.crash();
  CHECK(store.get("next").value() == "1");
  CHECK(store.get("late").value() == std::nullopt);
}

TEST_CASE("a memory store told to fail changes nothing") {
  MemoryStore store("disk");
  store.fail_writes({StoreCode::no_space, "no space left"});
  const auto status = store.write(WriteBatch{}.put("a", "1"), Sync::yes);
  CHECK(status.code() == StoreCode::no_space);
  CHECK(status.text() == "disk: no space left");
  CHECK(store.get("a").value() == std::nullopt);
  store.fail_writes({});
  CHECK(store.write(WriteBatch{}.put("a", "1"), Sync::yes).ok());
}

}  // namespace
}  // namespace ballast
