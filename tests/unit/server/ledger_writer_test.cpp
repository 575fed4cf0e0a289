#include "server/ledger_writer.h"

#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <variant>

#include "common/net/socket.h"
#include "storage/store/store.h"

namespace ballast {
namespace {

struct LedgerWriterFixture {
  lead::Event next() {
    Poll poll;
    poll.add(writer.fd());
    while (!poll.wait(1'000)) {
    }
    const auto events = writer.take();
    REQUIRE(events.size() == 1);
    return events.front();
  }

  DiskRoom room{nullptr};
  std::unique_ptr<MemoryStore> memory = std::make_unique<MemoryStore>("shard-0");
  MemoryStore& disk = *memory;
  ShardStore store{std::move(memory)};
  LedgerWriter writer{store, room, 0};
};

LedgerChange of_timeline(Timeline timeline) {
  LedgerChange change;
  change.ledger.timeline = timeline;
  return change;
}

TEST_CASE("a change of the ledger is durable when the lead is told so") {
  LedgerWriterFixture at;
  at.writer.write(of_timeline(3));
  CHECK(std::holds_alternative<lead::LedgerWritten>(at.next()));
  CHECK(at.store.read_ledger().value().ledger.timeline == 3);
}

TEST_CASE("a full disk is waited for, any other failure is told") {
  LedgerWriterFixture at;
  at.disk.fail_writes({StoreCode::no_space, "full"});
  at.writer.write(of_timeline(3));
  while (at.room.trouble().empty()) {
    std::this_thread::yield();
  }
  CHECK(at.writer.take().empty());
  at.disk.fail_writes({StoreCode::io, "broken"});
  const auto event = at.next();
  REQUIRE(std::holds_alternative<lead::LedgerFailed>(event));
  CHECK(std::get<lead::LedgerFailed>(event).text.find("broken") != std::string::npos);
}

}  // namespace
}  // namespace ballast
