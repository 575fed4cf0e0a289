// A lane's shell and its shard's journal: the thread that writes it in groups, and what is found in it again.
#include "tests/simulation/judge/violation.h"
#include "tests/simulation/lane_shell.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

// ---- what is written

void LaneShell::act(Host& host, lane::Append& action) {
  const auto held = held_.find(action.payload);
  require(held != held_.end(), "an update is appended whose payload was given up");
  turns_.appended(action);
  auto& journal = disk(host).journal;
  require(host.life().journaled(), "an update is appended to no journal");
  if (journal.timeline != life_.timeline) {
    // Another lane of the shard has begun a newer timeline: nothing is appended, and this lane will hear of it.
    return host.judge().item_appended(host.disks(), life_, action, held->second, ~std::uint64_t{0});
  }
  host.judge().item_appended(host.disks(), life_, action, held->second, journal.records.size() + 1);
  journal.records.push_back({id(), action.ticket, action.chunk, action.item, action.version, action.factors,
                             action.marks, held->second.payload, action.staleness});
  if (host.traces()) {
    host.say(name() + " appends step " + std::to_string(held->second.step) + " slot " +
             std::to_string(held->second.node.begin) + " of chunk " + std::to_string(action.chunk) +
             " to the journal, " + std::to_string(action.staleness) + " updates stale");
  }
  write_journal(host);
}

// What comes while a group is being written makes the next one.
void LaneShell::write_journal(Host& host) {
  auto& journal = disk(host).journal;
  if (journal.writes || journal.written == journal.records.size()) {
    return;
  }
  journal.writes = true;
  journal.group = journal.records.size();
  const auto& life = host.life();
  const bool fails = host.write_fails();  // and is tried again
  later(host, within(life.storage_high / 4, fails ? 5 * life.storage_high : 0),
        GroupWrite{journal.timeline, journal.records.size()});
}

void LaneShell::done(Host& host, const GroupWrite& what) {
  auto& journal = disk(host).journal;
  if (journal.timeline != what.timeline) {
    journal.writes = false;
    return write_journal(host);
  }
  journal.written = what.through;
  const bool syncs = host.life().items->journal == LifeItems::Journal::always;
  later(host, syncs ? within(host.life().storage_high / 2) : after(1), GroupCommit{what.timeline, what.through, syncs});
}

void LaneShell::done(Host& host, const GroupCommit& what) {
  auto& journal = disk(host).journal;
  journal.writes = false;
  if (journal.timeline == what.timeline) {
    journal.synced = what.syncs ? std::max(journal.synced, what.through) : journal.synced;
    journal.committed = what.through;
    if (host.traces()) {
      host.say("shard " + std::to_string(shard(host)) + "'s journal is committed up to " +
               std::to_string(what.through));
    }
    tell_committed(host, what.through);
    if (host.life().items->journal == LifeItems::Journal::interval) {
      sync_later(host);
    }
  }
  write_journal(host);
}

// Each lane of the server hears of its own.
void LaneShell::tell_committed(Host& host, std::size_t through) {
  const auto& records = disk(host).journal.records;
  for (std::uint32_t i = 0; i < host.life().lanes; ++i) {
    const auto lane = host.lane_id(shard(host) * host.life().lanes + i, life_.incarnation);
    std::uint64_t ticket = 0;
    for (std::size_t record = 0; record < through; ++record) {
      ticket = records[record].process == lane ? records[record].ticket : ticket;
    }
    if (ticket > 0) {
      host.later(lane, within(200), LanePending{CommitAnswer{ticket, through}});
    }
  }
}

void LaneShell::sync_later(Host& host) {
  const auto& journal = disk(host).journal;
  later(host, within(10 * host.life().storage_high), JournalSync{journal.timeline, journal.written});
}

void LaneShell::done(Host& host, const JournalSync& what) {
  auto& journal = disk(host).journal;
  if (journal.timeline == what.timeline) {
    journal.synced = std::max(journal.synced, what.through);
  }
}

void LaneShell::act(Host& host, lane::SyncJournal& action) {
  later(host, within(host.life().storage_high), CutSync{action.timeline, action.before});
}

void LaneShell::done(Host& host, const CutSync& what) {
  auto& journal = disk(host).journal;
  if (journal.timeline != what.timeline || what.timeline != beginning_) {
    return;
  }
  if (host.write_fails()) {  // and is tried again
    return later(host, within(host.life().storage_high), what);
  }
  journal.synced = std::max(journal.synced, journal.written);
  if (host.traces()) {
    host.say("shard " + std::to_string(shard(host)) + "'s journal is synced with all items before " +
             std::to_string(what.before));
  }
  step(host, lane::JournalSynced{what.timeline, what.before});
}

void LaneShell::done(Host& host, const CommitAnswer& what) { step(host, lane::Committed{what.ticket, what.sequence}); }

// ---- what is found again

void LaneShell::act(Host& host, lane::Resume& action) {
  state_.move(host.facts().lane, LaneState::resuming);
  beginning_ = action.timeline;
  later(host, on_disk(host.life().storage_high), LifeRecord{action.timeline, action.base});
}

// If another lane has begun a newer timeline the journal is that one's, and this lane will hear of it.
bool LaneShell::is_resuming(Host& host, Timeline timeline) {
  return beginning_ == timeline && disk(host).journal.timeline == timeline;
}

void LaneShell::done(Host& host, const LifeRecord& what) {
  if (is_resuming(host, what.timeline)) {
    disk(host).journal.record_life(life_.incarnation);
    later(host, on_disk(host.life().storage_high / 2), JournalReading{what.timeline, what.base});
  }
}

void LaneShell::done(Host& host, const JournalReading& what) {
  if (is_resuming(host, what.timeline)) {
    replay(host, what.timeline, what.base);
  }
}

void LaneShell::replay(Host& host, Timeline timeline, SnapshotId base) {
  life_.timeline = timeline;
  const auto values = put_base_in_place(host, base);
  const auto& life = host.life();
  const auto& journal = disk(host).journal;
  lane::Resumed resumed{timeline, base.step, {}, {}, journal.committed};
  std::vector<JournalRecord> found;
  for (std::size_t i = 0; i < journal.committed; ++i) {
    const auto& record = journal.records[i];
    if (!owns(record.chunk) || record.version < life.updates(base.step)) {
      continue;
    }
    auto& chunk = chunks_.at(record.chunk);
    const bool is_statistics = record.chunk == life.statistics();
    const Update update{record.chunk, record.item / life.slots, static_cast<Slot>(record.item % life.slots),
                        record.staleness};
    chunk.value = is_statistics ? statistics_value(record.version + 1)
                                : apply(life, update, chunk.value, record.payload, record.factors);
    put_weights_in_place(chunk, record.version + 1);
    StepStatistics part;
    if (is_statistics && !record.factors.skip) {
      part = statistics(record.item / life.slots, record.payload.value);
    }
    resumed.updates.push_back({record.chunk, record.item, part});
    resumed.marks.insert(resumed.marks.end(), record.marks.begin(), record.marks.end());
    found.push_back(record);
  }
  if (host.traces()) {
    host.say(name() + " goes on in timeline " + std::to_string(timeline) + " from snapshot " + words(base) + " and " +
             std::to_string(found.size()) + " updates of its journal");
  }
  host.judge().resumed(host.disks(), life_, base, values, found);
  step(host, std::move(resumed));
}

}  // namespace ballast::simulation
