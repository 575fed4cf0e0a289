#include "storage/store/shard_store.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "storage/store/job_difference.h"
#include "storage/store/layout_difference.h"

namespace ballast {
namespace {

StoreStatus at_key(const Store& store, std::string_view key, const StoreStatus& status) {
  auto text = store.path() + ": key " + std::string(key) + ": " + status.text();
  if (status.code() == StoreCode::corrupt) {
    text.append("; ").append(kDamageRemedy);
  }
  return {status.code(), std::move(text)};
}

std::string show(const std::string& value) { return std::string(1, '"').append(value).append(1, '"'); }
std::string show(std::uint32_t value) { return std::to_string(value); }

std::string describe_difference(const Identity& there, const Identity& here) {
  std::string text;
  const auto differ = [&text](const char* what, const auto& in_database, const auto& wanted) {
    if (in_database != wanted) {
      text.append(text.empty() ? "" : "; ").append(what).append(": ");
      text.append(show(in_database)).append(" there, ").append(show(wanted)).append(" here");
    }
  };
  differ("job", there.job, here.job);
  differ("shard index", there.shard, here.shard);
  differ("shard count", there.shards, here.shards);
  if (there.spec_digest != here.spec_digest || there.layout_digest != here.layout_digest) {
    const auto keys = describe_job_difference(there.effective_job, here.effective_job);
    if (!keys.empty()) {
      text += (text.empty() ? "" : "; ") + keys;
    }
  }
  differ("layout of the model", there.layout_digest, here.layout_digest);
  differ("digest of the job", there.spec_digest, here.spec_digest);
  return text;
}

}  // namespace

std::filesystem::path shard_database(const std::filesystem::path& run_folder, std::uint32_t shard) {
  return run_folder / ("shard-" + std::to_string(shard));
}

StoreResult<std::vector<std::filesystem::path>> find_shard_databases(const std::filesystem::path& run_folder) {
  std::vector<std::filesystem::path> found;
  std::error_code failure;
  while (std::filesystem::exists(shard_database(run_folder, static_cast<std::uint32_t>(found.size())), failure)) {
    found.push_back(shard_database(run_folder, static_cast<std::uint32_t>(found.size())));
  }
  if (failure) {
    return StoreStatus{StoreCode::io, run_folder.string() + ": cannot look for shards: " + failure.message()};
  }
  if (found.empty()) {
    return StoreStatus{StoreCode::missing, run_folder.string() +
                                               ": there is no folder shard-0 here; name the folder "
                                               "that a run made"};
  }
  return found;
}

ShardStore::ShardStore(std::unique_ptr<Store> store) : store_(std::move(store)) {}

template <typename T>
StoreResult<std::optional<T>> ShardStore::read(std::string_view key, StoreResult<T> (*decode)(std::string_view)) const {
  const auto record = store_->get(key);
  if (!record.ok()) {
    return record.status();
  }
  if (!record.value()) {
    return std::optional<T>{};
  }
  auto value = decode(*record.value());
  if (!value.ok()) {
    return at_key(*store_, key, value.status());
  }
  return std::optional<T>{std::move(value.value())};
}

StoreStatus ShardStore::put_durably(std::string_view key, std::string record) {
  return store_->write(WriteBatch{}.put(std::string(key), std::move(record)), Sync::yes);
}

// ---- identity

StoreStatus ShardStore::claim(const Identity& identity) {
  const auto existing = this->identity();
  if (!existing.ok()) {
    return existing.status();
  }
  if (existing.value()) {
    if (has_other_layout(*existing.value(), identity)) {
      return {StoreCode::mismatch,
              store_->path() + ": " + other_layout_text(existing.value()->layout_digest, identity.layout_digest)};
    }
    const auto difference = describe_difference(*existing.value(), identity);
    if (!difference.empty()) {
      return {StoreCode::mismatch, store_->path() + ": this database belongs to another job (" + difference +
                                       "); use another run folder, or the job file it was made with"};
    }
    return {};
  }
  bool empty = true;
  const auto scanned = store_->scan("", [&empty](std::string_view, std::string_view) { return empty = false; });
  if (!scanned.ok()) {
    return scanned;
  }
  if (!empty) {
    return {
        StoreCode::mismatch,
        store_->path() + ": this database holds something but no identity: it is not a shard's; use another folder"};
  }
  return put_durably(kIdentityKey, encode(identity));
}

StoreResult<std::optional<Identity>> ShardStore::identity() const { return read(kIdentityKey, decode_identity); }

StoreResult<DatabaseLife> ShardStore::begin_life(std::uint64_t fresh) {
  const auto before = read(kLifeKey, decode_life);
  if (!before.ok()) {
    return before.status();
  }
  auto life = before.value().value_or(DatabaseLife{fresh, 0});
  ++life.count;
  if (auto written = put_durably(kLifeKey, encode(life)); !written.ok()) {
    return written;
  }
  return life;
}

// ---- timeline, end

StoreStatus ShardStore::write_timeline(const TimelineRecord& timeline) {
  return put_durably(kTimelineKey, encode(timeline));
}
StoreResult<std::optional<TimelineRecord>> ShardStore::timeline() const { return read(kTimelineKey, decode_timeline); }

StoreStatus ShardStore::write_finished(const SnapshotId& end) {
  return put_durably(kFinishedKey, encode_finished(end));
}
StoreResult<std::optional<SnapshotId>> ShardStore::finished() const { return read(kFinishedKey, decode_finished); }

// ---- snapshots

StoreStatus ShardStore::write_chunk(const SnapshotId& snapshot, ChunkId chunk, std::span<const float> weights,
                                    std::span<const std::span<const float>> states) {
  if (states.size() > kMaxStates) {
    return {StoreCode::mismatch, path() + ": " + std::to_string(states.size()) +
                                     " optimizer states cannot be kept; the format has " + std::to_string(kMaxStates)};
  }
  WriteBatch batch;
  const auto put = [&](TensorKind kind, std::span<const float> values) {
    const TensorKey key{snapshot, kind, chunk};
    batch.put(tensor_key(key), encode_tensor(key, std::as_bytes(values)));
  };
  put(TensorKind::weights, weights);
  for (std::size_t index = 0; index < states.size(); ++index) {
    put(state_kind(index), states[index]);
  }
  return store_->write(batch, Sync::no);
}

StoreStatus ShardStore::sync() { return store_->sync(); }

StoreStatus ShardStore::seal(const SnapshotId& snapshot) {
  return put_durably(sealed_key(snapshot), encode_sealed(snapshot));
}

StoreResult<std::vector<SnapshotId>> ShardStore::sealed() const {
  std::vector<SnapshotId> found;
  StoreStatus wrong;
  const auto scanned = store_->scan(kSealedPrefix, [&](std::string_view key, std::string_view record) {
    wrong = check_record(key, record);
    if (!wrong.ok()) {
      wrong = at_key(*store_, key, wrong);
      return false;
    }
    found.push_back(decode_sealed(record).value());
    return true;
  });
  if (!scanned.ok() || !wrong.ok()) {
    return scanned.ok() ? wrong : scanned;
  }
  return found;
}

StoreResult<std::vector<float>> ShardStore::read_tensor(const TensorKey& key, std::size_t elements) const {
  const auto name = tensor_key(key);
  const auto record = store_->get(name);
  if (!record.ok()) {
    return record.status();
  }
  if (!record.value()) {
    return at_key(*store_, name, {StoreCode::corrupt, "a chunk of the snapshot is missing"});
  }
  const auto bytes = decode_tensor(key, *record.value());
  if (!bytes.ok()) {
    return at_key(*store_, name, bytes.status());
  }
  if (bytes.value().size() != elements * sizeof(float)) {
    return at_key(*store_, name,
                  {StoreCode::corrupt, std::to_string(bytes.value().size()) + " bytes, expected " +
                                           std::to_string(elements * sizeof(float))});
  }
  std::vector<float> values(elements);
  std::memcpy(values.data(), bytes.value().data(), bytes.value().size());
  return values;
}

StoreResult<ChunkTensors> ShardStore::read_chunk(const SnapshotId& snapshot, ChunkId chunk, std::size_t elements,
                                                 std::size_t states) const {
  auto weights = read_tensor({snapshot, TensorKind::weights, chunk}, elements);
  if (!weights.ok()) {
    return weights.status();
  }
  ChunkTensors tensors{std::move(weights.value()), {}};
  for (std::size_t index = 0; index < states; ++index) {
    auto state = read_tensor({snapshot, state_kind(index), chunk}, elements);
    if (!state.ok()) {
      return state.status();
    }
    tensors.states.push_back(std::move(state.value()));
  }
  return tensors;
}

StoreResult<std::vector<SnapshotId>> ShardStore::snapshots() const {
  std::vector<SnapshotId> found;
  const auto end = after_prefix(kSnapshotPrefix);
  auto from = std::string(kSnapshotPrefix);
  for (;;) {
    const auto key = store_->first_key(from);
    if (!key.ok()) {
      return key.status();
    }
    if (!key.value() || *key.value() >= end) {
      return found;
    }
    const auto parsed = parse_tensor_key(*key.value());
    if (!parsed) {
      return at_key(*store_, *key.value(), {StoreCode::corrupt, "the key is not one of this program's"});
    }
    found.push_back(parsed->snapshot);
    from = after_prefix(snapshot_prefix(parsed->snapshot));
  }
}

StoreStatus ShardStore::retain(std::span<const SnapshotId> keep) {
  if (keep.empty()) {
    return {};
  }
  const auto newest = *std::max_element(keep.begin(), keep.end());
  auto there = snapshots();
  if (!there.ok()) {
    return there.status();
  }
  auto whole = sealed();  // a shard without chunks has nothing else of a snapshot
  if (!whole.ok()) {
    return whole.status();
  }
  std::set<SnapshotId> all(there.value().begin(), there.value().end());
  all.insert(whole.value().begin(), whole.value().end());
  WriteBatch batch;
  for (const auto& snapshot : all) {
    if (snapshot < newest && std::find(keep.begin(), keep.end(), snapshot) == keep.end()) {
      const auto prefix = snapshot_prefix(snapshot);
      batch.erase(sealed_key(snapshot)).erase_range(prefix, after_prefix(prefix));
    }
  }
  if (batch.operations().empty()) {
    return {};
  }
  if (auto written = store_->write(batch, Sync::no); !written.ok()) {
    return written;
  }
  for (const auto& operation : batch.operations()) {
    if (operation.kind == WriteBatch::Kind::erase_range) {
      store_->reclaim(operation.key, operation.value);
    }
  }
  return {};
}

StoreResult<std::vector<SnapshotListing>> ShardStore::list_snapshots() const {
  std::vector<SnapshotListing> found;
  const auto scanned = store_->scan(kSnapshotPrefix, [&found](std::string_view key, std::string_view record) {
    if (const auto parsed = parse_tensor_key(key)) {
      if (found.empty() || found.back().id != parsed->snapshot) {
        found.push_back({parsed->snapshot, 0, 0});
      }
      found.back().chunks += parsed->kind == TensorKind::weights ? 1 : 0;
      found.back().bytes += record.size();
    }
    return true;
  });
  if (!scanned.ok()) {
    return scanned;
  }
  return found;
}

StoreResult<std::size_t> ShardStore::states(const SnapshotId& snapshot) const {
  const auto prefix = snapshot_prefix(snapshot);
  auto from = prefix;
  for (;;) {  // chunks that are not descended have no states; weights sort last
    const auto key = store_->first_key(from);
    if (!key.ok()) {
      return key.status();
    }
    const auto parsed = key.value() && key.value()->starts_with(prefix) ? parse_tensor_key(*key.value()) : std::nullopt;
    if (!parsed) {
      return std::size_t{0};
    }
    if (parsed->kind != TensorKind::weights) {
      return states(snapshot, parsed->chunk);
    }
    from = after_prefix(chunk_prefix(snapshot, parsed->chunk));
  }
}

StoreResult<std::size_t> ShardStore::states(const SnapshotId& snapshot, ChunkId chunk) const {
  for (std::size_t count = kMaxStates; count > 0; --count) {
    const auto name = tensor_key({snapshot, state_kind(count - 1), chunk});
    const auto key = store_->first_key(name);
    if (!key.ok()) {
      return key.status();
    }
    if (key.value() == name) {
      return count;
    }
  }
  return std::size_t{0};
}

// ---- ledger

StoreStatus ShardStore::write_ledger(const LedgerChange& change) {
  WriteBatch batch;
  if (change.trim_from) {
    batch.erase_range(statistics_key(*change.trim_from), after_prefix(kStatisticsPrefix));
    if (*change.trim_from != ~Step{0}) {
      batch.erase_range(evaluation_key(*change.trim_from + 1, Split::test), after_prefix(kEvaluationPrefix));
    }
  }
  batch.put(std::string(kLedgerKey), encode(change.ledger));
  if (change.ledger.held) {
    batch.put(std::string(kHeldKey), encode_held(change.ledger.timeline));
  } else if (change.trim_from) {
    batch.erase(std::string(kHeldKey));
  }
  for (const auto& statistics : change.statistics) {
    batch.put(statistics_key(statistics.step), encode(statistics));
  }
  for (const auto& evaluation : change.evaluations) {
    batch.put(evaluation_key(evaluation.step, evaluation.split), encode(evaluation));
  }
  return store_->write(batch, Sync::yes);
}

StoreResult<LedgerContent> ShardStore::read_ledger() const {
  auto ledger = read(kLedgerKey, decode_ledger);
  if (!ledger.ok()) {
    return ledger.status();
  }
  LedgerContent content;
  if (ledger.value()) {
    content.ledger = std::move(*ledger.value());
  }
  const auto held = read(kHeldKey, decode_held);
  if (!held.ok()) {
    return held.status();
  }
  // A program that does not know of it may have begun another timeline since.
  content.ledger.held = held.value() && *held.value() == content.ledger.timeline;
  StoreStatus wrong;
  const auto scanned = store_->scan(kEvaluationPrefix, [&](std::string_view key, std::string_view record) {
    wrong = check_record(key, record);
    if (!wrong.ok()) {
      wrong = at_key(*store_, key, wrong);
      return false;
    }
    content.evaluations.push_back(decode_evaluation(record).value());
    return true;
  });
  if (!scanned.ok() || !wrong.ok()) {
    return scanned.ok() ? wrong : scanned;
  }
  return content;
}

StoreResult<std::vector<StepStatistics>> ShardStore::read_statistics(Step from, Step until) const {
  std::vector<StepStatistics> found;
  StoreStatus wrong;
  const auto first = statistics_key(from);
  const auto scanned = store_->scan(kStatisticsPrefix, [&](std::string_view key, std::string_view record) {
    if (key < first) {
      return true;
    }
    wrong = check_record(key, record);
    if (!wrong.ok()) {
      wrong = at_key(*store_, key, wrong);
      return false;
    }
    const auto statistics = decode_statistics(record).value();
    if (statistics.step < until) {
      found.push_back(statistics);
    }
    return statistics.step < until;
  });
  if (!scanned.ok() || !wrong.ok()) {
    return scanned.ok() ? wrong : scanned;
  }
  return found;
}

// ---- all of it

StoreStatus ShardStore::verify(const RecordVisitor& visit) const {
  StoreStatus first;
  const auto scanned = store_->scan("", [&](std::string_view key, std::string_view record) {
    auto status = check_record(key, record);
    if (!status.ok()) {
      status = at_key(*store_, key, status);
      first = first.ok() ? status : first;
    }
    if (visit) {
      visit(key, record.size(), status);
    }
    return true;
  });
  if (!first.ok()) {
    return first;
  }
  return scanned.ok() ? store_->verify() : scanned;
}

}  // namespace ballast
