#include "server/shard_journal.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "common/job/shard_bytes.h"
#include "common/log/log.h"
#include "storage/store/rocksdb_limits.h"

namespace ballast {

namespace {

constexpr std::uint64_t kLowRooms = 2;  // free room for fewer snapshots is told

// For the tensors of a snapshot of this shard, and for the log that they go through.
std::uint64_t room_for_a_snapshot(const Job& job, std::uint32_t shard) {
  const auto snapshot = bytes_of_shards(job).at(shard).snapshot;
  return snapshot + std::min(snapshot, kLogBytes);
}

JournalOptions options_of(const Job& job, std::uint32_t shard) {
  const auto& durability = job.spec.durability;
  JournalOptions options;
  options.kept_back = room_for_a_snapshot(job, shard);
  options.sync = durability.fsync == Fsync::always  ? JournalSync::always
                 : durability.fsync == Fsync::never ? JournalSync::never
                                                    : JournalSync::interval;
  options.interval = std::chrono::milliseconds(durability.fsync_interval_ms);
  return options;
}

void tell_trouble(const std::string& text) {
  if (text.empty()) {
    log_info("the journal can be written again");
  } else {
    log_warn("the journal cannot be written, no update is applied meanwhile: {}", text);
  }
}

JournalRecord record_of(Timeline timeline, const lane::Append& update, const Frame& payload) {
  JournalRecord record;
  record.timeline = timeline;
  record.chunk = update.chunk;
  record.item = update.item;
  record.version = update.version;
  record.factors = update.factors;
  record.marks = update.marks;
  record.staleness = update.staleness;
  record.session = update.session;
  if (!update.factors.skip) {  // otherwise nobody looks at it again
    record.payload = payload.bytes();
  }
  return record;
}

// A snapshot is whole without the journal: there is a way on that the store, which knows none, cannot name.
StoreStatus with_way_on(const StoreStatus& status) {
  if (status.code() != StoreCode::corrupt) {
    return status;
  }
  return {status.code(), status.text() +
                             "; without one, `ballast run --resume RUN_FOLDER --set durability.mode=snapshot` goes on "
                             "from the newest snapshot and loses the updates after it"};
}

}  // namespace

ShardJournal::ShardJournal(const Job& job, const std::string& database, std::uint32_t shard, Incarnation incarnation,
                           Metrics* metrics)
    : folder_(Journal::folder_in(database)),
      owner_{job.spec.job, job.spec_digest, shard},
      options_(options_of(job, shard)),
      incarnation_(incarnation),
      series_(metrics),
      listeners_(job.spec.cluster.lanes) {}

StoreStatus ShardJournal::open(const std::function<bool()>& wanted) {
  auto options = options_;
  options.wanted = wanted;
  auto opened = Journal::open(
      folder_, owner_, options,
      {[this](Timeline timeline, JournalSequence through) { on_committed(timeline, through); }, tell_trouble,
       [this](Timeline timeline, JournalSequence through) { on_synced(timeline, through); }});
  if (!opened.ok()) {
    return with_way_on(opened.status());
  }
  journal_ = std::move(opened.value());
  const auto& found = journal_->recovery();
  if (found.records > 0) {
    log_info("the journal has {} updates of timeline {}", found.records, journal_->timeline());
  }
  if (!found.cut.empty()) {
    log_warn("the end of the journal was not whole and is cut off, {} bytes: {}", found.cut_bytes, found.cut);
  }
  return {};
}

void ShardJournal::listen(std::uint32_t lane, Listener listener) { listeners_.at(lane) = std::move(listener); }

std::vector<ShardLife> ShardJournal::lives(Timeline timeline) const {
  if (timeline == 0 || journal_->timeline() != timeline) {
    return {};
  }
  auto lives = journal_->lives();
  if (lives.empty() || lives.back().incarnation != incarnation_) {
    lives.push_back({incarnation_, journal_->committed()});
  }
  return lives;
}

StoreStatus ShardJournal::begin(Timeline timeline) {
  {
    const std::scoped_lock lock(mutex_);
    if (timeline_ == timeline) {
      return {};
    }
  }
  auto status = journal_->begin(timeline);
  if (status.ok()) {
    status = journal_->record_life(incarnation_);
  }
  if (status.ok()) {
    const std::scoped_lock lock(mutex_);
    timeline_ = timeline;
    entries_.clear();
    waiting_.clear();
  }
  return status;
}

StoreStatus ShardJournal::resume(Timeline timeline) {
  {
    const std::scoped_lock lock(mutex_);
    if (timeline_ == timeline) {
      return {};
    }
  }
  if (journal_->timeline() != timeline) {
    return {StoreCode::mismatch, "the journal is of timeline " + std::to_string(journal_->timeline()) +
                                     " and cannot go on with timeline " + std::to_string(timeline)};
  }
  const auto status = journal_->record_life(incarnation_);
  if (status.ok()) {
    const std::scoped_lock lock(mutex_);
    timeline_ = timeline;
  }
  return status;
}

void ShardJournal::append(std::uint32_t lane, Timeline timeline, const lane::Append& update,
                          std::shared_ptr<const Frame> payload) {
  const auto record = record_of(timeline, update, *payload);
  const std::scoped_lock lock(mutex_);  // the entry is there before the journal says that it is committed
  if (timeline != timeline_) {
    return;
  }
  if (const auto sequence = journal_->append(record); sequence != 0) {
    entries_.push_back({sequence, lane, update.ticket, std::move(payload)});
  }
}

std::string ShardJournal::trouble() const {
  if (auto trouble = journal_->trouble(); !trouble.empty()) {
    return trouble;
  }
  const auto counters = journal_->counters();
  const bool is_low = counters.records > 0 && counters.free_bytes < kLowRooms * options_.kept_back;
  return is_low ? folder_.string() + ": the disk has hardly more free than the " + std::to_string(options_.kept_back) +
                      " bytes that are kept back for a snapshot: the journal stands still when they are reached. Make "
                      "room on it, or set durability.journal_budget_mb lower and resume"
                : std::string();
}

void ShardJournal::update_metrics() {
  const auto counters = journal_->counters();
  series_.records->raise_to(static_cast<double>(counters.records));
  series_.bytes->raise_to(static_cast<double>(counters.bytes));
  series_.groups->raise_to(static_cast<double>(counters.groups));
  series_.syncs->raise_to(static_cast<double>(counters.syncs));
  series_.sync_seconds->raise_to(counters.sync_seconds);
  series_.failures->raise_to(static_cast<double>(counters.failures));
  series_.backlog_bytes->set(static_cast<double>(counters.backlog_bytes));
  series_.segments->set(static_cast<double>(counters.segments));
  series_.disk_bytes->set(static_cast<double>(counters.disk_bytes));
  series_.free_bytes->set(static_cast<double>(counters.free_bytes));
  series_.kept_back_bytes->set(static_cast<double>(options_.kept_back));
}

void ShardJournal::on_committed(Timeline timeline, JournalSequence through) {
  std::map<std::uint32_t, std::uint64_t> tickets;  // the newest, by lane
  {
    const std::scoped_lock lock(mutex_);
    if (timeline != timeline_) {
      return;
    }
    while (!entries_.empty() && entries_.front().sequence <= through) {
      tickets[entries_.front().lane] = entries_.front().ticket;
      entries_.pop_front();
    }
  }
  for (const auto& [lane, ticket] : tickets) {
    listeners_[lane](lane::Committed{ticket, through});
  }
}

void ShardJournal::sync(std::uint32_t lane, const lane::SyncJournal& wanted) {
  const lane::JournalSynced told{wanted.timeline, wanted.before};
  {
    const std::scoped_lock lock(mutex_);  // on_synced() comes after the entry
    if (wanted.timeline != timeline_) {
      return;
    }
    const auto committed = journal_->committed();
    if (journal_->synced() < committed) {
      std::erase_if(waiting_, [&](const Waiting& other) { return other.lane == lane; });
      waiting_.push_back({committed, lane, told});
      return journal_->sync_soon();
    }
  }
  listeners_[lane](told);
}

void ShardJournal::on_synced(Timeline timeline, JournalSequence through) {
  std::vector<Waiting> done;
  {
    const std::scoped_lock lock(mutex_);
    if (timeline != timeline_) {
      return;
    }
    std::erase_if(waiting_, [&](const Waiting& lane) {
      const bool is_done = lane.sequence <= through;
      if (is_done) {
        done.push_back(lane);
      }
      return is_done;
    });
  }
  for (const auto& lane : done) {
    listeners_[lane.lane](lane.told);
  }
}

}  // namespace ballast
