#include "server/shard_storage.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "common/job/load.h"
#include "server/load_window.h"
#include "storage/store/store.h"
#include "tests/unit/small_disk.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

Job journaled() {
  return make_job(parse_job(R"(
job: journaled
model: {name: mlp, hidden: [4]}
data: {name: glyphs, train_examples: 64, test_examples: 8}
training: {mode: async, slots: 4, batch: 16, max_steps: 9}
cluster: {lanes: 2}
)",
                            "test"));
}

// A shard's storage, its database in memory.
struct Shard {
  Shard(const Job& job, const std::filesystem::path& folder, Incarnation incarnation = 11,
        ShardStorage::Fetch fetch = {})
      : journal(job, folder.string(), 0, incarnation, nullptr),
        storage(store, &journal, room, incarnation, 1, std::move(fetch)) {
    REQUIRE(journal.open().ok());
  }

  void begin(Timeline timeline, ShardStorage::Done done) {
    storage.begin(
        timeline, {}, {}, [](const auto&) { return true; }, std::move(done));
  }
  void resume(Timeline timeline, ShardStorage::Done done) {
    storage.resume(
        timeline, {}, {}, [](const auto&) { return true; }, [](const auto&) { return true; }, std::move(done));
  }
  // Until it says that it waits, or no longer.
  void wait_until_waiting(bool waits) const {
    while (room.trouble().empty() == waits) {
      std::this_thread::yield();
    }
  }

  DiskRoom room{nullptr};
  std::unique_ptr<MemoryStore> memory = std::make_unique<MemoryStore>("shard-0");
  MemoryStore& disk = *memory;
  ShardStore store{std::move(memory)};
  ShardJournal journal;
  ShardStorage storage;
};

// What is to be told, when it has been.
struct Told {
  ShardStorage::Done done() {
    return [this](const StoreStatus& status) { promise.set_value(status); };
  }
  StoreStatus get() { return promise.get_future().get(); }
  std::promise<StoreStatus> promise;
};

TEST_CASE("a lane that is behind another of its shard neither fails it nor goes on with an older timeline") {
  const TemporaryFolder folder;
  const auto job = journaled();
  int older = 0;
  Told newer;
  Shard shard(job, folder.path());
  shard.begin(2, [](const StoreStatus&) {});
  shard.begin(1, [&](const StoreStatus&) { ++older; });
  shard.resume(1, [&](const StoreStatus&) { ++older; });
  shard.begin(3, newer.done());
  CHECK(newer.get().ok());
  CHECK(older == 0);
  CHECK(shard.store.timeline().value()->number == 3);
}

TEST_CASE(
    "a timeline, and the end, wait for room in the database; a newer timeline takes the place of one that waits") {
  const TemporaryFolder folder;
  const auto job = journaled();
  int older = 0;
  Told newer;
  Told end;
  Shard shard(job, folder.path());
  shard.disk.fail_writes({StoreCode::no_space, "full"});
  shard.begin(1, [&](const StoreStatus&) { ++older; });
  shard.wait_until_waiting(true);
  CHECK(shard.room.trouble() == "shard-0: full");
  shard.begin(2, newer.done());
  shard.storage.record_finish({2, 9}, end.done());
  shard.disk.fail_writes({});
  CHECK(newer.get().ok());
  CHECK(end.get().ok());
  CHECK(older == 0);
  CHECK(shard.room.trouble().empty());
  CHECK(shard.store.timeline().value()->number == 2);
  CHECK(shard.store.finished().value() == SnapshotId{2, 9});
}

TEST_CASE("a base that cannot be read before there is room is waited for") {
  const TemporaryFolder folder;
  const auto job = journaled();
  const std::vector<float> weights{1, 2, 3};
  for (const bool resumes : {false, true}) {
    CAPTURE(resumes);
    Told begun;
    const auto place = folder.path() / (resumes ? "resumes" : "begins");
    std::filesystem::create_directory(place);
    Shard shard(job, place);
    if (resumes) {
      Told before;
      shard.begin(1, before.done());
      REQUIRE(before.get().ok());
    }
    REQUIRE(shard.store.write_chunk({}, 5, weights, {}).ok());
    std::vector<ChunkId> loaded;
    const auto load = [&](const ShardStorage::LoadedChunk& chunk) {
      loaded.push_back(chunk.chunk);
      CHECK(chunk.tensors.weights == weights);
      return true;
    };
    shard.disk.fail_reads({StoreCode::no_space, "full"});
    if (resumes) {
      shard.storage.resume(
          1, {}, {{5, 3, 0}}, load, [](const auto&) { return true; }, begun.done());
    } else {
      shard.storage.begin(1, {}, {{5, 3, 0}}, load, begun.done());
    }
    shard.wait_until_waiting(true);
    shard.disk.fail_reads({});
    CHECK(begun.get().ok());
    CHECK(loaded == std::vector<ChunkId>{5});
  }
}

TEST_CASE("a base that the database lacks is fetched, once, or said to be missing; one that is there is not") {
  const TemporaryFolder folder;
  const auto job = journaled();
  const std::vector<float> weights{1, 2, 3};
  std::vector<SnapshotId> fetched;
  ShardStore* store = nullptr;
  Shard shard(job, folder.path(), 11, [&](SnapshotId id, const std::function<bool()>& wanted) {
    fetched.push_back(id);
    CHECK(wanted());
    if (id.step == 40) {
      return StoreStatus{StoreCode::missing, "damaged"};
    }
    REQUIRE(store->write_chunk(id, 5, weights, {}).ok());
    return store->seal(id);
  });
  store = &shard.store;
  const auto begin = [&](Timeline timeline, SnapshotId base) {
    Told told;
    shard.storage.begin(
        timeline, base, {{5, 3, 0}}, [](const auto&) { return true; }, told.done());
    return told.get();
  };
  CHECK(begin(2, {1, 20}).ok());
  CHECK(begin(3, {1, 20}).ok());
  CHECK(fetched == std::vector<SnapshotId>{{1, 20}});
  CHECK(begin(4, {1, 40}).code() == StoreCode::missing);
  CHECK(shard.store.timeline().value()->number == 3);  // it has nothing of that
  CHECK(begin(5, {1, 20}).ok());
  CHECK(fetched.size() == 2);
}

TEST_CASE("what an older timeline needs no more stays, once a lane begins one that may have gone back to it") {
  const TemporaryFolder folder;
  const auto job = journaled();
  const std::vector<float> weights{1, 2, 3};
  Shard shard(job, folder.path());
  for (const SnapshotId id : {SnapshotId{1, 2}, SnapshotId{1, 3}}) {
    REQUIRE(shard.store.write_chunk(id, 5, weights, {}).ok());
    REQUIRE(shard.store.seal(id).ok());
  }
  const auto held_after = [&](Timeline timeline) {
    Told told;
    shard.storage.retain(timeline, {{1, 3}}, 12);
    shard.storage.record_finish({1, 3}, told.done());  // behind it
    REQUIRE(told.get().ok());
    return shard.store.sealed().value();
  };
  Told begun;
  shard.storage.begin(
      3, {1, 2}, {{5, 3, 0}}, [](const auto&) { return true; }, begun.done());
  REQUIRE(begun.get().ok());
  CHECK(held_after(2) == std::vector<SnapshotId>{{1, 2}, {1, 3}});
  CHECK(held_after(3) == std::vector<SnapshotId>{{1, 3}});
}

// The lane of a base of nine chunks of 800 bytes, which takes nothing before it is told to.
struct SlowLane {
  static constexpr int kChunks = 9;
  static constexpr std::size_t kElements = 100;  // and as many of state

  void write_base(ShardStore& store) const {
    const std::vector<float> values(kElements, 1);
    for (ChunkId chunk = 0; chunk < ChunkId{kChunks}; ++chunk) {
      REQUIRE(store.write_chunk({}, chunk, values, std::vector<std::span<const float>>{values}).ok());
    }
  }
  [[nodiscard]] std::vector<ShardStorage::ChunkShape> shapes() const {
    std::vector<ShardStorage::ChunkShape> shapes;
    for (ChunkId chunk = 0; chunk < ChunkId{kChunks}; ++chunk) {
      shapes.push_back({chunk, kElements, 1});
    }
    return shapes;
  }
  ShardStorage::Load load() {
    return [this](const ShardStorage::LoadedChunk&) {
      const bool taken = window.take(2 * kElements * sizeof(float));
      read += taken ? 1 : 0;
      return taken;
    };
  }
  void wait_for(int chunks) const {
    while (read != chunks) {
      std::this_thread::yield();
    }
  }
  LoadWindow window{2000};
  std::atomic<int> read = 0;
};

TEST_CASE("a base is read as fast as the lane takes it, whatever its size") {
  const TemporaryFolder folder;
  const auto job = journaled();
  SlowLane lane;
  Told begun;
  Shard shard(job, folder.path());
  lane.write_base(shard.store);
  shard.storage.begin(1, {}, lane.shapes(), lane.load(), begun.done());
  lane.wait_for(3);  // the window is 2,000 bytes: full with three of 800
  for (int taken = 1; taken <= SlowLane::kChunks; ++taken) {
    CHECK(lane.read <= taken + 2);
    lane.window.give_back(800);
    lane.wait_for(std::min(taken + 3, +SlowLane::kChunks));
  }
  CHECK(begun.get().ok());
}

TEST_CASE("a lane that ends, and a newer timeline, end the reading of a base") {
  const TemporaryFolder folder;
  const auto job = journaled();
  SlowLane ended;
  SlowLane older;
  Told gone;
  Told newer;
  Shard shard(job, folder.path());
  ended.write_base(shard.store);
  shard.storage.begin(1, {}, ended.shapes(), ended.load(), gone.done());
  ended.wait_for(3);
  ended.window.close();
  CHECK(gone.get().code() == StoreCode::io);
  CHECK(ended.read == 3);

  shard.storage.begin(2, {}, older.shapes(), older.load(), [](const StoreStatus&) { FAIL("it was given up"); });
  older.wait_for(3);
  shard.begin(3, newer.done());
  older.window.give_back(9 * 800);
  CHECK(newer.get().ok());
  CHECK(older.read == 4);  // the one that waited
}

TEST_CASE("a failure that room does not mend is told at once, and so is a full disk when the server ends") {
  const TemporaryFolder folder;
  const auto job = journaled();
  Told broken;
  Told full;
  Shard shard(job, folder.path());
  shard.disk.fail_writes({StoreCode::io, "broken"});
  shard.begin(1, broken.done());
  CHECK(broken.get().code() == StoreCode::io);
  shard.disk.fail_writes({StoreCode::no_space, "full"});
  shard.begin(1, full.done());
  shard.wait_until_waiting(true);
  shard.room.close();
  CHECK(full.get().code() == StoreCode::no_space);
}

TEST_CASE("a life of the journal waits for room, and begins in the timeline it had") {
  const SmallDisk disk(1);
  if (!disk.mounted()) {
    return;
  }
  const auto job = journaled();
  const auto folder = disk.path("shard-0");
  std::filesystem::create_directory(folder);
  {
    Told begun;
    Shard shard(job, folder);
    shard.begin(1, begun.done());
    REQUIRE(begun.get().ok());
  }
  Told resumed;
  Shard shard(job, folder, 12);
  disk.fill(0);
  shard.resume(1, resumed.done());
  shard.wait_until_waiting(true);
  CHECK(shard.room.trouble().find("the disk is full: make room on it") != std::string::npos);
  disk.make_room();
  CHECK(resumed.get().ok());
  CHECK(shard.room.trouble().empty());
  CHECK(shard.journal.lives(1) == std::vector<ShardLife>{{11, 0}, {12, 0}});
}

TEST_CASE("the journal is read once for all lanes that have asked by then") {
  const TemporaryFolder folder;
  const auto job = journaled();
  {
    Told begun;
    Shard shard(job, folder.path());
    shard.begin(1, begun.done());
    REQUIRE(begun.get().ok());
    shard.journal.listen(0, [](const lane::Event&) {});
    for (ItemId item = 0; item < 3; ++item) {
      lane::Append update;
      update.ticket = item + 1;
      update.item = item;
      update.version = item;
      update.factors.skip = true;
      shard.journal.append(0, 1, update, std::make_shared<Frame>(zmq::message_t()));
    }
  }
  Shard shard(job, folder.path(), 12);
  std::promise<void> all_asked;
  shard.storage.record_finish({1, 9}, [&](const StoreStatus&) { all_asked.get_future().wait(); });
  std::vector<std::pair<int, ItemId>> read;  // by which lane, in what order
  Told told[3];
  for (int lane = 0; lane < 3; ++lane) {
    shard.storage.resume(
        1, {}, {}, [](const auto&) { return true; },
        [&read, lane](const JournalRecord& record) {
          read.emplace_back(lane, record.item);
          return lane != 1 || record.item < 1;  // lane 1 ends meanwhile
        },
        told[lane].done());
  }
  all_asked.set_value();
  CHECK(told[0].get().ok());
  CHECK(told[2].get().ok());
  CHECK(read == std::vector<std::pair<int, ItemId>>{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {0, 2}, {2, 2}});
  Told late;
  shard.resume(1, late.done());
  CHECK(late.get().ok());
}

}  // namespace
}  // namespace ballast
