#include "storage/store/run_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/arena/pieces.h"
#include "common/numeric/sha256.h"
#include "storage/store/layout_difference.h"

namespace ballast {
namespace {

StoreStatus refuse(const ShardStore& shard, const std::string& text) {
  return {StoreCode::mismatch, shard.path() + ": " + text};
}

StoreResult<Identity> identity_of(const ShardStore& shard) {
  const auto identity = shard.identity();
  if (!identity.ok()) {
    return identity.status();
  }
  if (!identity.value()) {
    return refuse(shard, "the database has no identity: it is not a shard's");
  }
  return *identity.value();
}

// Whether `found` belongs with `first`, for a job of `count` shards.
std::string why_not_together(const Identity& first, const Identity& found, std::size_t count) {
  if (found.spec_digest != first.spec_digest || found.job != first.job) {
    return "belongs to job \"" + found.job + "\", unlike the first shard, of job \"" + first.job + "\"";
  }
  if (found.shards != count) {
    return "belongs to a job of " + std::to_string(found.shards) + " shards; " + std::to_string(count) + " were given";
  }
  return {};
}

// Whether a tensor of this kind covers parameters of the group.
bool holds(TensorKind kind, Group group) { return kind == TensorKind::weights || group != Group::state; }

}  // namespace

// ---- opening

StoreResult<RunReader> RunReader::open(std::vector<std::unique_ptr<ShardStore>> shards, Arena arena,
                                       std::string layout) {
  if (shards.empty()) {
    return StoreStatus{StoreCode::missing, "no shard databases were given"};
  }
  RunReader result;
  result.shards_.resize(shards.size());
  std::optional<Identity> first;
  for (auto& shard : shards) {
    const auto identity = identity_of(*shard);
    if (!identity.ok()) {
      return identity.status();
    }
    const auto& found = identity.value();
    if (!first) {
      first = found;
    }
    if (const auto why = why_not_together(*first, found, shards.size()); !why.empty()) {
      return refuse(*shard, why);
    }
    if (found.layout_digest != layout) {
      return refuse(*shard, other_layout_text(found.layout_digest, layout));
    }
    if (found.shard >= shards.size() || result.shards_[found.shard]) {
      return refuse(*shard, "shard " + std::to_string(found.shard) + " was given twice or is out of range");
    }
    if (found.shard == 0) {
      result.identity_ = found;
    }
    result.shards_[found.shard] = std::move(shard);
  }
  auto ledger = result.shards_.front()->read_ledger();
  if (!ledger.ok()) {
    return ledger.status();
  }
  result.ledger_ = std::move(ledger.value());
  result.placement_ = Placement(arena, static_cast<std::uint32_t>(result.shards_.size()), 1);
  result.arena_ = std::move(arena);
  return result;
}

StoreResult<RunReader> RunReader::open(const std::vector<std::filesystem::path>& shards, Arena arena,
                                       std::string layout) {
  std::vector<std::unique_ptr<ShardStore>> opened;
  for (const auto& path : shards) {
    auto store = open_rocksdb(path, OpenMode::read_only);
    if (!store.ok()) {
      return store.status();
    }
    opened.push_back(std::make_unique<ShardStore>(std::move(store.value())));
  }
  return open(std::move(opened), std::move(arena), std::move(layout));
}

StoreResult<std::vector<StepStatistics>> RunReader::statistics(Step from, Step until) const {
  return shards_.front()->read_statistics(from, until);
}

// ---- which snapshot

StoreStatus RunReader::no_such(const std::string& what) const {
  std::string steps;
  for (const auto& snapshot : ledger().complete) {
    steps += (steps.empty() ? "" : ", ") + std::to_string(snapshot.step);
  }
  return {StoreCode::missing, shards_.front()->path() + ": " + what + "; complete snapshots: " +
                                  (steps.empty() ? std::string("none yet") : "of steps " + steps)};
}

StoreResult<SnapshotId> RunReader::finished() const {
  if (ledger().finished) {
    return *ledger().finished;
  }
  return no_such("the job has not finished: there are no final weights yet");
}

StoreResult<SnapshotId> RunReader::newest() const {
  if (ledger().complete.empty()) {
    return no_such("there is no complete snapshot");
  }
  return *std::max_element(ledger().complete.begin(), ledger().complete.end());
}

StoreResult<SnapshotId> RunReader::best() const {
  if (ledger().best) {
    return *ledger().best;
  }
  return no_such("no snapshot was kept as the best: the job has no training.keep_best, or no evaluation yet");
}

StoreResult<SnapshotId> RunReader::at_step(Step step) const {
  const SnapshotId* found = nullptr;
  for (const auto& snapshot : ledger().complete) {
    if (snapshot.step == step && (found == nullptr || *found < snapshot)) {
      found = &snapshot;
    }
  }
  return found != nullptr ? StoreResult<SnapshotId>(*found)
                          : no_such("there is no complete snapshot of step " + std::to_string(step));
}

// ---- tensors

StoreResult<std::size_t> RunReader::states(const SnapshotId& snapshot) const {
  std::size_t most = 0;
  for (const auto& shard : shards_) {
    const auto count = shard->states(snapshot);
    if (!count.ok()) {
      return count;
    }
    most = std::max(most, count.value());
  }
  return most;
}

StoreStatus RunReader::visit(const SnapshotId& snapshot, TensorKind kind, const Visitor& visitor) const {
  const auto kind_of = [kind](Group group) { return holds(kind, group) ? std::optional(kind) : std::nullopt; };
  return visit_kinds(snapshot, kind_of, visitor);
}

StoreStatus RunReader::visit_averages(const SnapshotId& snapshot, const Visitor& visitor) const {
  const auto count = states(snapshot);
  if (!count.ok()) {
    return count.status();
  }
  if (count.value() == 0) {
    return {StoreCode::missing, shards_.front()->path() + ": the snapshot of " + describe(snapshot) +
                                    " holds no averages of the weights, though its job keeps them"};
  }
  const auto average = state_kind(count.value() - 1);
  const auto kind_of = [average](Group group) {
    return std::optional(holds(average, group) ? average : TensorKind::weights);
  };
  return visit_kinds(snapshot, kind_of, visitor);
}

// A group's chunks hold its parameters in the model's order, so that one chunk of each group is in hand.
StoreStatus RunReader::visit_kinds(const SnapshotId& snapshot, const KindOfGroup& kind_of,
                                   const Visitor& visitor) const {
  struct InHand {
    std::optional<ChunkId> chunk;
    std::vector<float> values;
  };
  std::map<Group, InHand> groups;
  const auto parts = parts_of_parameters(arena_);
  for (std::size_t parameter = 0; parameter < parts.size(); ++parameter) {
    const Group group = arena_.parameters[parameter].group;
    const auto kind = kind_of(group);
    if (!kind) {
      continue;
    }
    auto& in_hand = groups[group];
    for (const auto& [chunk, piece] : parts[parameter]) {
      if (in_hand.chunk != chunk) {
        auto values =
            shards_[placement_[chunk].shard]->read_tensor({snapshot, *kind, chunk}, arena_.chunks[chunk].elements);
        if (!values.ok()) {
          return values.status();
        }
        in_hand = {chunk, std::move(values.value())};
      }
      visitor(parameter, std::as_bytes(std::span(in_hand.values).subspan(piece.offset, piece.elements)));
    }
  }
  return {};
}

// ---- digests

StoreResult<std::string> RunReader::state_digest(const SnapshotId& snapshot) const {
  const auto count = states(snapshot);
  if (!count.ok() || count.value() == 0) {
    return count.ok() ? StoreResult<std::string>(std::string()) : count.status();
  }
  Sha256 sum;
  for (std::size_t index = 0; index < count.value(); ++index) {
    const auto visited = visit(snapshot, state_kind(index),
                               [&sum](std::size_t, std::span<const std::byte> piece) { sum.update(piece); });
    if (!visited.ok()) {
      return visited;
    }
  }
  return sum.hex();
}

StoreResult<WeightsDigest> RunReader::digest(const SnapshotId& snapshot) const {
  Sha256 sum;
  const auto visited = visit(snapshot, TensorKind::weights,
                             [&sum](std::size_t, std::span<const std::byte> piece) { sum.update(piece); });
  if (!visited.ok()) {
    return visited;
  }
  auto optimizer = state_digest(snapshot);
  if (!optimizer.ok()) {
    return optimizer.status();
  }
  return WeightsDigest{snapshot, sum.hex(), std::move(optimizer.value())};
}

StoreResult<WeightsDigest> digest_final(const std::vector<std::filesystem::path>& shards, const Arena& arena,
                                        const std::string& layout) {
  const auto run = RunReader::open(shards, arena, layout);
  if (!run.ok()) {
    return run.status();
  }
  const auto end = run.value().finished();
  return end.ok() ? run.value().digest(end.value()) : StoreResult<WeightsDigest>{end.status()};
}

}  // namespace ballast
