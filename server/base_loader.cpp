#include "server/base_loader.h"

#include <utility>

#include "protocol/journal_marks.h"

namespace ballast {

namespace {

std::span<const float> floats_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace

BaseLoader::BaseLoader(const Job& job, const std::vector<ChunkId>& chunks, bool has_initial_snapshot,
                       std::uint64_t window)
    : job_(job),
      chunks_(chunks.begin(), chunks.end()),
      has_initial_snapshot_(has_initial_snapshot),
      updates_per_step_(is_item_mode(job.spec.training.mode) ? job.spec.training.slots : 1),
      window_(window) {}

std::vector<ShardStorage::ChunkShape> BaseLoader::begin(Timeline timeline, SnapshotId base, LaneWeights& weights) {
  beginning_ = {timeline, base.step};
  lacks_update_ = false;
  resumed_ = {timeline, base.step, {}, {}, 0};
  if (base == SnapshotId{} && !has_initial_snapshot_) {
    weights.begin_drawn();
    return {};
  }
  weights.begin(version_at(base.step));
  std::vector<ShardStorage::ChunkShape> shapes;
  for (const auto id : chunks_) {
    if (id != job_.arena.statistics().id) {
      shapes.push_back({id, job_.arena.chunks[id].elements, weights.state_count(id)});
    }
  }
  return shapes;
}

std::optional<std::string> BaseLoader::load(LaneWeights& weights, Turn& turn) {
  for (auto& loaded : loaded_.take()) {
    to_load_.push_back(std::move(loaded));
  }
  // What is drawn comes first: updates rest on it.
  for (bool first = true; has_more(weights) && (first || !turn.over()); first = false) {
    if (weights.has_to_draw()) {
      turn.spend(weights.draw_next());
      continue;
    }
    auto missing = take(to_load_.front(), weights, turn);
    to_load_.pop_front();
    if (missing) {
      return missing;
    }
  }
  return std::nullopt;
}

std::optional<std::string> BaseLoader::take(Loaded& loaded, LaneWeights& weights, Turn& turn) {
  std::optional<std::string> missing;
  if (loaded.timeline == beginning_.timeline && !lacks_update_) {
    missing = std::visit([&](const auto& content) { return put(content, weights, turn); }, loaded.content);
  }
  lacks_update_ = lacks_update_ || missing.has_value();
  loaded.content = Update{};  // its memory is free before others take the room
  window_.give_back(loaded.bytes);
  return missing;
}

std::optional<std::string> BaseLoader::put(const ShardStorage::LoadedChunk& chunk, LaneWeights& weights,
                                           Turn& turn) const {
  turn.spend(job_.arena.chunks[chunk.chunk].bytes() * (1 + chunk.tensors.states.size()));
  weights.restore(chunk.chunk, version_at(beginning_.step), chunk.tensors.weights, chunk.tensors.states);
  return std::nullopt;
}

std::optional<std::string> BaseLoader::put(const Update& update, LaneWeights& weights, Turn& turn) {
  const auto& record = update.record;
  const auto version = weights.version(record.chunk);
  if (record.version < version_at(beginning_.step)) {
    return std::nullopt;  // the snapshot has it
  }
  if (record.version != version) {
    return "the journal has an update of version " + std::to_string(record.version) + " of chunk " +
           std::to_string(record.chunk) + " where that of version " + std::to_string(version) +
           " is due: it lacks what lies between. Remove the folder `journal` of this shard's database, then resume: "
           "the job goes back to its newest snapshot";
  }
  turn.spend(record.payload.size());
  const auto slots = job_.spec.training.slots;
  weights.apply(record.chunk, record.version, floats_of(record.payload), record.factors,
                {record.item / slots, static_cast<Slot>(record.item % slots), record.staleness});
  note(record, weights);
  return std::nullopt;
}

void BaseLoader::note(const JournalRecord& record, const LaneWeights& weights) {
  lane::Recovered recovered{record.chunk, record.item, {}};
  if (record.chunk == job_.arena.statistics().id && !record.factors.skip) {
    recovered.statistics = weights.statistics(record.chunk, record.item / job_.spec.training.slots);
  }
  resumed_.updates.push_back(recovered);
  for (const auto& mark : record.marks) {
    note_mark(resumed_.marks, mark);
  }
}

std::optional<lane::Resumed> BaseLoader::replayed(Timeline timeline) {
  if (timeline != beginning_.timeline || lacks_update_) {
    return std::nullopt;
  }
  return std::exchange(resumed_, {});
}

bool BaseLoader::pass_on(Timeline timeline, ShardStorage::LoadedChunk chunk) {
  const std::uint64_t bytes =
      sizeof(Loaded) + chunk.tensors.weights.size() * sizeof(float) * (1 + chunk.tensors.states.size());
  if (!window_.take(bytes)) {
    return false;
  }
  loaded_.put({timeline, bytes, std::move(chunk)});
  return true;
}

// Where a chunk lives does not change: other lanes' updates are theirs.
bool BaseLoader::pass_on(Timeline timeline, const JournalRecord& record) {
  if (!chunks_.contains(record.chunk)) {
    return true;
  }
  const std::uint64_t bytes = sizeof(Loaded) + record.payload.size() + record.marks.size() * sizeof(JournalMark);
  if (!window_.take(bytes)) {
    return false;
  }
  Update update{record, {record.payload.begin(), record.payload.end()}};
  update.record.payload = update.payload;  // which moves with it
  loaded_.put({timeline, bytes, std::move(update)});
  return true;
}

}  // namespace ballast
