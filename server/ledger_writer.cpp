#include "server/ledger_writer.h"

#include <utility>

#include "server/fault.h"

namespace ballast {

void LedgerWriter::write(const LedgerChange& change) {
  background_.run([this, change] {
    const auto status = room_.await([&] {
      const DiskRoom::Watch watch(room_, "a write of the ledger");
      return store_.write_ledger(change);
    });
    const auto before = std::exchange(written_, change.ledger.timeline);
    if (!status.ok()) {
      events_.put(lead::LedgerFailed{status.text()});
      return;
    }
    if (change.ledger.timeline != before) {
      strike(ServerFault::timeline_recorded);
    }
    events_.put(lead::LedgerWritten{});
  });
}

}  // namespace ballast
