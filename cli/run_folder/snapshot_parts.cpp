#include "cli/run_folder/snapshot_parts.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "storage/store/shard_store.h"

namespace ballast {

namespace {

std::string newest_text(const std::vector<SnapshotId>& held) {
  return held.empty() ? "it holds none" : "the newest that it holds is " + describe(held.back());
}

}  // namespace

void check_snapshot_parts(const std::vector<std::filesystem::path>& databases, const Ledger& ledger) {
  if (ledger.complete.empty() || ledger.complete.back().timeline == 0) {
    return;
  }
  const auto& newest = ledger.complete.back();
  for (std::size_t shard = 0; shard < databases.size(); ++shard) {
    const ShardStore store(value_or_throw(open_rocksdb(databases[shard], OpenMode::read_only)));
    const auto held = value_or_throw(store.sealed());
    if (std::find(held.begin(), held.end(), newest) == held.end()) {
      throw std::runtime_error("the database " + databases[shard].string() + " lacks shard " + std::to_string(shard) +
                               "'s part of the newest complete snapshot, " + describe(newest) + ": " +
                               newest_text(held) +
                               "; put the database there that the job wrote to (is another volume mounted?), or build "
                               "the folder anew from a copy with `ballast restore`");
    }
  }
}

}  // namespace ballast
