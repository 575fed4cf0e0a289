// `ballast reshard`: a stopped run goes on with another number of shards.
#pragma once

#include <cstdint>
#include <string>

namespace ballast {

struct ReshardCommand {
  std::string run;            // the run's folder
  std::uint32_t shards = 0;   // from now on
  std::string output;         // the folder of a run to make of it; empty: in place
  bool drop_updates = false;  // those that only the journals have, also where they cannot be read
};

// Spreads all complete snapshots and the ledger over other databases, reads them back, and only then puts them in the
// place of those before, or makes the new folder: all or nothing, whatever ends it. Returns the exit code. Throws
// std::runtime_error, which names folder, database or key and the remedy, if nothing was changed; std::runtime_error of
// finish_switch() if the change was decided and the next command is to bring it to its end.
int reshard(const ReshardCommand& command);

}  // namespace ballast
