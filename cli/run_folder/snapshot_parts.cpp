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

void check_part(const ShardStore& store, std::uint32_t shard, const SnapshotId& snapshot, const char* what) {
  const auto held = value_or_throw(store.sealed());
  if (std::find(held.begin(), held.end(), snapshot) == held.end()) {
    throw std::runtime_error("the database " + store.path() + " lacks shard " + std::to_string(shard) +
                             "'s part of the " + what + " snapshot, " + describe(snapshot) + ": " + newest_text(held) +
                             "; put the database there that the job wrote to (is another volume mounted?), or build "
                             "the folder anew from a copy with `ballast restore`");
  }
}

}  // namespace

void check_snapshot_part(const ShardStore& store, std::uint32_t shard, const SnapshotId& snapshot) {
  check_part(store, shard, snapshot, "complete");
}

void check_snapshot_parts(const std::vector<std::filesystem::path>& databases, const Ledger& ledger) {
  if (ledger.complete.empty() || ledger.complete.back().timeline == 0) {
    return;
  }
  for (std::size_t shard = 0; shard < databases.size(); ++shard) {
    const ShardStore store(value_or_throw(open_rocksdb(databases[shard], OpenMode::read_only)));
    check_part(store, static_cast<std::uint32_t>(shard), ledger.complete.back(), "newest complete");
  }
}

}  // namespace ballast
