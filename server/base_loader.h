// What a lane's weights begin with: the base of a timeline, and the updates of the journal on top of it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/job/job.h"
#include "common/net/mailbox.h"
#include "common/net/turn.h"
#include "protocol/lane/lane.h"
#include "server/load_window.h"
#include "server/shard_storage.h"
#include "server/weights.h"

namespace ballast {

// The storage thread reads and passes on, and waits while the lane has much to put in place; the lane's thread puts in
// place, a turn's worth at a time. What was read for an older timeline than the one that begins is dropped.
class BaseLoader {
 public:
  // With more nothing would be faster.
  static constexpr std::uint64_t kLargestWindow = 64U << 20U;

  // `chunks` are the lane's. `has_initial_snapshot`: the weights before step 0 are in the database, not drawn from the
  // seed. `window`: bytes that are read and not yet in place.
  BaseLoader(const Job& job, const std::vector<ChunkId>& chunks, bool has_initial_snapshot,
             std::uint64_t window = kLargestWindow);

  // ---- the lane's thread

  // Installs the base's weights, as far as they need not be loaded. Returns the chunks that are to be loaded.
  std::vector<ShardStorage::ChunkShape> begin(Timeline timeline, SnapshotId base, LaneWeights& weights);
  // Puts more of it in place: at least one thing, and no more than the turn takes on. The text: the journal lacks an
  // update. What comes after it is dropped, up to the next begin().
  std::optional<std::string> load(LaneWeights& weights, Turn& turn);
  // Whether something has been taken over that is not in place yet.
  [[nodiscard]] bool has_more(const LaneWeights& weights) const { return !to_load_.empty() || weights.has_to_draw(); }
  [[nodiscard]] std::uint64_t waiting_bytes() const { return window_.taken(); }
  [[nodiscard]] SnapshotId beginning() const { return beginning_; }
  // What has been replayed since begin(), once; nothing if `timeline` is another one, or an update was missing.
  std::optional<lane::Resumed> replayed(Timeline timeline);
  // Of every chunk, where a snapshot of that step is taken.
  [[nodiscard]] Version version_at(Step step) const { return step * updates_per_step_; }
  [[nodiscard]] int fd() const { return loaded_.fd(); }
  // Nothing is taken any more: the storage thread must not wait for it.
  void close() { window_.close(); }

  // ---- the storage thread; false: nothing is wanted any more

  bool pass_on(Timeline timeline, ShardStorage::LoadedChunk chunk);
  bool pass_on(Timeline timeline, const JournalRecord& record);

 private:
  // An update of the journal, which owns its payload.
  struct Update {
    JournalRecord record;
    std::vector<std::byte> payload;
  };
  struct Loaded {
    Timeline timeline = 0;
    std::uint64_t bytes = 0;  // of the window
    std::variant<ShardStorage::LoadedChunk, Update> content;
  };

  std::optional<std::string> take(Loaded& loaded, LaneWeights& weights, Turn& turn);
  std::optional<std::string> put(const ShardStorage::LoadedChunk& chunk, LaneWeights& weights, Turn& turn) const;
  std::optional<std::string> put(const Update& update, LaneWeights& weights, Turn& turn);
  void note(const JournalRecord& record, const LaneWeights& weights);

  const Job& job_;
  const std::set<ChunkId> chunks_;
  const bool has_initial_snapshot_;
  const Version updates_per_step_;
  LoadWindow window_;
  Mailbox<Loaded> loaded_;
  std::deque<Loaded> to_load_;  // taken from loaded_, to be put in place in this turn or a later one
  SnapshotId beginning_;        // the timeline that begins or is gone on with, and the step of its base
  lane::Resumed resumed_;       // as far as it has been replayed
  bool lacks_update_ = false;
};

}  // namespace ballast
