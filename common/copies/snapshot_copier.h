// Copies of a shard's complete snapshots to another place, made in the background while the job goes on.
//
// One thread, one snapshot at a time. Of several that wait the newest is copied and the others are left out; one that
// was deleted before its copy was done is left out as well. A failure is logged and counted, never more: the next
// snapshot tries again. Memory: one record, and with S3 one part of 16 MiB.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/copies/format.h"
#include "common/copies/place.h"
#include "common/metrics/series.h"
#include "common/store/shard_store.h"

namespace ballast {

struct CopierSettings {
  std::uint32_t keep = 2;  // complete sets that stay in the place; older ones go
  std::size_t chunks = 0;  // of each snapshot in this shard: a copy of fewer is none
};

class SnapshotCopier {
 public:
  // `store` has its identity, and outlives the copier.
  SnapshotCopier(const ShardStore& store, std::unique_ptr<CopyPlace> place, CopierSettings settings, CopySeries series);
  // Gives up the copy at hand.
  ~SnapshotCopier();
  SnapshotCopier(const SnapshotCopier&) = delete;
  SnapshotCopier& operator=(const SnapshotCopier&) = delete;

  // `snapshot` is complete, and durable in this shard. Returns at once; from any thread.
  void copy(const SnapshotId& snapshot);
  // Waits until nothing is left to copy, so long at most: for the last snapshot, at the job's end. False: something is.
  bool drain(std::chrono::milliseconds at_most);
  // Why the newest copy failed; empty if it did not. From any thread.
  [[nodiscard]] std::string trouble() const;

 private:
  void work();
  void copy_one(const SnapshotId& snapshot);
  void note_failure(const SnapshotId& snapshot, const std::string& why);
  StoreStatus write_object(const CopyName& name, bool& vanished);
  StoreStatus write_snapshot(CopyEncoder& encoder, const SnapshotId& snapshot, bool& vanished);
  StoreStatus write_ledger(CopyEncoder& encoder, const SnapshotId& snapshot);
  StoreStatus remove_old(const std::string& job);
  [[nodiscard]] StoreStatus ending() const;

  const ShardStore& store_;
  std::unique_ptr<CopyPlace> place_;
  CopierSettings settings_;
  CopySeries series_;
  mutable std::mutex mutex_;
  std::string trouble_;
  std::condition_variable changed_;
  std::optional<SnapshotId> next_;
  std::optional<SnapshotId> done_;  // the newest
  bool busy_ = false;
  std::atomic<bool> ending_ = false;
  std::thread thread_;  // last: it uses what is above
};

}  // namespace ballast
