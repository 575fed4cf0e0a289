// The journal's thread and its queue. All that changes files, but the removal of old segments, happens on this thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "storage/journal/disk_wait.h"
#include "storage/journal/journal.h"
#include "storage/journal/journal_files.h"
#include "storage/journal/journal_remover.h"
#include "storage/journal/journal_scan.h"
#include "storage/journal/journal_segments.h"
#include "storage/journal/journal_tail.h"

namespace ballast {

// Where a journal is, and how it is reached.
struct JournalPlace {
  JournalFiles& files;
  std::filesystem::path folder;
  std::unique_ptr<JournalLock> lock;
};

// Journal, behind its interface. What is scanned has been mended: its end is whole, and synced.
//
// More than 15 fields, for it is where the journal's thread and its callers meet: who may touch which field, and under
// which lock, is told beside each. What has a subject of its own is in JournalTail, JournalSegments and JournalRemover.
class JournalWriter {
 public:
  JournalWriter(JournalPlace place, JournalOwner owner, const JournalOptions& options, JournalEvents events,
                const JournalScan& scan);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // What Journal says of each.
  [[nodiscard]] const JournalRecovery& recovery() const { return recovery_; }
  [[nodiscard]] Timeline timeline() const;
  [[nodiscard]] JournalSequence appended() const;
  [[nodiscard]] JournalSequence committed() const;
  [[nodiscard]] JournalSequence synced() const;
  [[nodiscard]] std::vector<ShardLife> lives() const;
  [[nodiscard]] JournalCounters counters() const;
  [[nodiscard]] JournalDisk disk() const { return disk_.so_far(); }
  [[nodiscard]] std::string trouble() const;
  StoreStatus begin(Timeline timeline);
  StoreStatus record_life(Incarnation incarnation);
  JournalSequence append(const JournalRecord& record);
  void sync_soon();
  StoreStatus sync();
  [[nodiscard]] StoreStatus replay(const Journal::Visitor& visit) const;
  void rotate() { rotate_ = true; }
  void release_before(std::uint64_t item);

 private:
  using Clock = std::chrono::steady_clock;

  // How far it is.
  struct Progress {
    Timeline timeline = 0;
    JournalSequence committed = 0;
    JournalSequence synced = 0;
    std::vector<ShardLife> lives;
  };
  // Something a caller waits for.
  struct Command {
    std::function<StoreStatus()> act;
    StoreStatus result;
    bool done = false;
  };
  StoreStatus execute(std::function<StoreStatus()> act);

  // On the journal's thread; with the lock if it is passed or named, without it otherwise.
  void run();
  void run_command(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool has_work() const;  // locked
  [[nodiscard]] bool sync_due() const;
  [[nodiscard]] bool sync_wanted() const { return wanted_sync_ > progress_.synced; }  // locked
  void tell_synced();
  [[nodiscard]] std::optional<Clock::time_point> next_look() const;  // locked
  void take_group();
  StoreStatus work();
  StoreStatus write_all();
  StoreStatus write_down();
  StoreStatus write_group();
  StoreStatus check_room();
  StoreStatus sync_tail();
  StoreStatus prepare_tail();
  StoreResult<std::unique_ptr<JournalTail>> make_tail(const JournalHeader& header, const JournalCarry& carry);
  StoreStatus replace_tail(const JournalHeader& header);
  void retire(std::unique_ptr<JournalTail> old);  // locked
  void drop_all();                                // locked
  void conclude(const StoreStatus& status);
  void tell_trouble(const std::string& text);
  StoreStatus begin_now(Timeline timeline);
  StoreStatus record_life_now(Incarnation incarnation);

  JournalPlace place_;
  const JournalOwner owner_;
  const JournalOptions options_;
  const JournalEvents events_;
  JournalRecovery recovery_;
  mutable JournalRemover remover_;
  std::atomic<bool> rotate_ = false;

  DiskWait disk_;

  // Only the journal's thread.
  std::unique_ptr<JournalTail> tail_;  // none until something is written
  std::uint64_t number_ = 0;           // of the newest segment
  std::deque<JournalEntry> group_;     // being written, or to be tried again
  Clock::time_point retry_at_{};
  Clock::time_point next_sync_{};
  JournalSequence told_synced_ = 0;  // to `synced`

  // Changed by the journal's thread alone, under the mutex: it reads them without.
  mutable std::mutex mutex_;
  Progress progress_;
  JournalSegments segments_;  // release_before() is for any thread
  std::string trouble_;
  JournalCounters counters_;
  std::optional<Clock::time_point> busy_since_;

  // Guarded by the mutex.
  JournalSequence appended_ = 0;
  JournalSequence wanted_sync_ = 0;  // up to this record, soon
  std::deque<JournalEntry> pending_;
  std::deque<Command*> commands_;
  bool ending_ = false;
  std::condition_variable changed_;
  std::condition_variable done_;

  std::thread thread_;
};

}  // namespace ballast
