// Writes and syncs that fail: nothing is committed that is not there, it is told, and all goes on by itself.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "storage/journal/journal.h"
#include "tests/unit/small_disk.h"
#include "tests/unit/storage/journal/journal_memory_files.h"
#include "tests/unit/storage/journal/journal_testing.h"

namespace ballast {
namespace {

constexpr JournalSync kSyncPolicies[] = {JournalSync::always, JournalSync::interval, JournalSync::never};

JournalOptions options_of(MemoryJournalFiles& files, JournalSync sync) {
  JournalOptions options;
  options.sync = sync;
  options.interval = std::chrono::milliseconds(1);
  options.retry = std::chrono::milliseconds(1);
  options.segment_bytes = 600;
  options.files = &files;
  return options;
}

// Whoever finds the journal now; by a process that died, or by a power cut.
JournalSequence found_in(MemoryJournalFiles& files) {
  RecordMaker maker;
  return check_replay(*open_journal("journal", options_of(files, JournalSync::always)), maker);
}

TEST_CASE("each call may fail for a while, whatever the policy: nothing is lost, and trouble begins and ends once") {
  for (const auto policy : kSyncPolicies) {
    for (const auto failing :
         {FileCall::create, FileCall::write, FileCall::sync, FileCall::rename, FileCall::sync_folder}) {
      for (const FileError error : {ENOSPC, EIO}) {
        CAPTURE(static_cast<int>(policy));
        CAPTURE(static_cast<int>(failing));
        CAPTURE(error);
        MemoryJournalFiles files;
        RecordMaker maker;
        Listener listener;
        std::atomic<int> failures = 0;
        auto journal = open_journal("journal", options_of(files, policy), listener.events());
        REQUIRE(journal->begin(1).ok());
        append_range(*journal, maker, 1, 4);
        listener.wait_for_committed(3);
        files.set_judge(
            [&](FileCall call, const std::string&) { return call == failing && ++failures <= 5 ? error : 0; });
        JournalSequence next = 4;
        while (failures <= 5) {  // the calls that make segments come now and then
          append_range(*journal, maker, next, next + 5);
          next += 5;
          listener.wait_for_committed(next - 1);
          if (policy == JournalSync::never) {
            journal->rotate();
          }
        }
        REQUIRE(journal->sync().ok());
        CHECK(journal->trouble().empty());
        CHECK(check_replay(*journal, maker) == next - 1);
        const auto troubles = listener.troubles();
        REQUIRE(!troubles.empty());
        CHECK(troubles.size() <= 3);  // of the segment that was written, of making another, and none
        CHECK(troubles.front().find("journal") == 0);
        CHECK(troubles.front().find(error == ENOSPC ? "the disk is full: make room" : "see that the disk is well") !=
              std::string::npos);
        CHECK(troubles.back().empty());
        CHECK(journal->counters().failures >= 1);
        std::mt19937 random(1);
        CHECK(found_in(*files.cut_power(random)) == next - 1);
        journal.reset();
        CHECK(found_in(files) == next - 1);
      }
    }
  }
}

TEST_CASE("room for a snapshot is kept back: no record takes it, and a beginning or a life does") {
  MemoryJournalFiles files;
  RecordMaker maker;
  Listener listener;
  auto options = options_of(files, JournalSync::always);
  options.kept_back = 1000;
  const auto journal = open_journal("journal", options, listener.events());
  files.set_free(500);
  REQUIRE(journal->begin(1).ok());
  REQUIRE(journal->record_life(7).ok());
  files.set_free(2000);
  append_range(*journal, maker, 1, 4);
  listener.wait_for_committed(3);
  CHECK(journal->counters().free_bytes == 2000);
  files.set_free(1010);  // for less than a record
  append_range(*journal, maker, 4, 5);
  listener.wait_for_troubles(1);
  CHECK(journal->trouble().find("1000 bytes are kept back for a snapshot, and no more are free; the disk is full: make "
                                "room on it") != std::string::npos);
  CHECK(journal->committed() == 3);
  CHECK(journal->counters().failures > 0);
  files.set_free(2000);  // the snapshot has made older segments needless
  listener.wait_for_committed(4);
  listener.wait_for_troubles(2);
  CHECK(journal->trouble().empty());
  CHECK(check_replay(*journal, maker) == 4);
}

TEST_CASE("a write that hangs is told by the time it has taken") {
  MemoryJournalFiles files;
  RecordMaker maker;
  Listener listener;
  std::atomic<bool> hangs = false;
  std::atomic<bool> reached = false;
  const auto journal = open_journal("journal", options_of(files, JournalSync::always), listener.events());
  REQUIRE(journal->begin(1).ok());
  CHECK(journal->counters().busy_seconds == 0);
  hangs = true;
  files.set_judge([&](FileCall call, const std::string&) {
    while (call == FileCall::sync && hangs) {
      reached = true;
      std::this_thread::yield();
    }
    return 0;
  });
  append_range(*journal, maker, 1, 2);
  while (!reached) {
    std::this_thread::yield();
  }
  const auto before = journal->counters().busy_seconds;
  CHECK(before > 0);
  while (journal->counters().busy_seconds <= before) {
    std::this_thread::yield();
  }
  hangs = false;
  listener.wait_for_committed(1);
  while (journal->counters().busy_seconds > 0) {
    std::this_thread::yield();
  }
}

TEST_CASE("a group whose sync failed is committed only once it is synced in another segment") {
  MemoryJournalFiles files;
  RecordMaker maker;
  Listener listener;
  std::atomic<bool> failing = true;
  const auto journal = open_journal("journal", options_of(files, JournalSync::always), listener.events());
  REQUIRE(journal->begin(1).ok());
  append_range(*journal, maker, 1, 3);
  listener.wait_for_committed(2);
  const auto first = files.names().back();
  const auto before = files.content(first);
  files.set_judge([&](FileCall call, const std::string&) { return call == FileCall::sync && failing ? EIO : 0; });
  append_range(*journal, maker, 3, 6);
  listener.wait_for_troubles(1);
  CHECK(journal->committed() == 2);
  CHECK(journal->synced() == 2);
  CHECK(journal->counters().backlog_bytes > 0);
  CHECK_FALSE(journal->sync().ok());
  failing = false;
  listener.wait_for_committed(5);
  CHECK(files.names().back() > first);
  CHECK(files.content(first) == before);
  std::mt19937 random(1);
  CHECK(found_in(*files.cut_power(random)) == 5);
}

TEST_CASE("committed records whose later sync failed are read back and written elsewhere") {
  for (const auto policy : {JournalSync::interval, JournalSync::never}) {
    MemoryJournalFiles files;
    RecordMaker maker;
    Listener listener;
    std::atomic<int> syncs = 0;
    auto options = options_of(files, policy);
    options.segment_bytes = 1U << 20U;
    options.interval = std::chrono::hours(1);
    const auto journal = open_journal("journal", options, listener.events());
    REQUIRE(journal->begin(1).ok());
    append_range(*journal, maker, 1, 10);
    REQUIRE(journal->sync().ok());
    append_range(*journal, maker, 10, 20);
    listener.wait_for_committed(19);
    const auto first = files.names().back();
    files.set_judge(
        [&](FileCall call, const std::string&) { return call == FileCall::sync && ++syncs == 1 ? EIO : 0; });
    CHECK_FALSE(journal->sync().ok());
    CHECK(journal->synced() == 9);
    listener.wait_for_troubles(2);
    CHECK(journal->synced() == 19);
    CHECK(files.names().back() > first);
    append_range(*journal, maker, 20, 25);
    REQUIRE(journal->sync().ok());
    CHECK(check_replay(*journal, maker) == 24);
    std::mt19937 random(2);
    CHECK(found_in(*files.cut_power(random)) == 24);
  }
}

TEST_CASE(
    "committed records that can neither be synced nor read back stay a trouble; a restart goes back to the sync") {
  MemoryJournalFiles files;
  RecordMaker maker;
  Listener listener;
  std::atomic<bool> failing = false;
  auto options = options_of(files, JournalSync::interval);
  options.segment_bytes = 1U << 20U;
  options.interval = std::chrono::hours(1);
  auto journal = open_journal("journal", options, listener.events());
  REQUIRE(journal->begin(1).ok());
  append_range(*journal, maker, 1, 10);
  REQUIRE(journal->sync().ok());
  append_range(*journal, maker, 10, 20);
  listener.wait_for_committed(19);
  files.set_judge([&](FileCall call, const std::string&) {
    return (call == FileCall::sync || call == FileCall::create) && failing ? EIO : 0;
  });
  failing = true;
  CHECK_FALSE(journal->sync().ok());
  files.forget_unsynced();
  failing = false;
  listener.wait_for_troubles(2);
  CHECK(listener.troubles().back().find("record 10 could not be synced, and cannot be read back") != std::string::npos);
  CHECK(listener.troubles().back().find("restart this server") != std::string::npos);
  append_range(*journal, maker, 20, 22);
  CHECK_FALSE(journal->sync().ok());
  CHECK(journal->committed() == 19);
  journal.reset();
  CHECK(found_in(files) == 9);
}

TEST_CASE("a timeline or life whose beginning cannot be written changes nothing, now or after a power cut") {
  for (const auto failing :
       {FileCall::create, FileCall::write, FileCall::sync, FileCall::rename, FileCall::sync_folder}) {
    for (const bool removable : {true, false}) {
      for (const auto policy : kSyncPolicies) {
        CAPTURE(static_cast<int>(failing));
        MemoryJournalFiles files;
        RecordMaker maker;
        std::atomic<bool> fails = false;
        auto options = options_of(files, policy);
        options.segment_bytes = 1U << 20U;  // nothing but the failure makes a new one
        auto journal = open_journal("journal", options);
        REQUIRE(journal->begin(1).ok());
        REQUIRE(journal->record_life(3).ok());
        append_range(*journal, maker, 1, 4);
        REQUIRE(journal->sync().ok());
        files.set_judge([&](FileCall call, const std::string&) {
          return fails && (call == failing || (call == FileCall::remove && !removable)) ? EIO : 0;
        });
        fails = true;
        CHECK_FALSE(journal->begin(2).ok());
        CHECK_FALSE(journal->record_life(4).ok());
        CHECK(journal->timeline() == 1);
        CHECK(journal->lives().size() == 1);
        fails = false;
        append_range(*journal, maker, 4, 8);
        REQUIRE(journal->sync().ok());
        std::mt19937 random(3);
        for (int cut = 0; cut < 20; ++cut) {
          const auto image = files.cut_power(random);
          CHECK(found_in(*image) == 7);
        }
        journal.reset();
        journal = open_journal("journal", options);
        CHECK(journal->timeline() == 1);
        CHECK(journal->lives() == std::vector<ShardLife>{{3, 0}});
        CHECK(check_replay(*journal, maker) == 7);
        REQUIRE(journal->begin(2).ok());
        CHECK(journal->trouble().empty());
      }
    }
  }
}

TEST_CASE("a timeline can begin in the midst of trouble, and ends it") {
  MemoryJournalFiles files;
  RecordMaker maker;
  Listener listener;
  std::atomic<bool> failing = false;
  const auto journal = open_journal("journal", options_of(files, JournalSync::always), listener.events());
  REQUIRE(journal->begin(1).ok());
  files.set_judge([&](FileCall call, const std::string&) {
    failing = failing && call != FileCall::create;  // there is room once a new segment is begun, and not before
    return failing && call == FileCall::write ? ENOSPC : 0;
  });
  failing = true;
  append_range(*journal, maker, 1, 4);
  listener.wait_for_troubles(1);
  REQUIRE(journal->begin(2).ok());
  CHECK_FALSE(failing);
  CHECK(journal->trouble().empty());
  CHECK(journal->counters().backlog_bytes == 0);
  append_range(*journal, maker, 1, 3);
  REQUIRE(journal->sync().ok());
  CHECK(check_replay(*journal, maker) == 2);
  for (const auto& [timeline, through] : listener.committed()) {
    CHECK(timeline == 2);
  }
}

TEST_CASE("a timeline or a life that finds no room says so, and begins once there is some") {
  for (const FileError error : {ENOSPC, EDQUOT, EIO}) {
    for (const auto failing : {FileCall::create, FileCall::write, FileCall::sync, FileCall::sync_folder}) {
      CAPTURE(error);
      CAPTURE(static_cast<int>(failing));
      MemoryJournalFiles files;
      std::atomic<bool> full = true;
      const auto journal = open_journal("journal", options_of(files, JournalSync::always));
      files.set_judge([&](FileCall call, const std::string&) { return full && call == failing ? error : 0; });
      const auto code = error == EIO ? StoreCode::io : StoreCode::no_space;
      CHECK(journal->begin(1).code() == code);
      CHECK(journal->timeline() == 0);
      full = false;
      REQUIRE(journal->begin(1).ok());
      full = true;
      CHECK(journal->record_life(11).code() == code);
      CHECK(journal->lives().empty());
      full = false;
      REQUIRE(journal->record_life(11).ok());
      CHECK(journal->lives() == std::vector<ShardLife>{{11, 0}});
    }
  }
}

TEST_CASE("a life can begin in the midst of trouble, and takes nothing for written that is not") {
  MemoryJournalFiles files;
  RecordMaker maker;
  Listener listener;
  std::atomic<bool> failing = false;
  auto options = options_of(files, JournalSync::never);
  options.segment_bytes = 1U << 20U;
  auto journal = open_journal("journal", options, listener.events());
  REQUIRE(journal->begin(1).ok());
  append_range(*journal, maker, 1, 4);
  listener.wait_for_committed(3);
  files.set_judge([&](FileCall call, const std::string&) {
    failing = failing && call != FileCall::create;
    return failing && (call == FileCall::write || call == FileCall::cut) ? ENOSPC : 0;
  });
  failing = true;
  append_range(*journal, maker, 4, 8);
  listener.wait_for_troubles(1);
  REQUIRE(journal->record_life(2).ok());
  CHECK(journal->lives() == std::vector<ShardLife>{{2, 3}});
  listener.wait_for_committed(7);
  journal.reset();
  CHECK(found_in(files) == 7);
}

TEST_CASE("what a life leaves behind whose last sync failed is brought to the disk by the next") {
  MemoryJournalFiles files;
  RecordMaker maker;
  auto options = options_of(files, JournalSync::never);
  options.segment_bytes = 1U << 20U;
  options.retry = std::chrono::hours(1);
  {
    const auto journal = open_journal("journal", options);
    REQUIRE(journal->begin(1).ok());
    append_range(*journal, maker, 1, 4);
    REQUIRE(journal->sync().ok());
    append_range(*journal, maker, 4, 8);
    files.set_judge([](FileCall call, const std::string&) { return call == FileCall::sync ? EIO : 0; });
    CHECK_FALSE(journal->sync().ok());
    CHECK(journal->committed() == 7);
  }
  files.set_judge({});
  const auto journal = open_journal("journal", options);
  CHECK(journal->synced() == 7);
  std::mt19937 random(5);
  for (int cut = 0; cut < 20; ++cut) {
    CHECK(found_in(*files.cut_power(random)) == 7);
  }
}

TEST_CASE("segments are removed the oldest first, each durably before the next, and tried again if that fails") {
  MemoryJournalFiles files;
  RecordMaker maker;
  std::atomic<int> failures = 0;
  std::vector<std::string> removed;
  auto journal = open_journal("journal", options_of(files, JournalSync::always));
  REQUIRE(journal->begin(1).ok());
  for (JournalSequence n = 1; n < 36; n += 7) {
    append_range(*journal, maker, n, n + 7);
    REQUIRE(journal->sync().ok());
    journal->rotate();
  }
  const auto names = files.names();
  REQUIRE(names.size() >= 5);
  files.set_judge([&](FileCall call, const std::string& name) {
    if (call == FileCall::remove && ++failures > 3) {
      removed.push_back(name);
    } else if (call == FileCall::sync_folder) {
      removed.emplace_back("synced");
    }
    return call == FileCall::remove && failures <= 3 ? EBUSY : 0;
  });
  journal->release_before(4);
  while (files.names().size() > names.size() - 3) {
    std::this_thread::yield();
  }
  journal.reset();
  if (removed.size() > 6) {
    removed.resize(6);
  }
  CHECK(removed == std::vector<std::string>{names[0], "synced", names[1], "synced", names[2], "synced"});
}

TEST_CASE("a journal on a full disk waits, says so, loses nothing, and goes on by itself once there is room") {
  const SmallDisk disk(16);
  if (!disk.mounted()) {
    return;
  }
  for (const auto policy : kSyncPolicies) {
    std::filesystem::remove_all(disk.path("journal"));
    RecordMaker maker(200000);
    Listener listener;
    JournalOptions options;
    options.sync = policy;
    options.retry = std::chrono::milliseconds(5);
    options.segment_bytes = 1U << 20U;
    auto journal = open_journal(disk.path("journal"), options, listener.events());
    REQUIRE(journal->begin(1).ok());
    disk.fill(4U << 20U);
    append_range(*journal, maker, 1, 41);  // 6.4 MB
    listener.wait_for_troubles(1);
    CHECK(listener.troubles().front().find("No space left on device; the disk is full: make room on it") !=
          std::string::npos);
    CHECK(listener.troubles().front().find(disk.path("journal").string()) == 0);
    const auto committed = journal->committed();
    CHECK(committed < 40);
    CHECK(check_replay(*journal, maker) == committed);
    disk.make_room();
    listener.wait_for_committed(40);
    listener.wait_for_troubles(2);
    CHECK(listener.troubles().back().empty());
    CHECK(check_replay(*journal, maker) == 40);
    journal.reset();
    CHECK(check_replay(*open_journal(disk.path("journal"), options), maker) == 40);
  }
}

}  // namespace
}  // namespace ballast
