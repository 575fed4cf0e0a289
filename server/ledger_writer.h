// Makes the lead's ledger durable, in the background.
#pragma once

#include <string>
#include <vector>

#include "common/net/mailbox.h"
#include "protocol/lead/lead.h"
#include "server/background.h"
#include "server/disk_room.h"
#include "storage/store/shard_store.h"

namespace ballast {

// Waits for room on a full disk. The lead asks for one write at a time; what came of it is an event for its core. One
// thread but for the one that writes.
class LedgerWriter {
 public:
  // `store` and `room` outlive it. `timeline`: that of the ledger in the store.
  LedgerWriter(ShardStore& store, DiskRoom& room, Timeline timeline) : store_(store), room_(room), written_(timeline) {}

  void write(const LedgerChange& change);
  std::vector<lead::Event> take() { return events_.take(); }
  // What the disk, which the ledger shares with shard 0, lets wait or does not come back from; empty: nothing.
  [[nodiscard]] std::string trouble() const { return room_.trouble(); }
  [[nodiscard]] int fd() const { return events_.fd(); }

 private:
  ShardStore& store_;
  DiskRoom& room_;
  Timeline written_;  // of the newest change; the background thread's
  Mailbox<lead::Event> events_;
  Background background_{"ledger: "};  // last: it is stopped before what it uses goes
};

}  // namespace ballast
