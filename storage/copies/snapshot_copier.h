// Copies of a shard's complete snapshots to another place, made in the background while the job goes on.
//
// One thread, one snapshot at a time: the one that the lead has named, which stays in the database until another one
// is. A failure is logged, counted and told, and tried again. Memory: one record or two blocks of losses, and with S3
// one part of 16 MiB. Nothing of the database is held open while the place is waited for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/metrics/series.h"
#include "protocol/messages.h"
#include "storage/copies/claim.h"
#include "storage/copies/format.h"
#include "storage/copies/losses_copy.h"
#include "storage/copies/place.h"
#include "storage/store/shard_store.h"

namespace ballast {

struct CopierSettings {
  std::uint32_t keep = 2;  // complete sets of the run that stay in the place; older ones go
  std::size_t chunks = 0;  // of each snapshot in this shard: a copy of fewer is none
  std::chrono::milliseconds retry{
      1'000};  // after a failure; twice as long after each further one, half a minute at most
  std::chrono::milliseconds hold_missed{10'000};  // so long a shard looks for shard 0's hold before that is trouble
  std::chrono::milliseconds hold_fails{90'000};   // and then a failure: longer than caches of names keep what is not
  std::chrono::milliseconds look{10'000};         // from one look at the run's name to the next, while others copy
};

class SnapshotCopier {
 public:
  // `store` has its identity, and outlives the copier.
  SnapshotCopier(const ShardStore& store, std::unique_ptr<CopyPlace> place, CopierSettings settings, CopySeries series);
  // Gives up the copy at hand.
  ~SnapshotCopier();
  SnapshotCopier(const SnapshotCopier&) = delete;
  SnapshotCopier& operator=(const SnapshotCopier&) = delete;

  // The newest word of the lead: copies this shard's part of `named`, and gives up that of any other. Shard 0 removes
  // what is of no use any more, of all shards. Returns at once; from any thread.
  void follow(const CopyState& copies);
  // Waits until nothing is left to remove, so long at most: at the job's end. False: something is.
  bool drain(std::chrono::milliseconds at_most);
  [[nodiscard]] CopyProgress progress() const;
  // Why the newest attempt failed; empty if it did not. From any thread.
  [[nodiscard]] std::string trouble() const;

 private:
  using Clock = std::chrono::steady_clock;
  // What the thread does next.
  enum class Work : std::uint8_t { none, clean, copy };

  void work();
  [[nodiscard]] Work next() const;
  void copy_named(const CopyState& copies);
  StoreStatus copy(const CopyState& copies);
  void clean(const CopyState& copies);
  void note_failure(const SnapshotId& snapshot, const std::string& why);
  void note_done(const CopyName& name);
  // Whether objects of the run may be written and removed. Asked anew for each snapshot: the job of a copied folder may
  // take the name while this one goes on.
  StoreResult<bool> may_touch(const CopyState& copies, const Identity& identity);
  StoreResult<bool> claim_run(const CopyState& copies, const std::string& run);
  StoreResult<bool> find_hold(const CopyState& copies, const std::string& run);
  void look_again(const CopyState& copies, const Identity& identity);
  // `gone`: the snapshot is not in the database any more.
  StoreStatus write_copy(const CopyName& name, bool& gone);
  StoreStatus write_object(const CopyName& name, bool& gone);
  StoreStatus write_snapshot(CopyEncoder& encoder, const CopyName& name, bool& gone);
  StoreStatus write_ledger(CopyEncoder& encoder, const SnapshotId& snapshot);
  StoreStatus remove_superseded(const CopyState& copies);
  [[nodiscard]] bool given_up(RunId run, const SnapshotId& snapshot) const;
  void count(std::uint64_t bytes);

  const ShardStore& store_;
  std::unique_ptr<CopyPlace> place_;
  CopierSettings settings_;
  CopySeries series_;
  LossesCopy losses_;  // the thread's
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  CopyState copies_;   // the newest word
  CopyState cleaned_;  // the one by which this shard has removed what it may
  CopyProgress progress_;
  Clock::time_point retry_at_;
  std::string trouble_;
  bool ending_ = false;
  std::optional<Clock::time_point> looking_since_;  // for a hold
  std::thread thread_;                              // last: it uses what is above
};

}  // namespace ballast
