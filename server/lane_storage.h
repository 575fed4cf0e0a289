// One lane's side of what its shard writes and reads in the background.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/metrics/series.h"
#include "common/net/mailbox.h"
#include "common/net/socket.h"
#include "common/net/turn.h"
#include "protocol/lane/lane.h"
#include "server/base_loader.h"
#include "server/copy_fetcher.h"
#include "server/shard_journal.h"
#include "server/shard_storage.h"
#include "server/weights.h"
#include "server/worker_tallies.h"
#include "storage/copies/snapshot_copier.h"

namespace ballast {

// What the lanes of a shard share; all of it outlives them, but `storage` and `journal` are destroyed before them:
// their threads call back.
struct ShardServices {
  ShardStorage& storage;
  ShardJournal* journal = nullptr;    // null if updates are not journaled
  SnapshotCopier* copier = nullptr;   // null where no snapshots are copied
  CopyFetcher* fetcher = nullptr;     // null where nothing comes from copies; destroyed before them, like the journal
  bool has_initial_snapshot = false;  // the weights before step 0 are in the database, not drawn from the seed
  std::function<std::string()> trouble;  // what goes wrong in the shard while the job goes on; empty: nothing
  // A lane lets the server go that was told to end.
  std::function<void(const lane::Leave&)> left = {};
  std::shared_ptr<WorkerTallies> tallies = {};  // null: each lane has its own
};

// The lane's thread asks; answers come as events of its core, from other threads. One lane of the shard speaks for it
// where only one must: they share the database. The lane that is not there any more takes nothing: close().
class LaneStorage {
 public:
  static constexpr SessionId kReader = 0;  // who reads a buffer that is being written: no reply has this number

  // `memory_bytes`: that the lane has for contributions, none of which come while it loads.
  LaneStorage(const Job& job, ShardServices services, std::uint32_t lane, const std::vector<ChunkId>& chunks,
              std::uint64_t memory_bytes);

  [[nodiscard]] std::uint32_t lane() const { return lane_; }
  template <typename Poll>
  void add_to(Poll& poll) const {
    poll.add(loader_.fd());
    poll.add(told_.fd());
  }
  void close() { loader_.close(); }

  void begin(const lane::Begin& action, LaneWeights& weights);
  void resume(const lane::Resume& action, LaneWeights& weights);
  void append(Timeline timeline, const lane::Append& action, std::shared_ptr<const Frame> payload);
  void sync(const lane::SyncJournal& action);
  // Nothing is copied: while the chunk is being written, an update takes other buffers for its weights and copies its
  // state. `releases` is told of each buffer that is not read any more, as kReader's.
  void take_snapshot(const lane::TakeSnapshot& action, LaneWeights& weights, ReleaseQueue& releases, Micros now);
  void seal_snapshot(const lane::SealSnapshot& action, const SnapshotSeries& series, Micros now);
  void retain(const lane::Retain& action);
  void record_finish(const lane::RecordFinish& action);
  // What the shard's journal has waited for its disk; nothing where there is none.
  [[nodiscard]] JournalDisk journal_disk() const {
    return services_.journal != nullptr ? services_.journal->disk() : JournalDisk{};
  }
  // How far the copy of a snapshot is; of lane 0 alone.
  void copy(const lane::Copy& action);
  [[nodiscard]] std::optional<CopyProgress> copied() const;

  // Puts in place what was read, as far as the turn goes. The event: it cannot go on.
  std::optional<lane::StorageFailed> load(LaneWeights& weights, Turn& turn);
  // The next event for the core, once everything that it rests on is in place.
  std::optional<lane::Event> next_event(const LaneWeights& weights);
  // Something is left that was taken on already.
  [[nodiscard]] bool has_more(const LaneWeights& weights) const {
    return loader_.has_more(weights) || !events_.empty();
  }
  // Read, and not in place yet.
  [[nodiscard]] std::uint64_t unplaced_bytes() const { return loader_.waiting_bytes(); }
  // The step that the timeline's weights are loaded from.
  [[nodiscard]] Step base() const { return loader_.beginning().step; }
  void update_metrics();
  [[nodiscard]] const std::shared_ptr<WorkerTallies>& tallies() const { return services_.tallies; }

 private:
  void tell(const StoreStatus& status, lane::Event done);
  void begun(Timeline timeline, SnapshotId base, const StoreStatus& status);
  [[nodiscard]] bool speaks_for_shard() const { return lane_ == 0; }

  ShardServices services_;
  const std::uint32_t lane_;
  Mailbox<lane::Event> told_;       // by other threads
  std::deque<lane::Event> events_;  // taken from told_
  BaseLoader loader_;
  std::map<SnapshotId, std::shared_ptr<SnapshotPart>> parts_;  // taken, not sealed
};

}  // namespace ballast
