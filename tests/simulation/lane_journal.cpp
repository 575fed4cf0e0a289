// A lane's shell and its shard's journal: the thread that writes it in groups, and what is found in it again.
#include "tests/simulation/shells.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

// ---- what is written

void LaneShell::act(lane::Append& action) {
  const auto held = held_.find(action.payload);
  require(held != held_.end(), "an update is appended whose payload was given up");
  turns_.appended(action);
  auto& journal = disk().journal;
  require(cluster_.life().journaled(), "an update is appended to no journal");
  if (journal.timeline != life_.timeline) {
    // Another lane of the shard has begun a newer timeline: nothing is appended, and this lane will hear of it.
    return cluster_.judge().item_appended(life_, action, held->second, ~std::uint64_t{0});
  }
  cluster_.judge().item_appended(life_, action, held->second, journal.records.size() + 1);
  journal.records.push_back({id(), action.ticket, action.chunk, action.item, action.version, action.factors,
                             action.marks, held->second.payload});
  if (cluster_.traces()) {
    cluster_.say(name() + " appends step " + std::to_string(held->second.step) + " slot " +
                 std::to_string(held->second.node.begin) + " of chunk " + std::to_string(action.chunk) +
                 " to the journal, " + std::to_string(action.staleness) + " updates stale");
  }
  write_journal();
}

// What comes while a group is being written makes the next one.
void LaneShell::write_journal() {
  auto& journal = disk().journal;
  if (journal.writes || journal.written == journal.records.size()) {
    return;
  }
  journal.writes = true;
  journal.group = journal.records.size();
  const auto& life = cluster_.life();
  const bool fails = cluster_.write_fails();  // and is tried again
  cluster_.later(
      *this, cluster_.some(life.storage_high / 4) + (fails ? 5 * life.storage_high : 0),
      [this, timeline = journal.timeline, through = journal.records.size()] { end_group(timeline, through); });
}

void LaneShell::end_group(Timeline timeline, std::size_t through) {
  auto& journal = disk().journal;
  if (journal.timeline != timeline) {
    journal.writes = false;
    return write_journal();
  }
  journal.written = through;
  const bool syncs = cluster_.life().items->journal == LifeItems::Journal::always;
  cluster_.later(*this, syncs ? cluster_.some(cluster_.life().storage_high / 2) : 1, [this, timeline, through, syncs] {
    auto& now = disk().journal;
    now.writes = false;
    if (now.timeline == timeline) {
      now.synced = syncs ? std::max(now.synced, through) : now.synced;
      now.committed = through;
      if (cluster_.traces()) {
        cluster_.say("shard " + std::to_string(shard()) + "'s journal is committed up to " + std::to_string(through));
      }
      cluster_.tell_committed(life_, through);
      if (cluster_.life().items->journal == LifeItems::Journal::interval) {
        sync_later();
      }
    }
    write_journal();
  });
}

void LaneShell::sync_later() {
  const auto& journal = disk().journal;
  cluster_.later(*this, cluster_.some(10 * cluster_.life().storage_high),
                 [this, timeline = journal.timeline, through = journal.written] {
                   auto& now = disk().journal;
                   if (now.timeline == timeline) {
                     now.synced = std::max(now.synced, through);
                   }
                 });
}

void LaneShell::committed(std::uint64_t ticket, std::uint64_t sequence) { step(lane::Committed{ticket, sequence}); }

// ---- what is found again

void LaneShell::act(lane::Resume& action) {
  state_.move(cluster_.facts().lane, LaneState::resuming);
  beginning_ = action.timeline;
  on_disk(cluster_.life().storage_high, [this, action] {
    if (beginning_ != action.timeline || disk().journal.timeline != action.timeline) {
      return;
    }
    disk().journal.record_life(life_.incarnation);
    on_disk(cluster_.life().storage_high / 2, [this, action] {
      // If another lane has begun a newer timeline the journal is that one's, and this lane will hear of it.
      if (beginning_ == action.timeline && disk().journal.timeline == action.timeline) {
        replay(action.timeline, action.base);
      }
    });
  });
}

void LaneShell::replay(Timeline timeline, SnapshotId base) {
  life_.timeline = timeline;
  const auto values = put_base_in_place(base);
  const auto& life = cluster_.life();
  const auto& journal = disk().journal;
  lane::Resumed resumed{timeline, base.step, {}, {}, journal.committed};
  std::vector<JournalRecord> found;
  for (std::size_t i = 0; i < journal.committed; ++i) {
    const auto& record = journal.records[i];
    if (!owns(record.chunk) || record.version < life.updates(base.step)) {
      continue;
    }
    auto& chunk = chunks_.at(record.chunk);
    const bool is_statistics = record.chunk == life.statistics();
    chunk.value =
        is_statistics ? statistics_value(record.version + 1) : apply(chunk.value, record.payload, record.factors);
    put_weights_in_place(chunk, record.version + 1);
    StepStatistics part;
    if (is_statistics && !record.factors.skip) {
      part = statistics(record.item / life.slots, record.payload.value);
    }
    resumed.updates.push_back({record.chunk, record.item, part});
    resumed.marks.insert(resumed.marks.end(), record.marks.begin(), record.marks.end());
    found.push_back(record);
  }
  if (cluster_.traces()) {
    cluster_.say(name() + " goes on in timeline " + std::to_string(timeline) + " from snapshot " + words(base) +
                 " and " + std::to_string(found.size()) + " updates of its journal");
  }
  cluster_.judge().resumed(life_, base, values, found);
  step(std::move(resumed));
}

}  // namespace ballast::simulation
