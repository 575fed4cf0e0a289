#include "storage/store/write_stalls.h"

#include <doctest/doctest.h>

#include <string>

#include "storage/store/store.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

TEST_CASE("write stalls: time counts for how writes are held up then") {
  WriteStalls stalls;
  const auto at = [begin = WriteStalls::Clock::now() + std::chrono::hours(1)](int seconds) {
    return begin + std::chrono::seconds(seconds);
  };
  stalls.turn(WriteStall::slowed, at(0));
  stalls.turn(WriteStall::stopped, at(2));
  CHECK(stalls.seconds(WriteStall::stopped, at(5)) == 3);  // goes on
  stalls.turn(WriteStall::none, at(6));
  CHECK(stalls.seconds(WriteStall::slowed, at(100)) == 2);
  CHECK(stalls.seconds(WriteStall::stopped, at(100)) == 4);
  CHECK(stalls.failures() == 0);
  stalls.failed();
  CHECK(stalls.failures() == 1);
}

TEST_CASE("a database tells the files that no compaction has taken, and that nothing has failed") {
  const TemporaryFolder folder;
  {
    auto opened = open_rocksdb(folder.path() / "db", OpenMode::create);
    REQUIRE(opened.ok());
    CHECK(opened.value()->work().level0_files == 0);
    REQUIRE(opened.value()->write(WriteBatch().put("a", "1"), Sync::yes).ok());
  }  // what was written is in a file when it is closed
  auto opened = open_rocksdb(folder.path() / "db", OpenMode::existing);
  REQUIRE(opened.ok());
  const auto work = opened.value()->work();
  CHECK(work.level0_files == 1);
  CHECK(work.errors == 0);
  CHECK(work.stopped_seconds == 0);
}

}  // namespace
}  // namespace ballast
