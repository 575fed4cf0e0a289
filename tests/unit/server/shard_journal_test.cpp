#include "server/shard_journal.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "common/job/load.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

Job two_lanes() {
  return make_job(parse_job(R"(
job: journaled
model: {name: mlp, hidden: [4]}
data: {name: glyphs, train_examples: 64, test_examples: 8}
training: {mode: async, slots: 4, batch: 16, max_steps: 9}
cluster: {lanes: 2}
)",
                            "test"));
}

std::shared_ptr<const Frame> frame(const std::string& bytes) {
  zmq::message_t message(bytes.size());
  std::memcpy(message.data(), bytes.data(), bytes.size());
  return std::make_shared<Frame>(std::move(message));
}

lane::Append update(std::uint64_t ticket, ChunkId chunk, ItemId item) {
  lane::Append append;
  append.ticket = ticket;
  append.chunk = chunk;
  append.item = item;
  append.version = item;
  append.factors.learning_rate = 0.5F;
  append.marks = {{0, 70, item}};
  return append;
}

// One life of a shard, and what its two lanes are told.
struct Life {
  Life(const Job& job, const std::filesystem::path& folder, Incarnation incarnation)
      : journal(job, folder.string(), 0, incarnation, nullptr) {
    REQUIRE(journal.open().ok());
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
      journal.listen(lane, [this, lane](const lane::Event& event) {
        const std::scoped_lock lock(mutex);
        if (const auto* synced = std::get_if<lane::JournalSynced>(&event)) {
          synced_before[lane] = synced->before;
        } else {
          told[lane] = std::get<lane::Committed>(event);
        }
        changed.notify_all();
      });
    }
  }
  lane::Committed wait_for(std::uint32_t lane, std::uint64_t ticket) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return told[lane].ticket >= ticket; });
    return told[lane];
  }

  void wait_for_sync(std::uint32_t lane, ItemId before) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return synced_before[lane] >= before; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  lane::Committed told[2];
  ItemId synced_before[2] = {};
  ShardJournal journal;  // last: it tells the others
};

TEST_CASE("each lane is told of its own updates, by its own tickets, in the shard's order") {
  const TemporaryFolder folder;
  const auto job = two_lanes();
  Life life(job, folder.path(), 11);
  CHECK(life.journal.lives(0).empty());
  REQUIRE(life.journal.begin(1).ok());
  CHECK(life.journal.lives(1) == std::vector<ShardLife>{{11, 0}});
  life.journal.append(0, 1, update(5, 0, 0), frame("zero"));
  life.journal.append(1, 1, update(1, 1, 0), frame("one"));
  life.journal.append(0, 1, update(6, 0, 1), frame("two"));
  CHECK(life.wait_for(1, 1).ticket == 1);
  CHECK(life.wait_for(0, 6).sequence == 3);
  CHECK(life.journal.committed() == 3);
}

TEST_CASE("a second lane that begins the timeline takes nothing from the first") {
  const TemporaryFolder folder;
  const auto job = two_lanes();
  Life life(job, folder.path(), 11);
  REQUIRE(life.journal.begin(1).ok());
  life.journal.append(0, 1, update(1, 0, 0), frame("kept"));
  life.wait_for(0, 1);
  REQUIRE(life.journal.begin(1).ok());
  CHECK(life.journal.committed() == 1);
  life.journal.append(1, 7, update(1, 1, 0), frame("of another timeline"));
  life.journal.append(1, 1, update(2, 1, 0), frame("of this one"));
  CHECK(life.wait_for(1, 2).sequence == 2);
}

TEST_CASE("a lane that asks is told when all that is committed is synced, though nothing else asks for a sync") {
  const TemporaryFolder folder;
  auto job = two_lanes();
  job.spec.durability.fsync = Fsync::never;
  Life life(job, folder.path(), 11);
  REQUIRE(life.journal.begin(1).ok());
  life.journal.append(0, 1, update(1, 0, 0), frame("zero"));
  life.journal.append(1, 1, update(1, 1, 0), frame("one"));
  life.wait_for(0, 1);
  life.wait_for(1, 1);
  CHECK(life.journal.synced() < 2);
  life.journal.sync(0, {1, 4});
  life.journal.sync(1, {1, 4});
  life.wait_for_sync(0, 4);
  life.wait_for_sync(1, 4);
  CHECK(life.journal.synced() == 2);
  life.journal.sync(1, {1, 8});  // there is nothing to sync
  life.wait_for_sync(1, 8);
  life.journal.sync(0, {7, 9});  // of another timeline
  CHECK(life.synced_before[0] == 4);
}

TEST_CASE("a life for which the journal has no room says so by its list, and cannot go on") {
  const TemporaryFolder folder;
  const auto job = two_lanes();
  for (Incarnation life = 1; life <= kMaxShardLives; ++life) {
    Life own(job, folder.path(), life);
    REQUIRE((life == 1 ? own.journal.begin(3) : own.journal.resume(3)).ok());
  }
  Life life(job, folder.path(), kMaxShardLives + 1);
  const auto lives = life.journal.lives(3);
  REQUIRE(lives.size() == kMaxShardLives + 1);
  CHECK(lives.front() == ShardLife{1, 0});
  CHECK(lives.back() == ShardLife{kMaxShardLives + 1, 0});
  CHECK_FALSE(life.journal.resume(3).ok());
  REQUIRE(life.journal.begin(4).ok());
  CHECK(life.journal.lives(4) == std::vector<ShardLife>{{kMaxShardLives + 1, 0}});
}

TEST_CASE("a new life goes on with what the one before has committed, once for all its lanes") {
  const TemporaryFolder folder;
  const auto job = two_lanes();
  {
    Life life(job, folder.path(), 11);
    REQUIRE(life.journal.begin(3).ok());
    life.journal.append(0, 3, update(1, 0, 4), frame("first"));
    life.journal.append(1, 3, update(1, 1, 4), frame("second"));
    life.wait_for(0, 1);
    life.wait_for(1, 1);
  }
  Life life(job, folder.path(), 12);
  CHECK(life.journal.lives(2).empty());
  CHECK(life.journal.lives(3) == std::vector<ShardLife>{{11, 0}, {12, 2}});
  CHECK_FALSE(life.journal.resume(4).ok());
  life.journal.append(0, 3, update(1, 0, 5), frame("too early: the life is not recorded"));
  REQUIRE(life.journal.resume(3).ok());
  life.journal.append(0, 3, update(2, 0, 5), frame("third"));
  CHECK(life.wait_for(0, 2).sequence == 3);
  REQUIRE(life.journal.resume(3).ok());
  CHECK(life.journal.lives(3) == std::vector<ShardLife>{{11, 0}, {12, 2}});
  std::vector<ItemId> items;
  REQUIRE(life.journal
              .replay([&](JournalSequence, const JournalRecord& record) {
                items.push_back(record.item);
                CHECK(record.factors.learning_rate == 0.5F);
                CHECK(record.marks == std::vector<JournalMark>{{0, 70, record.item}});
                return true;
              })
              .ok());
  CHECK(items == std::vector<ItemId>{4, 4, 5});
}

TEST_CASE("a skipped update is told without its gradient") {
  const TemporaryFolder folder;
  Life life(two_lanes(), folder.path(), 11);
  REQUIRE(life.journal.begin(1).ok());
  auto skipped = update(1, 0, 0);
  skipped.factors.skip = true;
  life.journal.append(0, 1, skipped, frame("not a number"));
  life.wait_for(0, 1);
  REQUIRE(life.journal
              .replay([](JournalSequence, const JournalRecord& record) {
                CHECK(record.factors.skip);
                CHECK(record.payload.empty());
                return true;
              })
              .ok());
}

TEST_CASE("what refuses a damaged journal names both ways on") {
  const TemporaryFolder folder;
  const auto job = two_lanes();
  {
    Life life(job, folder.path(), 11);
    REQUIRE(life.journal.begin(1).ok());
    life.journal.append(0, 1, update(1, 0, 0), frame("zero"));
    life.wait_for(0, 1);
  }
  for (const auto& segment : std::filesystem::directory_iterator(Journal::folder_in(folder.path()))) {
    std::fstream file(segment.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20);
    file.put('\xff');
  }
  ShardJournal journal(job, folder.path().string(), 0, 12, nullptr);
  const auto status = journal.open();
  CHECK(status.code() == StoreCode::corrupt);
  CHECK(status.text().find("ballast restore") != std::string::npos);
  CHECK(status.text().find("--set durability.mode=snapshot") != std::string::npos);
}

}  // namespace
}  // namespace ballast
