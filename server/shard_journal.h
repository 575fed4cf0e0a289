// A shard's journal as its lanes share it: one order of records for all of them, each lane told of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/job/job.h"
#include "common/metrics/series.h"
#include "common/net/socket.h"
#include "protocol/lane/lane.h"
#include "storage/journal/journal.h"

namespace ballast {

// Thread-safe but for open(), listen() and the destructor. Lanes that listen outlive it.
class ShardJournal {
 public:
  using Listener = std::function<void(lane::Event)>;

  // The journal beside the shard's database.
  ShardJournal(const Job& job, const std::string& database, std::uint32_t shard, Incarnation incarnation,
               Metrics* metrics);

  // Reads and checks what is there, as long as that is wanted. Before all else; again if it failed.
  StoreStatus open(const std::function<bool()>& wanted = {});

  // Whether there was none when it was opened.
  [[nodiscard]] bool is_new() const { return journal_->recovery().segments == 0; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  // What becomes of a lane's updates is told to; called from the journal's thread. Before its first append.
  void listen(std::uint32_t lane, Listener listener);

  // The shard's lives in the timeline, oldest first, this one last; empty if the journal is of another timeline. Of one
  // more than kMaxShardLives the journal does not take the last, this one: a new timeline is to begin.
  [[nodiscard]] std::vector<ShardLife> lives(Timeline timeline) const;

  // The timeline begins with this life, or goes on with it; durable when it returns ok. What a second lane of the shard
  // asks for has been done.
  StoreStatus begin(Timeline timeline);
  StoreStatus resume(Timeline timeline);

  // Keeps the payload until it is committed. Of another timeline than the journal's: nothing happens.
  void append(std::uint32_t lane, Timeline timeline, const lane::Append& update, std::shared_ptr<const Frame> payload);

  // All that is committed by now is synced as soon as the disk lets it be; then the lane is told so.
  void sync(std::uint32_t lane, const lane::SyncJournal& wanted);

  // A few times a second, by one thread.
  void update_metrics();

  // As Journal has them.
  [[nodiscard]] StoreStatus replay(const Journal::Visitor& visit) const { return journal_->replay(visit); }
  [[nodiscard]] JournalSequence committed() const { return journal_->committed(); }
  [[nodiscard]] JournalSequence synced() const { return journal_->synced(); }
  void rotate() { journal_->rotate(); }
  void release_before(ItemId item) { journal_->release_before(item); }
  // What keeps it from committing, or soon will.
  [[nodiscard]] std::string trouble() const;
  [[nodiscard]] JournalDisk disk() const { return journal_->disk(); }
  // That the write or sync in flight has taken.
  [[nodiscard]] std::chrono::duration<double> busy() const {
    return std::chrono::duration<double>(journal_->counters().busy_seconds);
  }

 private:
  // Appended, and not known to be committed.
  struct Entry {
    JournalSequence sequence = 0;
    std::uint32_t lane = 0;
    std::uint64_t ticket = 0;
    std::shared_ptr<const Frame> payload;
  };

  // Wants to hear that so much is synced.
  struct Waiting {
    JournalSequence sequence = 0;
    std::uint32_t lane = 0;
    lane::JournalSynced told;
  };

  void on_committed(Timeline timeline, JournalSequence through);
  void on_synced(Timeline timeline, JournalSequence through);

  const std::filesystem::path folder_;
  const JournalOwner owner_;
  const JournalOptions options_;
  Incarnation incarnation_;
  JournalSeries series_;
  std::vector<Listener> listeners_;   // by lane
  std::mutex mutex_;                  // of what follows; never held while the journal waits
  Timeline timeline_ = 0;             // of the entries, and of this life; 0: it has neither begun nor gone on with one
  std::deque<Entry> entries_;         // ascending
  std::vector<Waiting> waiting_;      // at most one of a lane
  std::unique_ptr<Journal> journal_;  // last: its thread uses what is above
};

}  // namespace ballast
