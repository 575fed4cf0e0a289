// The thread of one lane: sockets, buffers and time around the Lane core.
//
// Order within one turn: what the core and the storage left to go on with, what came from workers, from the lead, from
// other threads (bytes let go, storage done), then the tick. Actions are carried out in the order in which the core
// gave them. A turn is bounded (common/net/turn.h), and so is what the core asks for in answer to one event.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "common/copies/snapshot_copier.h"
#include "common/job/job.h"
#include "common/net/lead_reach.h"
#include "common/net/socket.h"
#include "common/net/turn.h"
#include "common/protocol/lane.h"
#include "common/wire/wire.h"
#include "server/lane_metrics.h"
#include "server/load_window.h"
#include "server/shard_journal.h"
#include "server/shard_storage.h"
#include "server/weights.h"

namespace ballast {

class LaneLoop {
 public:
  // What goes wrong in the shard while the job goes on, for the lane's reports; empty: nothing.
  using ShardTrouble = std::function<std::string()>;

  // Binds at once, so that config.address can be filled in. `job` is shared and outlives the loop; `storage`, which is
  // shared too, is destroyed before it: its thread calls back; and so is `journal`, null if there is none. `copier`,
  // null where no snapshots are copied, outlives the loop. `has_initial_snapshot`: the weights before step 0 are in the
  // database, not drawn from the seed.
  LaneLoop(zmq::context_t& context, const Job& job, LaneConfig config, const std::string& bind_address,
           const std::string& advertised_host, const std::string& lead_address, ShardStorage& storage,
           ShardJournal* journal, bool has_initial_snapshot, SnapshotCopier* copier, ShardTrouble shard_trouble,
           Metrics* metrics);
  ~LaneLoop();

  // Until the job ends or cannot go on: the reason, empty if it finished. Called from the lane's own thread.
  std::string run();
  // From any thread: ends run() soon.
  void interrupt(std::string reason);
  // Closes the sockets. Bytes they still send belong to this object: close the context before destroying it.
  void close();

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const std::shared_ptr<Gate>& gate() const { return router_.gate(); }

 private:
  void turn(Poll& poll);
  [[nodiscard]] bool has_more() const;
  void tell_copy(Micros now);
  void tell_reach(Micros now);
  void receive_from_workers();
  void receive_from_lead();
  [[nodiscard]] std::string difference_from(const std::string& leads_job) const;
  void refuse(const std::string& peer, const Refused& refused);
  void note_refusal(const Message& message);
  void feed(const lane::Event& event);
  void carry_out(lane::SendToWorker& action);
  void carry_out(lane::SendWeights& action);
  void carry_out(lane::SendToLead& action);
  void carry_out(lane::Sum& action);
  void carry_out(lane::Drop& action);
  void carry_out(lane::Measure& action);
  void carry_out(lane::Apply& action);
  void carry_out(lane::Append& action);
  void carry_out(lane::Begin& action);
  void carry_out(lane::Resume& action);
  void carry_out(lane::TakeSnapshot& action);
  void carry_out(lane::SealSnapshot& action);
  void carry_out(lane::Retain& action);
  void carry_out(lane::Copy& action);
  void carry_out(lane::RecordFinish& action);
  void carry_out(lane::Stop& action);

  // An update of the journal, which owns its payload.
  struct Replayed {
    JournalRecord record;
    std::vector<std::byte> payload;
  };
  // Of the timeline that begins or is gone on with; older ones are dropped.
  struct Loaded {
    Timeline timeline = 0;
    std::uint64_t bytes = 0;  // of the window
    std::variant<ShardStorage::LoadedChunk, Replayed> content;
  };

  void take_from_storage();
  void take_loaded(Loaded& loaded);
  void on_storage(const lane::Event& event);
  void take(const ShardStorage::LoadedChunk& chunk);
  void take(const Replayed& update);
  // Puts the weights of the base in place, as far as they are not to be loaded: of which chunks they are.
  std::vector<ShardStorage::ChunkShape> put_base(Timeline timeline, SnapshotId base);
  bool pass_on(Timeline timeline, ShardStorage::LoadedChunk chunk);
  bool pass_on(Timeline timeline, const JournalRecord& record);
  void note_resumed(const JournalRecord& record);
  [[nodiscard]] StepStatistics statistics(ChunkId chunk, Step step) const;
  // Of every chunk, where a snapshot of that step is taken.
  [[nodiscard]] Version version_at(Step step) const { return config_.ledgered ? step * config_.slots : step; }
  [[nodiscard]] std::vector<ShardStorage::ChunkShape> chunk_shapes() const;

  const Job& job_;
  Router router_;
  Dealer lead_;
  ReleaseQueue releases_;
  Mailbox<Loaded> loaded_;
  Mailbox<lane::Event> storage_events_;
  std::deque<Loaded> to_load_;            // taken from loaded_, to be put in place in this turn or a later one
  std::deque<lane::Event> storage_told_;  // taken from storage_events_: fed when all that they rest on is in place
  std::string address_;
  LaneConfig config_;
  Lane lane_;
  LaneWeights weights_;
  ShardStorage& storage_;
  ShardJournal* journal_;
  LoadWindow load_window_;
  bool has_initial_snapshot_;
  SnapshotCopier* copier_;
  ShardTrouble shard_trouble_;
  std::optional<LeadReach> lead_reach_;  // where another machine may have the lead; one lane speaks for the shard
  std::string told_trouble_;
  std::string told_refusal_;
  CopyProgress told_copy_;
  Micros next_copy_telling_ = 0;
  SnapshotId beginning_;   // the timeline that begins or is gone on with, and the step that its weights are loaded from
  lane::Resumed resumed_;  // as far as it has been replayed
  std::map<SnapshotId, std::shared_ptr<SnapshotPart>> parts_;  // taken, not sealed
  LaneMetrics metrics_;
  SessionId welcomed_ = 0;  // the session that was taken in last
  Encoder encoder_;
  std::unordered_map<PayloadId, std::shared_ptr<Frame>> payloads_;  // the journal may share them
  PayloadId next_payload_ = 1;
  PayloadId finite_root_ = kNoPayload;  // the last sum that was a root, if it is known to be finite
  std::deque<lane::Event> events_;      // that actions gave rise to
  Turn turn_;
  Micros now_ = 0;
  Micros next_tick_ = 0;
  bool stopped_ = false;
  std::string failure_;
  Mailbox<std::string> interrupts_;
};

}  // namespace ballast
