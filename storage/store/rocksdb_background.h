// What goes on in a RocksDB database beside the calls to it.
#pragma once

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "storage/journal/synced_mark.h"
#include "storage/store/write_stalls.h"

namespace ballast {

// What RocksDB does on its own threads.
class RocksdbEvents final : public rocksdb::EventListener {
 public:
  RocksdbEvents(std::unique_ptr<SyncedMark> mark, std::shared_ptr<WriteStalls> stalls)
      : mark_(std::move(mark)), stalls_(std::move(stalls)) {}
  ~RocksdbEvents() override { stalls_->turn(WriteStall::none); }
  RocksdbEvents(const RocksdbEvents&) = delete;
  RocksdbEvents& operator=(const RocksdbEvents&) = delete;

  // The MANIFEST has changed, and files it no longer needs are about to be removed.
  void OnFlushCompleted(rocksdb::DB* /*database*/, const rocksdb::FlushJobInfo& /*info*/) override {
    mark_->cover_manifest();
  }
  void OnCompactionCompleted(rocksdb::DB* /*database*/, const rocksdb::CompactionJobInfo& /*info*/) override {
    mark_->cover_manifest();
  }
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status* status) override {
    stalls_->failed();
    fail(*status);
  }
  void OnStallConditionsChanged(const rocksdb::WriteStallInfo& info) override {
    const auto now = info.condition.cur;
    stalls_->turn(now == rocksdb::WriteStallCondition::kStopped   ? WriteStall::stopped
                  : now == rocksdb::WriteStallCondition::kDelayed ? WriteStall::slowed
                                                                  : WriteStall::none);
  }
  // RocksDB would look for space every few seconds: the next write does.
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*status*/,
                            bool* automatic) override {
    *automatic = false;
  }

  [[nodiscard]] SyncedMark& mark() { return *mark_; }
  // The first failure, of whatever it was; ok: there was none.
  [[nodiscard]] rocksdb::Status failure() const {
    const std::scoped_lock lock(mutex_);
    return failure_;
  }
  void fail(const rocksdb::Status& status) {
    const std::scoped_lock lock(mutex_);
    if (failure_.ok()) {
      failure_ = status;
    }
  }

 private:
  std::unique_ptr<SyncedMark> mark_;
  std::shared_ptr<WriteStalls> stalls_;
  mutable std::mutex mutex_;
  rocksdb::Status failure_;
};

// Compacts ranges of deleted keys, one after the other, on a thread of its own: until then a deleted snapshot still
// takes its space. Ends at once when destroyed.
class Reclaimer {
 public:
  explicit Reclaimer(rocksdb::DB& database) : database_(database), thread_([this] { work(); }) {}
  ~Reclaimer() {
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;

  void add(std::string_view begin, std::string_view end) {
    {
      const std::scoped_lock lock(mutex_);
      ranges_.emplace_back(begin, end);
    }
    changed_.notify_all();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !ranges_.empty(); });
      if (ending_) {
        return;
      }
      const auto [begin, end] = std::move(ranges_.front());
      ranges_.pop_front();
      lock.unlock();
      compact(begin, end);
      lock.lock();
    }
  }

  // A failure (a full disk, say) leaves the space to RocksDB's own compactions.
  void compact(const std::string& begin, const std::string& end) {
    const auto first = rocksdb::Slice(begin);
    const auto last = rocksdb::Slice(end);
    rocksdb::DeleteFilesInRange(&database_, database_.DefaultColumnFamily(), &first, &last, false);
    rocksdb::CompactRangeOptions options;
    options.exclusive_manual_compaction = false;  // or no other compaction would run meanwhile
    options.canceled = &ending_;
    database_.CompactRange(options, &first, &last);
  }

  rocksdb::DB& database_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::string, std::string>> ranges_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace ballast
