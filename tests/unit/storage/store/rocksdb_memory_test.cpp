// What a database takes of a server's memory, written and read faster than it can put away.
#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "storage/store/record_keys.h"
#include "storage/store/rocksdb_limits.h"
#include "storage/store/store.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

constexpr std::size_t kChunk = 1U << 20U;
constexpr int kWriters = 3;
constexpr int kSnapshots = 6;
constexpr int kChunks = 16;  // of each writer, in each snapshot: 1.1 GiB in all

std::uint64_t heap_bytes() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

// Sanitizers have heaps of their own.
bool is_heap_told() {
  const auto before = heap_bytes();
  const std::vector<char> more(kChunk);
  return heap_bytes() >= before + more.size();
}

struct Peaks {
  std::uint64_t counted = 0;  // by the database
  std::uint64_t heap = 0;     // beyond what there was before
};

// Looks as often as it can, until it goes.
class PeakWatch {
 public:
  explicit PeakWatch(const Store& store)
      : thread_([this, &store](const std::stop_token& stop) { look(store, stop); }) {}
  Peaks end() {
    thread_.request_stop();
    thread_.join();
    return peaks_;
  }

 private:
  void look(const Store& store, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      peaks_.counted = std::max(peaks_.counted, store.memory().total());
      const auto now = heap_bytes();
      peaks_.heap = std::max(peaks_.heap, now - std::min(now, before_));
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  const std::uint64_t before_ = heap_bytes();
  Peaks peaks_;
  std::jthread thread_;
};

std::string key_of(int snapshot, int writer, int chunk, std::size_t tensor) {
  return "s/" + std::to_string(snapshot) + "/" + std::to_string(tensor) + "/" + std::to_string(chunk) + "/" +
         std::to_string(writer);
}

// As a shard writes its chunks: weights and all the state that may be kept.
void write_chunks(Store& store, int snapshot, int writer) {
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    WriteBatch batch;
    for (std::size_t tensor = 0; tensor <= kMaxStates; ++tensor) {
      batch.put(key_of(snapshot, writer, chunk, tensor), std::string(kChunk, static_cast<char>('a' + chunk)));
    }
    const auto status = store.write(batch, Sync::no);
    CHECK_MESSAGE(status.ok(), status.text());
  }
}

// Old snapshots go and are compacted away, newer ones are read while they are written.
void write_snapshots(Store& store) {
  for (int snapshot = 0; snapshot < kSnapshots; ++snapshot) {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&store, snapshot, writer] { write_chunks(store, snapshot, writer); });
    }
    writers.clear();
    const auto old = "s/" + std::to_string(snapshot - 2) + "/";
    if (snapshot >= 2) {
      REQUIRE(store.write(WriteBatch{}.erase_range(old, old + "~"), Sync::yes).ok());
      store.reclaim(old, old + "~");
    }
  }
}

// Record by record, as copies of snapshots are made, and small ones that are read again and again.
void read_on(Store& store, const std::stop_token& stop) {
  std::string from = "s/";
  while (!stop.stop_requested()) {
    const auto key = store.first_key(from);
    const bool is_there = key.ok() && key.value();
    CHECK(key.ok());
    if (is_there) {
      CHECK(store.get(*key.value()).ok());
    }
    from = is_there ? *key.value() + '\0' : "s/";
  }
}

TEST_CASE("a database that is written and read without a pause stays within what a server's memory has for it") {
  const TemporaryFolder folder;
  auto opened = open_rocksdb(folder.path() / "database", OpenMode::create);
  REQUIRE(opened.ok());
  auto& store = *opened.value();
  PeakWatch watch(store);
  {
    const std::jthread reader([&store](const std::stop_token& stop) { read_on(store, stop); });
    write_snapshots(store);
  }
  const auto peaks = watch.end();
  CAPTURE(peaks.counted);
  CAPTURE(peaks.heap);
  CHECK(peaks.counted > kDatabaseCacheBytes / 2);  // it was written faster than it could put away
  CHECK(peaks.counted <= kDatabaseCacheBytes);
  // Beside the database: a batch of each of the writers that only this test has, and the record that is being read.
  const auto others = (kWriters - 1) * 2 * kBatchBytes + kChunk;
  if (is_heap_told()) {
    CHECK(peaks.heap <= kDatabaseBytes + others);
  }
}

TEST_CASE("what was read stays in memory, and gives way to what is written") {
  const TemporaryFolder folder;
  auto opened = open_rocksdb(folder.path() / "database", OpenMode::create);
  REQUIRE(opened.ok());
  auto& store = *opened.value();
  for (int snapshot = 0; snapshot < 2; ++snapshot) {
    write_chunks(store, snapshot, 0);
  }
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    for (std::size_t tensor = 0; tensor <= kMaxStates; ++tensor) {
      REQUIRE(store.get(key_of(0, 0, chunk, tensor)).ok());
    }
  }
  const auto before = store.memory();
  CHECK(before.read > 16U << 20U);
  CHECK(before.total() <= kDatabaseCacheBytes);
  write_chunks(store, 2, 0);
  CHECK(store.memory().total() <= kDatabaseCacheBytes);
}

}  // namespace
}  // namespace ballast
