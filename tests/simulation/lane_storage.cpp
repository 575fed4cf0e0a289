// A lane's shell and its shard's database: timelines, snapshots and the end.
#include <algorithm>

#include "tests/simulation/judge/violation.h"
#include "tests/simulation/lane_shell.h"

namespace ballast::simulation {

void LaneShell::act(Host& host, lane::Begin& action) {
  state_.move(host.facts().lane, LaneState::beginning);
  beginning_ = action.timeline;
  for (auto& [id, chunk] : chunks_) {
    std::ranges::for_each(chunk.buffers, [](auto& buffer) { buffer.is_past = true; });
  }
  disk(host).begun = std::max(disk(host).begun, action.timeline);
  turns_.begins();
  snapshots_.taken.clear();
  unanswered_.clear();
  if (host.life().restores && lacks(host, action.base)) {
    return later(host, within(host.life().copy_high), BaseFetch{action.timeline, action.base});
  }
  later(host, on_disk(host.life().storage_high), TimelineRecord{action.timeline, action.base});
}

void LaneShell::done(Host& host, const TimelineRecord& what) {
  auto& disk = this->disk(host);
  if (host.life().journaled()) {
    disk.journal.begin(what.timeline, life_.incarnation);
  }
  disk.timeline = std::max(disk.timeline, what.timeline);
  disk.sync();
  if (host.traces()) {
    host.say(name() + " makes timeline " + std::to_string(what.timeline) + " durable");
  }
  later(host, on_disk(host.life().storage_high / 4), BaseLoad{what.timeline, what.base});
}

void LaneShell::done(Host& host, const BaseLoad& what) {
  if (what.timeline == beginning_) {
    life_.timeline = what.timeline;
    host.judge().began(host.disks(), life_, what.base, put_base_in_place(host, what.base));
    disk(host).was_lost = false;
    disk(host).served = std::max(disk(host).served, what.timeline);
  }
  step(host, lane::Begun{what.timeline});
}

std::map<ChunkId, ChunkValue> LaneShell::put_base_in_place(Host& host, SnapshotId base) {
  std::map<ChunkId, ChunkValue> values;
  for (auto& [id, chunk] : chunks_) {
    if (id == host.life().statistics()) {
      chunk.value = statistics_value(host.life().updates(base.step));
    } else {
      const auto* stored = disk(host).durable(base, id);
      if (stored == nullptr) {
        throw Violation(name() + " does not find chunk " + std::to_string(id) + " of the base, the snapshot of step " +
                        std::to_string(base.step) + " on timeline " + std::to_string(base.timeline));
      }
      chunk.value = *stored;
      values[id] = *stored;
    }
    put_weights_in_place(chunk, host.life().updates(base.step));
  }
  return values;
}

void LaneShell::act(Host& host, lane::TakeSnapshot& action) {
  const auto& value = chunks_.at(action.chunk).value;
  host.judge().snapshot_taken(host.disks(), life_, action.id, action.chunk, value);
  require(snapshots_.taken[action.id].insert(action.chunk).second, "a chunk is taken twice into one snapshot");
  later(host, on_disk(host.life().storage_high / 4), ChunkWrite{action.id, action.chunk, value});
}

void LaneShell::done(Host& host, const ChunkWrite& what) {
  if (what.id.timeline < beginning_) {
    return;  // given up
  }
  if (host.write_fails()) {
    snapshots_.failed.insert(what.id);
  } else {
    disk(host).write(what.id, what.chunk, what.value);
  }
  host.wrote_chunk(life_);
}

void LaneShell::act(Host& host, lane::SealSnapshot& action) {
  std::size_t own = chunks_.size() - (owns(host.life().statistics()) ? 1 : 0);
  require(snapshots_.taken[action.id].size() == own, "a snapshot is sealed before all its chunks are taken");
  later(host, on_disk(host.life().storage_high), SnapshotSeal{action.id});
}

void LaneShell::done(Host& host, const SnapshotSeal& what) {
  const auto id = what.id;
  if (id.timeline >= beginning_ && (snapshots_.failed.contains(id) || host.write_fails())) {
    return step(host, lane::SnapshotFailed{id, "no space is left"});
  }
  if (id.timeline == beginning_) {
    disk(host).sync();
    disk(host).seal(id, life_.lane);
  }
  step(host, lane::SnapshotDurable{id});
}

void LaneShell::act(Host& host, lane::Retain& action) {
  if (life_.lane % host.life().lanes != 0) {
    return;  // one lane speaks for the shard: they share the database
  }
  later(host, on_disk(host.life().storage_high / 4), SnapshotDeletion{action.timeline, action.keep});
}

void LaneShell::done(Host& host, const SnapshotDeletion& what) {
  auto& disk = this->disk(host);
  if (what.timeline < disk.begun) {
    return;
  }
  for (const auto id : disk.superseded(what.keep)) {
    host.judge().deletes(host.world().copies, shard(host), id, what.timeline);
    disk.snapshots.erase(id);
    disk.seals.erase(id);
  }
  auto& journal = disk.journal;
  if (!what.keep.empty() && journal.timeline == life_.timeline) {
    journal.released = std::max(journal.released, host.life().updates(what.keep.back().step));
  }
}

void LaneShell::act(Host& host, lane::RecordFinish& action) {
  state_.move(host.facts().lane, LaneState::concluding);
  host.judge().records_finish(host.disks(), life_, action.end);
  later(host, on_disk(host.life().storage_high), FinishRecord{action.end});
}

void LaneShell::done(Host& host, const FinishRecord& what) {
  disk(host).finished = what.end;
  step(host, lane::FinishRecorded{});
}

}  // namespace ballast::simulation
