#include "server/shard_storage.h"

#include <algorithm>
#include <utility>

#include "common/log/log.h"

namespace ballast {

void ShardStorage::note(Timeline timeline) {
  auto newest = newest_.load();
  while (newest < timeline && !newest_.compare_exchange_weak(newest, timeline)) {
  }
}

// As long as no newer timeline is known.
StoreStatus ShardStorage::await(Timeline timeline, const DiskRoom::Attempt& attempt) {
  return room_.await(attempt, [&] { return timeline >= newest_; });
}

void ShardStorage::begin(Timeline timeline, SnapshotId base, std::vector<ChunkShape> chunks, Load load, Done done) {
  note(timeline);
  background_.run([this, timeline, base, chunks = std::move(chunks), load = std::move(load), done = std::move(done)] {
    if (timeline < newest_) {
      return;
    }
    // First: a life that has recorded the timeline, and its journal, may be told to go on with what it has of it.
    auto status = bring_base(timeline, base);
    if (status.ok()) {
      status = await(timeline, [&] {
        const DiskRoom::Watch watch(room_, "a write of the timeline");
        return store_.write_timeline({timeline, base, incarnation_});
      });
    }
    if (status.ok() && journal_ != nullptr) {
      status = await(timeline, [&] { return journal_->begin(timeline); });
    }
    if (status.ok()) {
      status = read_base(timeline, base, chunks, load);
    }
    if (timeline >= newest_) {
      done(status);
    }
  });
}

void ShardStorage::resume(Timeline timeline, SnapshotId base, std::vector<ChunkShape> chunks, Load load,
                          Replayed replayed, Done done) {
  note(timeline);
  background_.run([this, timeline, base, chunks = std::move(chunks), load = std::move(load),
                   replayed = std::move(replayed), done = std::move(done)] {
    if (timeline < newest_) {
      return;
    }
    auto status = await(timeline, [&] { return journal_->resume(timeline); });
    if (status.ok()) {
      status = read_base(timeline, base, chunks, load);
    }
    if (!status.ok()) {
      if (timeline >= newest_) {
        done(status);
      }
      return;
    }
    resuming_.push_back({timeline, replayed, done});
    background_.run([this] { replay(); });  // behind the bases of lanes that have asked by now
  });
}

void ShardStorage::replay() {
  auto lanes = std::exchange(resuming_, {});
  const auto drop_overtaken = [&] {
    std::erase_if(lanes, [&](const Resuming& lane) { return lane.timeline < newest_; });
    return !lanes.empty();
  };
  if (!drop_overtaken()) {
    return;
  }
  const auto status = journal_->replay([&](JournalSequence, const JournalRecord& record) {
    std::erase_if(lanes, [&](const Resuming& lane) { return !lane.replayed(record); });
    return drop_overtaken();
  });
  drop_overtaken();
  for (const auto& lane : lanes) {
    lane.done(status);
  }
}

// For all lanes at once, by the first of them.
StoreStatus ShardStorage::bring_base(Timeline timeline, SnapshotId base) {
  if (!fetch_ || base == SnapshotId{}) {
    return {};
  }
  const auto wanted = [&] { return timeline >= newest_; };
  const auto sealed = room_.read([&] { return store_.sealed(); }, wanted);
  if (!sealed.ok()) {
    return sealed.status();
  }
  return std::ranges::find(sealed.value(), base) != sealed.value().end() ? StoreStatus{} : fetch_(base, wanted);
}

// A database that has failed may have to be opened again to be read, which takes room as well.
StoreStatus ShardStorage::read_base(Timeline timeline, SnapshotId base, const std::vector<ChunkShape>& chunks,
                                    const Load& load) {
  const auto wanted = [&] { return timeline >= newest_; };
  for (const auto& shape : chunks) {
    if (!wanted()) {
      return {};
    }
    auto tensors = room_.read(
        [&] {
          const DiskRoom::Watch watch(room_, "a read of the base");
          return store_.read_chunk(base, shape.chunk, shape.elements, shape.states);
        },
        wanted);
    if (!tensors.ok()) {
      return tensors.status();
    }
    if (!load({shape.chunk, std::move(tensors.value())})) {
      return {StoreCode::io, "the lane has ended before its base was read"};
    }
  }
  return {};
}

void ShardStorage::write_chunk(const std::shared_ptr<SnapshotPart>& part, ChunkId chunk, std::span<const float> weights,
                               std::vector<std::span<const float>> states, std::function<void()> written) {
  background_.run([this, part, chunk, weights, states = std::move(states), written = std::move(written)] {
    if (part->status.ok() && part->id.timeline >= newest_) {
      const DiskRoom::Watch watch(room_, "a write of a snapshot");
      part->status = store_.write_chunk(part->id, chunk, weights, states);
      strike(ServerFault::snapshot_chunk);
    }
    written();
  });
}

void ShardStorage::seal(const std::shared_ptr<SnapshotPart>& part, Done done) {
  background_.run([this, part, done = std::move(done)] {
    if (part->status.ok() && part->id.timeline >= newest_) {
      const DiskRoom::Watch watch(room_, "a sync of a snapshot", DiskRoom::kPatienceWithMuch);
      part->status = seal_part(part->id);
    }
    done(part->status);
  });
}

StoreStatus ShardStorage::seal_part(SnapshotId id) {
  std::erase_if(sealed_, [&](const auto& older) { return older.first < id; });  // another part failed
  if (sealed_[id] + 1 < lanes_) {
    const auto status = store_.sync();
    sealed_[id] += status.ok() ? 1 : 0;
    return status;
  }
  const auto status = store_.seal(id);
  if (status.ok()) {
    sealed_.erase(id);
  }
  return status;
}

void ShardStorage::retain(Timeline timeline, std::vector<SnapshotId> keep, ItemId applied) {
  background_.run([this, timeline, keep = std::move(keep), applied] {
    if (timeline < newest_) {
      return;  // another lane has begun a timeline, whose base may be older, and its journal
    }
    // What can't be deleted now is deleted with the next snapshot: nothing depends on it.
    if (const auto status = store_.retain(keep); !status.ok()) {
      log_warn("old snapshots could not be deleted: {}", status.text());
    }
    if (journal_ != nullptr) {
      journal_->release_before(applied);
    }
  });
}

void ShardStorage::record_finish(SnapshotId end, Done done) {
  background_.run([this, end, done = std::move(done)] {
    strike(ServerFault::before_finished);
    done(room_.await([&] {
      const DiskRoom::Watch watch(room_, "a write of the job's end");
      return store_.write_finished(end);
    }));
  });
}

}  // namespace ballast
