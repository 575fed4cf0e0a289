#include "storage/reshard/build.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "common/arena/placement.h"
#include "storage/store/batch_writer.h"
#include "storage/store/rocksdb_limits.h"

namespace ballast {
namespace {

constexpr std::uint64_t kBytesOfRecord = 256;                        // beside a tensor: its head and key, twice
constexpr std::uint64_t kBytesOfStep = 256;                          // of a step's statistics, with its key
constexpr std::uint64_t kBytesOfDatabase = std::uint64_t{1} << 20U;  // its MANIFEST and small files
constexpr std::uint64_t kTableShare = 64;  // a table's indexes: one part in so many of its content

StoreStatus at_key(const ShardStore& shard, std::string_view key, StoreCode code, const std::string& text) {
  return {code, shard.path() + ": key " + std::string(key) + ": " + text};
}

// Of optimizer state in a chunk, where descended ones have `states`.
std::size_t states_of(const Chunk& chunk, std::size_t states) { return chunk.group == Group::state ? 0 : states; }

// The tensors of one chunk, as they are.
StoreStatus copy_chunk(const ShardStore& from, const SnapshotId& snapshot, const Chunk& chunk, std::size_t states,
                       BatchWriter& to) {
  const auto prefix = chunk_prefix(snapshot, chunk.id);
  std::size_t found = 0;
  bool has_weights = false;
  StoreStatus wrong;
  const auto scanned = from.store().scan(prefix, [&](std::string_view key, std::string_view record) {
    const auto name = parse_tensor_key(key);
    if (!name) {
      wrong = at_key(from, key, StoreCode::corrupt, "the key is not one of this program's");
      return false;
    }
    const auto bytes = decode_tensor(*name, record);
    if (!bytes.ok()) {
      wrong = at_key(from, key, bytes.status().code(), bytes.status().text());
      return false;
    }
    if (bytes.value().size() != chunk.bytes()) {
      wrong = at_key(from, key, StoreCode::corrupt,
                     std::to_string(bytes.value().size()) + " bytes, expected " + std::to_string(chunk.bytes()) + "; " +
                         std::string(kDamageRemedy));
      return false;
    }
    ++found;
    has_weights = has_weights || name->kind == TensorKind::weights;
    wrong = to.put(key, std::string(record));
    return wrong.ok();
  });
  if (!scanned.ok() || !wrong.ok()) {
    return scanned.ok() ? wrong : scanned;
  }
  if (!has_weights || found != 1 + states) {
    return at_key(from, prefix, StoreCode::corrupt,
                  "the snapshot has " + std::to_string(found) + " tensors of the chunk, expected " +
                      std::to_string(1 + states) + "; " + std::string(kDamageRemedy));
  }
  return {};
}

// A snapshot's part of one of the new shards.
StoreStatus copy_part(const RunReader& run, const SnapshotId& snapshot, const std::vector<Chunk>& chunks,
                      BatchWriter& to) {
  const auto states = run.states(snapshot);
  if (!states.ok()) {
    return states.status();
  }
  for (const auto& chunk : chunks) {
    const auto& from = run.shard(run.placement()[chunk.id].shard);
    if (auto copied = copy_chunk(from, snapshot, chunk, states_of(chunk, states.value()), to); !copied.ok()) {
      return copied;
    }
  }
  return {};
}

// Evaluations and statistics, of however many steps.
StoreStatus copy_records(const ShardStore& from, std::string_view prefix, BatchWriter& to) {
  StoreStatus wrong;
  const auto scanned = from.store().scan(prefix, [&](std::string_view key, std::string_view record) {
    wrong = check_record(key, record);
    wrong = wrong.ok() ? to.put(key, std::string(record)) : at_key(from, key, wrong.code(), wrong.text());
    return wrong.ok();
  });
  return wrong.ok() ? scanned : wrong;
}

StoreStatus copy_ledger(const RunReader& run, CopiesOf copies, BatchWriter& to) {
  auto status = to.put(kLedgerKey, encode(resharded(run.ledger(), copies)));
  for (const auto prefix : {kEvaluationPrefix, kStatisticsPrefix}) {
    status = status.ok() ? copy_records(run.shard(0), prefix, to) : status;
  }
  return status;
}

// In the order of keys, so that no table overlaps another and RocksDB has nothing to compact, which would take as much
// room again. What says that a snapshot is whole may come before it: nobody opens the database before all of it is.
StoreStatus build_database(const RunReader& run, const std::vector<SnapshotId>& snapshots, const ReshardTarget& target,
                           std::uint32_t shard, const Placement& placement) {
  auto opened = open_rocksdb(target.databases[shard], OpenMode::create);
  if (!opened.ok()) {
    return opened.status();
  }
  BatchWriter records(*opened.value());
  auto identity = run.identity();
  identity.shard = shard;
  identity.shards = static_cast<std::uint32_t>(target.databases.size());
  identity.effective_job = target.effective_job;
  StoreStatus status;
  if (run.ledger().finished) {
    status = records.put(kFinishedKey, encode_finished(*run.ledger().finished));
  }
  status = status.ok() ? records.put(kIdentityKey, encode(identity)) : status;
  if (status.ok() && shard == 0) {
    status = copy_ledger(run, target.copies, records);
  }
  for (const auto& snapshot : snapshots) {
    status = status.ok() ? records.put(sealed_key(snapshot), encode_sealed(snapshot)) : status;
  }
  const auto chunks = placement.of_model(shard);
  for (const auto& snapshot : snapshots) {
    status = status.ok() ? copy_part(run, snapshot, chunks, records) : status;
  }
  return status.ok() ? records.finish() : status;
}

}  // namespace

Ledger resharded(Ledger ledger, CopiesOf copies) {
  ledger.incarnations.clear();
  ledger.databases.clear();
  ledger.kept.clear();
  if (ledger.cut) {
    ledger.cut = std::min(*ledger.cut, ledger.complete.back().step);  // what came after it is in no database
  }
  if (copies == CopiesOf::new_run) {
    ledger.copies = {};
    ledger.copies_in = 0;
    ledger.copy_lives.clear();
    ledger.named_before = {};
  }
  return ledger;
}

std::vector<SnapshotId> kept_snapshots(const Ledger& ledger, bool draws_initial_weights) {
  auto kept = ledger.complete;
  std::erase_if(kept, [&](const SnapshotId& id) { return draws_initial_weights && id == SnapshotId{}; });
  return kept;
}

StoreResult<std::uint64_t> bytes_to_build(const RunReader& run, const std::vector<SnapshotId>& snapshots,
                                          std::uint32_t shards) {
  std::uint64_t bytes = 0;
  for (const auto& snapshot : snapshots) {
    const auto states = run.states(snapshot);
    if (!states.ok()) {
      return states.status();
    }
    for (const auto& chunk : run.arena().chunks) {
      const auto tensors = chunk.group == Group::statistics ? 0 : 1 + states_of(chunk, states.value());
      bytes += tensors * (chunk.bytes() + kBytesOfRecord);
    }
  }
  bytes += run.ledger().complete.empty() ? 0 : run.ledger().complete.back().step * kBytesOfStep;
  return bytes + bytes / kTableShare + std::min(bytes, kLogBytes) + shards * kBytesOfDatabase;
}

StoreStatus build_databases(const RunReader& run, const std::vector<SnapshotId>& snapshots,
                            const ReshardTarget& target) {
  const Placement placement(run.arena(), static_cast<std::uint32_t>(target.databases.size()), 1);
  for (std::uint32_t shard = 0; shard < target.databases.size(); ++shard) {
    if (auto built = build_database(run, snapshots, target, shard, placement); !built.ok()) {
      return built;
    }
  }
  return {};
}

StoreResult<WeightsDigest> compare_snapshot(const RunReader& before, const RunReader& after,
                                            const SnapshotId& snapshot) {
  const auto expected = before.digest(snapshot);
  if (!expected.ok()) {
    return expected;
  }
  auto found = after.digest(snapshot);
  if (found.ok() &&
      (found.value().weights != expected.value().weights || found.value().optimizer != expected.value().optimizer)) {
    return StoreStatus{StoreCode::corrupt, after.shard(0).path() + ": the snapshot of " + describe(snapshot) +
                                               " has not the digest that it had; " +
                                               std::string(disk_remedy(StoreCode::io))};
  }
  return found;
}

}  // namespace ballast
