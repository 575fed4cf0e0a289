#include "server/disk_room.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

namespace ballast {
namespace {

const StoreStatus kFull(StoreCode::no_space, "the disk is full");

struct DiskRoomFixture {
  Metrics metrics;
  DiskRoom room{&metrics};
  int attempts = 0;

  [[nodiscard]] double waits() { return metrics.gauge("ballast_shard_waits_for_room")->value(); }
};

TEST_CASE("what is refused for want of space is tried until there is room, and told meanwhile") {
  DiskRoomFixture at;
  const auto status = at.room.await([&] {
    ++at.attempts;
    CHECK(at.room.trouble() == (at.attempts == 1 ? "" : "the disk is full"));
    CHECK(at.waits() == (at.attempts == 1 ? 0 : 1));
    return at.attempts < 4 ? kFull : StoreStatus{};
  });
  CHECK(status.ok());
  CHECK(at.attempts == 4);
  CHECK(at.room.trouble().empty());
  CHECK(at.waits() == 0);
}

TEST_CASE("a database that is being read is waited for, too") {
  DiskRoomFixture at;
  const StoreStatus busy(StoreCode::busy, "is being read");
  CHECK(at.room.await([&] { return ++at.attempts < 3 ? busy : StoreStatus{}; }).ok());
  CHECK(at.attempts == 3);
}

TEST_CASE("so is a file descriptor") {
  DiskRoomFixture at;
  const StoreStatus none(code_of(EMFILE), "too many open files");
  CHECK(at.room.await([&] { return ++at.attempts < 3 ? none : StoreStatus{}; }).ok());
  CHECK(at.attempts == 3);
}

TEST_CASE("no other failure is tried again, be it the first or a later one") {
  DiskRoomFixture at;
  const auto status = at.room.await([&] { return ++at.attempts < 3 ? kFull : StoreStatus{StoreCode::io, "broken"}; });
  CHECK(status.text() == "broken");
  CHECK(at.attempts == 3);
  CHECK(at.room.await([&] { return ++at.attempts, StoreStatus{StoreCode::io, "broken"}; }).text() == "broken");
  CHECK(at.attempts == 4);
}

TEST_CASE("what is read is that of the last attempt") {
  DiskRoomFixture at;
  const auto found = at.room.read([&] { return ++at.attempts < 3 ? StoreResult<int>(kFull) : StoreResult<int>(7); });
  CHECK(found.value() == 7);
  CHECK(at.attempts == 3);
  CHECK(at.room.read([] {
                 return StoreResult<int>(StoreStatus{StoreCode::io, "broken"});
               })
            .status()
            .text() == "broken");
}

TEST_CASE("who no longer wants it waits no longer") {
  DiskRoomFixture at;
  const auto status = at.room.await([&] { return ++at.attempts, kFull; }, [&] { return at.attempts < 2; });
  CHECK(status.code() == StoreCode::no_space);
  CHECK(at.attempts == 2);
  CHECK(at.room.trouble().empty());
}

TEST_CASE("several wait at once, and all are let go at the end, for good") {
  DiskRoomFixture at;
  const auto wait = [&] { CHECK(at.room.await([] { return kFull; }).code() == StoreCode::no_space); };
  std::jthread first(wait);
  std::jthread second(wait);
  while (at.room.trouble().empty()) {
    std::this_thread::yield();
  }
  at.room.close();
  first.join();
  second.join();
  CHECK(at.room.trouble().empty());
  CHECK(at.waits() == 0);
  CHECK(at.room.await([&] { return ++at.attempts, kFull; }).text() == "the disk is full");
  CHECK(at.attempts == 1);
}

TEST_CASE("what does not come back from the disk is trouble after its patience, the oldest first") {
  using namespace std::chrono_literals;
  DiskRoomFixture at;
  const auto busy = [&] { return at.metrics.gauge("ballast_shard_disk_busy_seconds")->value(); };
  at.room.update_metrics({});
  CHECK(busy() == 0);
  {
    const DiskRoom::Watch much(at.room, "a sync of a snapshot", 3600s);
    const DiskRoom::Watch small(at.room, "a write of the ledger", 0s);
    const DiskRoom::Watch later(at.room, "a write of the timeline", 0s);
    CHECK(at.room.trouble().starts_with("a write of the ledger has not come back from the disk for more than 0 s: "));
    CHECK(at.room.oldest() > 0s);
    at.room.update_metrics({});
    CHECK(busy() > 0);
    at.room.update_metrics(7200s);
    CHECK(busy() == 7200);
  }
  CHECK(at.room.trouble().empty());
  CHECK(at.room.oldest() == 0s);
  CHECK(DiskRoom::told_of("a write of the journal", 4s).empty());
  CHECK(DiskRoom::told_of("a write of the journal", 5s).find("for more than 5 s: the disk hangs") != std::string::npos);
}

TEST_CASE("a disk that refuses is told before one that is slow") {
  using namespace std::chrono_literals;
  DiskRoomFixture at;
  const DiskRoom::Watch slow(at.room, "a write of the ledger", 0s);
  CHECK(at.room
            .await([&] {
              CHECK(at.room.trouble().find(at.attempts == 0 ? "the ledger" : "the disk is full") != std::string::npos);
              return ++at.attempts < 2 ? kFull : StoreStatus{};
            })
            .ok());
}

}  // namespace
}  // namespace ballast
