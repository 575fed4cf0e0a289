#include "common/store/final_weights.h"

#include <algorithm>
#include <utility>

#include "common/numeric/sha256.h"

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

StoreResult<FinishedRecord> end_of(const ShardStore& shard) {
  const auto finished = shard.finished();
  if (!finished.ok()) {
    return finished.status();
  }
  if (!finished.value()) {
    return refuse(shard, "the job has not finished: there are no final weights yet");
  }
  return *finished.value();
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

}  // namespace

StoreResult<FinalWeights> FinalWeights::open(std::vector<std::unique_ptr<ShardStore>> shards, Arena arena,
                                             std::string layout) {
  if (shards.empty()) {
    return StoreStatus{StoreCode::missing, "no shard databases were given"};
  }
  FinalWeights result;
  std::vector<bool> seen(shards.size());
  for (const auto& shard : shards) {
    const auto identity = identity_of(*shard);
    if (!identity.ok()) {
      return identity.status();
    }
    const bool first = shard == shards.front();
    if (first) {
      result.identity_ = identity.value();
    }
    if (const auto why = why_not_together(result.identity_, identity.value(), shards.size()); !why.empty()) {
      return refuse(*shard, why);
    }
    if (identity.value().layout_digest != layout) {
      return refuse(*shard, "its layout " + identity.value().layout_digest + " is not the model's, " + layout);
    }
    const auto index = identity.value().shard;
    if (index >= seen.size() || seen[index]) {
      return refuse(*shard, "shard " + std::to_string(index) + " was given twice or is out of range");
    }
    seen[index] = true;
    const auto end = end_of(*shard);
    if (!end.ok()) {
      return end.status();
    }
    if (!first && end.value() != result.end_) {
      return refuse(*shard, "finished at timeline " + std::to_string(end.value().timeline) + ", step " +
                                std::to_string(end.value().step) + ", unlike the first shard");
    }
    result.end_ = end.value();
  }
  result.shards_ = std::move(shards);
  result.arena_ = std::move(arena);
  return result;
}

StoreResult<FinalWeights> FinalWeights::open(const std::vector<std::filesystem::path>& shards, Arena arena,
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

StoreResult<bool> FinalWeights::has_momentum() const {
  for (const auto& shard : shards_) {
    const auto chunks = shard->list_chunks(end_.timeline, end_.step, TensorKind::momentum);
    if (!chunks.ok()) {
      return chunks.status();
    }
    if (!chunks.value().empty()) {
      return true;
    }
  }
  return false;
}

StoreResult<std::string> FinalWeights::read_chunk(const Chunk& chunk, TensorKind kind) const {
  const TensorKey key{end_.timeline, end_.step, kind, chunk.id};
  for (const auto& shard : shards_) {
    auto bytes = shard->read_tensor(key);
    if (!bytes.ok()) {
      return bytes.status();
    }
    if (!bytes.value()) {
      continue;
    }
    if (bytes.value()->size() != chunk.bytes()) {
      return StoreStatus{StoreCode::corrupt, shard->path() + ": key " + tensor_key(key) + ": " +
                                                 std::to_string(bytes.value()->size()) + " bytes, expected " +
                                                 std::to_string(chunk.bytes())};
    }
    return std::move(*bytes.value());
  }
  return StoreStatus{StoreCode::corrupt, shards_.front()->path() + " and the other shards: key " + tensor_key(key) +
                                             ": the chunk is missing"};
}

StoreStatus FinalWeights::visit(TensorKind kind, const Visitor& visitor) const {
  std::size_t parameter = 0;  // the first that may reach into the chunk: both are in arena order
  for (const auto& chunk : arena_.chunks) {
    const bool wanted =
        chunk.group != Group::statistics && (kind == TensorKind::weights || chunk.group != Group::state);
    if (!wanted) {
      continue;
    }
    const auto bytes = read_chunk(chunk, kind);
    if (!bytes.ok()) {
      return bytes.status();
    }
    const auto content = std::as_bytes(std::span(bytes.value().data(), bytes.value().size()));
    const auto chunk_end = chunk.offset + chunk.elements;
    while (parameter < arena_.extents.size() &&
           arena_.extents[parameter].offset + arena_.extents[parameter].elements <= chunk.offset) {
      ++parameter;
    }
    for (auto at = parameter; at < arena_.extents.size() && arena_.extents[at].offset < chunk_end; ++at) {
      const auto& extent = arena_.extents[at];
      const auto begin = std::max(extent.offset, chunk.offset);
      const auto end = std::min(extent.offset + extent.elements, chunk_end);
      if (begin < end) {
        visitor(at, content.subspan((begin - chunk.offset) * sizeof(float), (end - begin) * sizeof(float)));
      }
    }
  }
  return {};
}

StoreResult<WeightsDigest> digest_final(const FinalWeights& final_weights) {
  WeightsDigest digest{final_weights.timeline(), final_weights.step(), {}, {}};
  const auto momentum = final_weights.has_momentum();
  if (!momentum.ok()) {
    return momentum.status();
  }
  for (const auto kind : {TensorKind::weights, TensorKind::momentum}) {
    if (kind == TensorKind::momentum && !momentum.value()) {
      continue;
    }
    Sha256 sum;
    const auto visited =
        final_weights.visit(kind, [&sum](std::size_t, std::span<const std::byte> piece) { sum.update(piece); });
    if (!visited.ok()) {
      return visited;
    }
    (kind == TensorKind::weights ? digest.weights : digest.momentum) = sum.hex();
  }
  return digest;
}

StoreResult<WeightsDigest> digest_final(const std::vector<std::filesystem::path>& shards, const Arena& arena,
                                        const std::string& layout) {
  const auto opened = FinalWeights::open(shards, arena, layout);
  return opened.ok() ? digest_final(opened.value()) : StoreResult<WeightsDigest>{opened.status()};
}

}  // namespace ballast
