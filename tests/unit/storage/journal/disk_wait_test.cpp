#include "storage/journal/disk_wait.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/unit/storage/journal/journal_memory_files.h"
#include "tests/unit/storage/journal/journal_testing.h"

namespace ballast {
namespace {

using std::chrono::milliseconds;

TEST_CASE("a journal's wait for its disk is what its calls wait, of which syncs are told apart") {
  DiskWait disk;
  disk.begin();
  const auto waits = [](milliseconds span) {
    return [span] {
      std::this_thread::sleep_for(span);
      return 7;
    };
  };
  CHECK(disk.measure(waits(milliseconds(60)), false) == 7);
  CHECK(disk.so_far().waited >= milliseconds(50));
  CHECK(disk.so_far().syncing == milliseconds(0));
  disk.measure(waits(milliseconds(40)), true);
  CHECK(disk.so_far().waited >= milliseconds(90));
  CHECK(disk.so_far().syncing >= milliseconds(35));
  CHECK(disk.so_far().syncing <= disk.so_far().waited - milliseconds(50));
}

TEST_CASE("a journal's wait counts once in calls that make others, and a call that is under way is told of") {
  DiskWait disk;
  disk.begin();
  CHECK(disk.so_far().under_way == milliseconds(0));
  const auto begun = std::chrono::steady_clock::now();
  disk.measure(
      [&] {
        std::this_thread::sleep_for(milliseconds(20));
        CHECK(disk.so_far().under_way >= milliseconds(20));
        CHECK(disk.so_far().waited == milliseconds(0));
        return disk.measure(
            [] {
              std::this_thread::sleep_for(milliseconds(30));
              return 0;
            },
            true);
      },
      false);
  const auto took = std::chrono::steady_clock::now() - begun;
  CHECK(disk.so_far().under_way == milliseconds(0));
  CHECK(disk.so_far().waited >= milliseconds(45));
  CHECK(disk.so_far().waited <= took);
  CHECK(disk.so_far().syncing >= milliseconds(28));
  CHECK(disk.so_far().syncing <= disk.so_far().waited - milliseconds(18));
}

// Of a record that was committed: by what was told then.
JournalDisk waited_for(JournalSync sync, FileCall slow) {
  MemoryJournalFiles files;
  JournalOptions options;
  options.sync = sync;
  options.files = &files;
  RecordMaker maker(1U << 20U);
  Listener listener;
  const auto journal = open_journal("journal", options, listener.events());
  REQUIRE(journal->begin(1).ok());
  const auto before = journal->disk();
  files.set_judge([slow](FileCall call, const std::string&) {
    std::this_thread::sleep_for(milliseconds(call == slow ? 50 : 0));
    return 0;
  });
  constexpr JournalSequence kRecords = 6;  // so much is not left to the system
  append_range(*journal, maker, 1, kRecords + 1);
  listener.wait_for_committed(kRecords);
  const auto after = journal->disk();
  files.set_judge({});
  return {after.waited - before.waited, after.syncing - before.syncing};
}

TEST_CASE("a journal has told what it waited for its disk when it says that a record is committed") {
  for (const auto slow : {FileCall::write, FileCall::sync, FileCall::push_out}) {
    CAPTURE(static_cast<int>(slow));
    const bool is_sync = slow == FileCall::sync;
    const auto disk = waited_for(is_sync ? JournalSync::always : JournalSync::never, slow);
    CHECK(disk.waited >= milliseconds(45));
    CHECK((disk.syncing >= milliseconds(45)) == is_sync);
  }
}

TEST_CASE("what a journal's thread computes in its calls is no wait for its disk") {
  DiskWait disk;
  disk.begin();
  const RunnableTime own;
  const auto before = own.now();
  const auto begun = std::chrono::steady_clock::now();
  disk.measure(
      [begun] {
        while (std::chrono::steady_clock::now() < begun + milliseconds(200)) {
        }
        return 0;
      },
      false);
  const auto beside = (std::chrono::steady_clock::now() - begun) - (own.now() - before);  // 0, where the kernel tells
  CHECK(disk.so_far().waited < milliseconds(20) + beside);
}

}  // namespace
}  // namespace ballast
