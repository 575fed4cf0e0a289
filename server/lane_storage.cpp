#include "server/lane_storage.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "common/log/log.h"
#include "common/net/clock.h"

namespace ballast {

LaneStorage::LaneStorage(const Job& job, ShardServices services, std::uint32_t lane, const std::vector<ChunkId>& chunks,
                         std::uint64_t memory_bytes)
    : services_(std::move(services)),
      lane_(lane),
      loader_(job, chunks, services_.has_initial_snapshot, std::min(memory_bytes, BaseLoader::kLargestWindow)) {
  if (services_.journal != nullptr) {
    services_.journal->listen(lane_, [this](lane::Event event) { told_.put(std::move(event)); });
  }
  if (services_.fetcher != nullptr) {
    services_.fetcher->listen(lane_, [this](lane::CopiesFound found) { told_.put(std::move(found)); });
  }
}

void LaneStorage::tell(const StoreStatus& status, lane::Event done) {
  if (status.ok()) {
    told_.put(std::move(done));
  } else {
    told_.put(lane::StorageFailed{status.text()});
  }
}

void LaneStorage::begin(const lane::Begin& action, LaneWeights& weights) {
  parts_.clear();
  const auto timeline = action.timeline;
  services_.storage.begin(
      timeline, action.base, loader_.begin(timeline, action.base, weights),
      [this, timeline](ShardStorage::LoadedChunk chunk) { return loader_.pass_on(timeline, std::move(chunk)); },
      [this, timeline, base = action.base](const StoreStatus& status) { begun(timeline, base, status); });
}

void LaneStorage::begun(Timeline timeline, SnapshotId base, const StoreStatus& status) {
  if (services_.fetcher != nullptr && status.code() == StoreCode::missing) {
    told_.put(lane::BaseMissing{timeline, base, status.text()});
    return;
  }
  if (services_.fetcher != nullptr && status.ok()) {
    services_.fetcher->serves();
  }
  tell(status, lane::Begun{timeline});
}

void LaneStorage::resume(const lane::Resume& action, LaneWeights& weights) {
  parts_.clear();
  const auto timeline = action.timeline;
  services_.storage.resume(
      timeline, action.base, loader_.begin(timeline, action.base, weights),
      [this, timeline](ShardStorage::LoadedChunk chunk) { return loader_.pass_on(timeline, std::move(chunk)); },
      [this, timeline](const JournalRecord& record) { return loader_.pass_on(timeline, record); },
      [this, timeline](const StoreStatus& status) {
        tell(status, lane::Resumed{timeline, 0, {}, {}, services_.journal->committed()});
      });
}

void LaneStorage::append(Timeline timeline, const lane::Append& action, std::shared_ptr<const Frame> payload) {
  services_.journal->append(lane_, timeline, action, std::move(payload));
}

void LaneStorage::sync(const lane::SyncJournal& action) { services_.journal->sync(lane_, action); }

std::optional<lane::StorageFailed> LaneStorage::load(LaneWeights& weights, Turn& turn) {
  // The events first: what a Begun among them rests on has been put before it.
  for (auto& event : told_.take()) {
    events_.push_back(std::move(event));
  }
  auto missing = loader_.load(weights, turn);
  return missing ? std::optional(lane::StorageFailed{std::move(*missing)}) : std::nullopt;
}

std::optional<lane::Event> LaneStorage::next_event(const LaneWeights& weights) {
  while (!events_.empty() && !loader_.has_more(weights)) {
    auto event = std::move(events_.front());
    events_.pop_front();
    const auto* done = std::get_if<lane::Resumed>(&event);
    if (done == nullptr) {
      return event;
    }
    if (auto resumed = loader_.replayed(done->timeline)) {
      resumed->sequence = done->sequence;
      return std::move(*resumed);
    }
  }
  return std::nullopt;
}

void LaneStorage::take_snapshot(const lane::TakeSnapshot& action, LaneWeights& weights, ReleaseQueue& releases,
                                Micros now) {
  auto& part = parts_[action.id];
  if (!part) {
    part = std::make_shared<SnapshotPart>(SnapshotPart{action.id, now, 0, {}});
  }
  auto buffers = weights.read_state(action.chunk);
  std::vector<std::span<const float>> states;
  for (const auto* buffer : buffers) {
    states.emplace_back(buffer->values);
  }
  buffers.push_back(weights.read(action.chunk, loader_.version_at(action.id.step)));
  for (const auto* buffer : buffers) {
    part->bytes += buffer->values.size_bytes();
  }
  services_.storage.write_chunk(part, action.chunk, buffers.back()->values, states,
                                [&releases, chunk = action.chunk, buffers] {
                                  for (auto* buffer : buffers) {
                                    releases.put(Released{kReader, chunk, buffer, 0});
                                  }
                                });
}

void LaneStorage::seal_snapshot(const lane::SealSnapshot& action, const SnapshotSeries& series, Micros now) {
  if (services_.journal != nullptr && speaks_for_shard()) {
    services_.journal->rotate();  // so that what the snapshot makes needless is a segment by itself
  }
  auto found = parts_.extract(action.id);
  // A lane without chunks has taken nothing.
  const auto part =
      found ? std::move(found.mapped()) : std::make_shared<SnapshotPart>(SnapshotPart{action.id, now, 0, {}});
  services_.storage.seal(part, [this, part, &series](const StoreStatus& status) {
    if (status.ok()) {
      series.made_durable(part->id.step, part->bytes, monotonic_micros() - part->begun);
      told_.put(lane::SnapshotDurable{part->id});
    } else {
      series.failed->add();
      log_warn("the snapshot of step {} could not be written: {}", part->id.step, status.text());
      told_.put(lane::SnapshotFailed{part->id, status.text()});
    }
  });
}

void LaneStorage::retain(const lane::Retain& action) {
  if (!speaks_for_shard()) {
    return;
  }
  services_.storage.retain(action.timeline, action.keep, loader_.version_at(action.keep.back().step));
}

void LaneStorage::record_finish(const lane::RecordFinish& action) {
  services_.storage.record_finish(action.end,
                                  [this](const StoreStatus& status) { tell(status, lane::FinishRecorded{}); });
}

void LaneStorage::copy(const lane::Copy& action) {
  if (services_.copier != nullptr && speaks_for_shard()) {
    services_.copier->follow(action.copies);
  }
}

std::optional<CopyProgress> LaneStorage::copied() const {
  const bool copies = services_.copier != nullptr && speaks_for_shard();
  return copies ? std::optional(services_.copier->progress()) : std::nullopt;
}

void LaneStorage::update_metrics() {
  if (services_.journal != nullptr && speaks_for_shard()) {
    services_.journal->update_metrics();
  }
}

}  // namespace ballast
