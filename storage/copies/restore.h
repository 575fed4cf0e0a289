// The databases of a run, built anew from copies.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/copies/format.h"
#include "storage/copies/place.h"

namespace ballast {

struct RestoreOptions {
  std::filesystem::path run_folder;  // holds no databases yet; made if need be
  std::optional<Step> step;          // none: the newest set that is complete and undamaged
  std::optional<RunId> run = {};     // none: the only one of which there is a complete set; 0: that of older programs
};

struct Restored {
  std::string job;  // with its digest
  RunId run = 0;
  SnapshotId snapshot;
  std::vector<std::filesystem::path> databases;  // by shard
  std::vector<std::string> passed_over;          // newer sets that could not be used, each with the reason
};

// Told of the databases before they get their names; a failure undoes the restoring of that set.
using RestoreCheck = std::function<StoreStatus(const std::vector<std::filesystem::path>& databases, SnapshotId)>;

// The copies of one job; `mismatch` if the place holds those of several, with their names, `missing` if it holds none.
StoreResult<std::vector<CopySet>> list_copies(CopyPlace& place, std::string& job);

// All databases or none: until the last one is whole, they have other names. `mismatch` if the folder holds some
// already.
StoreResult<Restored> restore(CopyPlace& place, const RestoreOptions& options, const RestoreCheck& check = {});

}  // namespace ballast
