// One fault in any file of a database: it is told, or nothing of the content depends on it. Never wrong content.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "storage/store/shard_store.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

constexpr std::uint32_t kSeed = 20;
constexpr SnapshotId kOld{1, 100};
constexpr SnapshotId kNew{1, 200};

using Content = std::map<std::string, std::string>;

void write_snapshot(ShardStore& shard, const SnapshotId& id) {
  for (ChunkId chunk = 0; chunk < 6; ++chunk) {
    const std::vector<float> weights(1000 + 100 * chunk, static_cast<float>(id.step + chunk));
    const std::vector<float> state(weights.size(), 0.5F);
    REQUIRE(shard.write_chunk(id, chunk, weights, std::vector<std::span<const float>>{state}).ok());
  }
  REQUIRE(shard.sync().ok());
}

void write_ledger(ShardStore& shard, Step from, const Ledger& ledger) {
  LedgerChange change{ledger, {}, {}, {{from, Split::test, 0.5, 0.75, 100}}};
  for (Step step = from; step < from + 100; ++step) {
    change.statistics.push_back({step, 1.5F, 3, 8});
  }
  REQUIRE(shard.write_ledger(change).ok());
}

std::unique_ptr<ShardStore> open(const std::filesystem::path& path) {
  auto store = open_rocksdb(path, OpenMode::create);
  REQUIRE(store.ok());
  return std::make_unique<ShardStore>(std::move(store.value()));
}

// A database of several lives, the last of which was killed: files of every kind, and a log with content.
std::filesystem::path make_database(const std::filesystem::path& folder) {
  const auto alive = folder / "alive";
  {
    const auto shard = open(alive);
    REQUIRE(shard->claim({kDatabaseFormat, "job", "spec", "layout", 0, 1, "job: job\n"}).ok());
    REQUIRE(shard->write_timeline({1, {}, 7}).ok());
    write_snapshot(*shard, kOld);
    write_ledger(*shard, 0, {1, {}, {7}, {}, {kOld}, {}, {}, {}, 0, 0, {}, Pause::none, 0, 0, {}});
  }
  {
    const auto shard = open(alive);
    write_snapshot(*shard, kNew);
    write_ledger(*shard, 100, {1, {}, {7}, {}, {kOld, kNew}, {}, {}, {}, 0, 0, kNew, Pause::none, 0, 0, {}});
    REQUIRE(shard->retain(std::vector<SnapshotId>{kNew}).ok());
  }
  const auto shard = open(alive);
  REQUIRE(shard->write_timeline({2, kNew, 8}).ok());
  write_snapshot(*shard, {2, 300});
  REQUIRE(shard->write_finished({2, 300}).ok());
  const auto database = folder / "database";
  std::filesystem::copy(alive, database, std::filesystem::copy_options::recursive);
  std::filesystem::remove(database / "LOCK");
  return database;
}

// What a reader finds who checks everything; or the first thing found wrong.
StoreResult<Content> read_all(const std::filesystem::path& database, OpenMode mode) {
  auto store = open_rocksdb(database, mode);
  if (!store.ok()) {
    return store.status();
  }
  const ShardStore shard(std::move(store.value()));
  if (const auto verified = shard.verify(); !verified.ok()) {
    return verified;
  }
  Content content;
  const auto scanned = shard.store().scan("", [&content](std::string_view key, std::string_view value) {
    content.emplace(key, value);
    return true;
  });
  return scanned.ok() ? StoreResult<Content>(std::move(content)) : scanned;
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

struct Outcomes {
  int told = 0;
  int harmless = 0;
};

void judge(const StoreResult<Content>& found, const Content& right, const std::filesystem::path& database,
           Outcomes& outcomes) {
  if (found.ok()) {
    REQUIRE(found.value() == right);
    ++outcomes.harmless;
    return;
  }
  const auto& text = found.status().text();
  CAPTURE(text);
  REQUIRE(text.starts_with(database.string()));
  REQUIRE(text.find("; ") != std::string::npos);  // the remedy
  ++outcomes.told;
}

// Each change is made to the file in place, and undone.
template <typename Change>
void for_every_file(const std::filesystem::path& database, const Content& right, int attempts, Change change) {
  std::mt19937 random(kSeed);
  for (const auto& file : std::filesystem::directory_iterator(database)) {
    const auto name = file.path().filename().string();
    const auto bytes = read_file(file.path());
    if (bytes.empty()) {
      continue;
    }
    CAPTURE(name);
    Outcomes outcomes;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      auto damaged = bytes;
      const auto what = change(damaged, random);
      CAPTURE(what);
      write_file(file.path(), damaged);
      judge(read_all(database, OpenMode::read_only), right, database, outcomes);
    }
    write_file(file.path(), bytes);
    INFO(outcomes.told, " told, ", outcomes.harmless, " harmless");
    if (name.ends_with(".sst") || (name.ends_with(".log") && bytes.size() > 1000)) {
      CHECK(outcomes.told > attempts / 2);  // nearly all of these files is content
    }
    if (name == "LOCK" || name == "IDENTITY") {
      CHECK(outcomes.told == 0);  // nothing of the content is in them
    }
  }
}

std::string flip_a_bit(std::string& bytes, std::mt19937& random) {
  const auto bit = random() % (bytes.size() * 8);
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  return "bit " + std::to_string(bit);
}

std::string cut(std::string& bytes, std::mt19937& random) {
  bytes.resize(random() % bytes.size());
  return "cut to " + std::to_string(bytes.size());
}

TEST_CASE("one flipped bit in any file is told or harmless") {
  const TemporaryFolder folder;
  const auto database = make_database(folder.path());
  const auto right = read_all(database, OpenMode::read_only);
  REQUIRE_MESSAGE(right.ok(), (right.ok() ? "" : right.status().text()));
  REQUIRE(right.value().size() > 200);
  for_every_file(database, right.value(), 60, flip_a_bit);
}

TEST_CASE("any file cut short is told or harmless") {
  const TemporaryFolder folder;
  const auto database = make_database(folder.path());
  const auto right = read_all(database, OpenMode::read_only);
  REQUIRE(right.ok());
  for_every_file(database, right.value(), 25, cut);
}

TEST_CASE("any file missing is told or harmless") {
  const TemporaryFolder folder;
  const auto database = make_database(folder.path());
  const auto right = read_all(database, OpenMode::read_only);
  REQUIRE(right.ok());
  std::vector<std::filesystem::path> names;
  for (const auto& file : std::filesystem::directory_iterator(database)) {
    names.push_back(file.path().filename());
  }
  for (const auto& name : names) {
    CAPTURE(name.string());
    std::filesystem::rename(database / name, folder.path() / "aside");
    Outcomes outcomes;
    judge(read_all(database, OpenMode::read_only), right.value(), database, outcomes);
    std::filesystem::rename(folder.path() / "aside", database / name);
    const auto extension = name.extension();
    CHECK(((extension != ".sst" && name != "CURRENT" && !name.string().starts_with("MANIFEST")) || outcomes.told == 1));
  }
}

// The owner's opening writes; each attempt has a copy of its own.
TEST_CASE("the owner is told as well, and makes nothing worse") {
  const TemporaryFolder folder;
  const auto database = make_database(folder.path());
  const auto right = read_all(database, OpenMode::read_only);
  REQUIRE(right.ok());
  std::mt19937 random(kSeed);
  const auto copy = folder.path() / "copy";
  Outcomes outcomes;
  for (const auto& file : std::filesystem::directory_iterator(database)) {
    for (int attempt = 0; attempt < 6 && file.file_size() > 0; ++attempt) {
      std::filesystem::remove_all(copy);
      std::filesystem::copy(database, copy, std::filesystem::copy_options::recursive);
      const auto name = file.path().filename();
      auto bytes = read_file(copy / name);
      const auto what = attempt % 3 == 0 ? cut(bytes, random) : flip_a_bit(bytes, random);
      CAPTURE(name.string());
      CAPTURE(what);
      write_file(copy / name, bytes);
      for (int opening = 0; opening < 2; ++opening) {
        judge(read_all(copy, OpenMode::create), right.value(), copy, outcomes);
      }
    }
  }
  CHECK(outcomes.told > 0);
  CHECK(outcomes.harmless > 0);
}

}  // namespace
}  // namespace ballast
