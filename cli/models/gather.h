// `ballast gather`: a run's folder made of the databases of servers that were started by hand, on several machines.
#pragma once

#include <string>
#include <vector>

namespace ballast {

struct GatherCommand {
  std::vector<std::string> databases;  // of all shards, in any order
  std::string run_dir;                 // the folder to make
  bool link = false;                   // links to the databases instead of copies
};

// Afterwards every command that takes a run's folder takes this one, `ballast run --resume` included. Nothing is done
// unless the databases are all those of one job. A database that a server has open is not copied, for it changes
// meanwhile. Returns the exit code; throws std::runtime_error naming the database and the remedy.
int gather(const GatherCommand& command);

}  // namespace ballast
