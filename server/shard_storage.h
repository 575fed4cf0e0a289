// What the lanes of a shard have written to its database and read from it, in the background.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/arena/arena.h"
#include "protocol/ids.h"
#include "server/background.h"
#include "server/disk_room.h"
#include "server/fault.h"
#include "server/shard_journal.h"
#include "storage/store/shard_store.h"

namespace ballast {

// One lane's part of a snapshot on its way to the disk.
struct SnapshotPart {
  SnapshotId id;
  Micros begun = 0;
  std::uint64_t bytes = 0;  // counted by the lane, until it is sealed
  StoreStatus status;       // the first failure; the background thread's
};

// Thread-safe. Callbacks come from the background thread, in the order in which the work was given; but that a lane has
// gone on is told when the journal was read for all. What cannot be left out waits for room on a full disk, and so does
// all that was given after it; snapshots fail.
class ShardStorage {
 public:
  // A chunk of a timeline's base.
  struct LoadedChunk {
    ChunkId chunk = 0;
    ChunkTensors tensors;
  };
  struct ChunkShape {
    ChunkId chunk = 0;
    std::size_t elements = 0;
    std::size_t states = 0;
  };
  using Done = std::function<void(const StoreStatus&)>;
  // Takes a chunk of the base; waits until there is memory for it; false: it wants no more.
  using Load = std::function<bool(LoadedChunk)>;
  // Gets the shard's part of a snapshot that the database lacks, as long as it is wanted; `missing`: it cannot be had.
  using Fetch = std::function<StoreStatus(SnapshotId, const std::function<bool()>& wanted)>;
  // The same of an update of the journal.
  using Replayed = std::function<bool(const JournalRecord&)>;

  // `journal` may be null: then there is none. `lanes` have parts of each snapshot. Without `fetch` a base that the
  // database lacks is a damage of it.
  ShardStorage(ShardStore& store, ShardJournal* journal, DiskRoom& room, Incarnation incarnation, std::uint32_t lanes,
               Fetch fetch = {})
      : store_(store),
        journal_(journal),
        room_(room),
        incarnation_(incarnation),
        lanes_(lanes),
        fetch_(std::move(fetch)) {}

  // Fetches the timeline's base where the database lacks it (`missing` if it cannot be had), makes the timeline durable
  // as the one that this shard serves, then reads the chunks of the base. Snapshots of older
  // timelines that are still to be written are given up, and so is a beginning or a going on once there is another
  // lane's of a newer timeline: its lane, which hears of that as well, is not told that it is done.
  void begin(Timeline timeline, SnapshotId base, std::vector<ChunkShape> chunks, Load load, Done done);
  // Goes on with a timeline: makes this life durable in the journal, then reads the chunks of the snapshot and what the
  // journal has, in order: once for all lanes that have asked before it is read. A lane that wants no more of it is not
  // told that it is done.
  void resume(Timeline timeline, SnapshotId base, std::vector<ChunkShape> chunks, Load load, Replayed replayed,
              Done done);
  // `weights` and `states` stay unchanged until `written`.
  void write_chunk(const std::shared_ptr<SnapshotPart>& part, ChunkId chunk, std::span<const float> weights,
                   std::vector<std::span<const float>> states, std::function<void()> written);
  // Makes the part durable; the last one of all lanes makes the snapshot one that the shard can go on from.
  void seal(const std::shared_ptr<SnapshotPart>& part, Done done);
  // Deletes older snapshots than the newest of `keep` that are not among them, and what the journal has before
  // `applied`; nothing if any lane has begun a newer timeline.
  void retain(Timeline timeline, std::vector<SnapshotId> keep, ItemId applied);
  void record_finish(SnapshotId end, Done done);

 private:
  // A lane that has its base, and waits for the journal.
  struct Resuming {
    Timeline timeline = 0;
    Replayed replayed;
    Done done;
  };

  void replay();
  void note(Timeline timeline);
  StoreStatus seal_part(SnapshotId id);
  StoreStatus await(Timeline timeline, const DiskRoom::Attempt& attempt);
  StoreStatus bring_base(Timeline timeline, SnapshotId base);
  StoreStatus read_base(Timeline timeline, SnapshotId base, const std::vector<ChunkShape>& chunks, const Load& load);

  ShardStore& store_;
  ShardJournal* journal_;
  DiskRoom& room_;
  Incarnation incarnation_;
  std::uint32_t lanes_;
  Fetch fetch_;
  std::map<SnapshotId, std::uint32_t> sealed_;  // parts, of snapshots that are not whole; the background thread's
  std::vector<Resuming> resuming_;              // the background thread's
  std::atomic<Timeline> newest_ = 0;
  Background background_{"storage: "};
};

}  // namespace ballast
