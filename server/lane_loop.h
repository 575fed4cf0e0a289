// The thread of one lane: sockets, buffers and time around the Lane core.
//
// Order within one turn: what the core and the storage left to go on with, what came from workers, from the lead, from
// other threads (bytes let go, storage done), then the tick. Actions are carried out in the order in which the core
// gave them. A turn is bounded (common/net/turn.h), and so is what the core asks for in answer to one event.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/job/job.h"
#include "common/net/socket.h"
#include "common/net/ticks.h"
#include "common/net/turn.h"
#include "protocol/lane/lane.h"
#include "server/handshakes.h"
#include "server/lane_metrics.h"
#include "server/lane_storage.h"
#include "server/lane_trace.h"
#include "server/lead_connection.h"
#include "server/memory_watch.h"
#include "server/page/lateness.h"
#include "server/payloads.h"
#include "server/shard_news.h"
#include "server/weights.h"
#include "server/worker_connections.h"

namespace ballast {

class LaneLoop {
 public:
  // Where a lane is reached, and where it reaches the lead and for how long it looks for it.
  struct Addresses {
    std::string bind;
    std::string advertised_host;
    std::string lead;
    Micros lead_patience = 0;  // 0: for ever
  };

  // Binds at once, so that config.address can be filled in. `job` is shared and outlives the loop, as does `lateness`,
  // which is told who contributes when; null: nobody looks.
  LaneLoop(zmq::context_t& context, const ServerKeys& keys, const Job& job, LaneConfig config,
           const Addresses& addresses, ShardServices services, Metrics* metrics, SocketKeeping keeping = {},
           Lateness* lateness = nullptr);

  // Until the job ends or cannot go on: the reason, empty if it finished. Called from the lane's own thread.
  std::string run();
  // After run(): it has ended because the lead and it speak no common version of the protocol.
  [[nodiscard]] bool is_hopeless() const { return is_hopeless_; }
  // After run(): it has ended because no lead was there for longer than it was to look for one.
  [[nodiscard]] bool has_lost_the_lead() const { return has_lost_the_lead_; }
  // From any thread: ends run() soon.
  void interrupt(std::string reason) { interrupts_.put(std::move(reason)); }
  // From any thread: the server is told to end. run() ends when it may, or when it is out of patience.
  void depart() { departures_.put(true); }
  // Closes the sockets. Bytes they still send belong to this object: close the context before destroying it.
  void close();

  [[nodiscard]] const std::string& address() const { return workers_.address(); }
  [[nodiscard]] const std::shared_ptr<Gate>& gate() const { return workers_.gate(); }

 private:
  [[nodiscard]] Poll watched();
  void turn(Poll& poll);
  [[nodiscard]] bool has_more() const;
  void receive_from_workers();
  void receive(WorkerConnections::Incoming& incoming);
  void take_ended();
  void receive_from_lead();
  void tell_barred(const std::vector<SessionId>& barred);
  void take_released();
  void take_from_storage();
  void tick(Micros now);
  void look_at_the_lead();
  void look_at_memory(Micros now);
  void look_at_links(Micros now);
  void cut_all();
  void feed(const lane::Event& event);
  void tell(const lane::Event& event) const;
  void answer(const TraceAsked& asked);
  void carry_out(lane::SendToWorker& action);
  void carry_out(lane::SendWeights& action);
  void carry_out(lane::SendToLead& action);
  void carry_out(lane::DropConnection& action);
  void carry_out(lane::Sum& action);
  void carry_out(lane::Drop& action);
  void carry_out(lane::Measure& action);
  void carry_out(lane::Apply& action);
  void carry_out(lane::Append& action);
  void carry_out(lane::SyncJournal& action);
  void carry_out(lane::Begin& action);
  void carry_out(lane::Resume& action);
  void carry_out(lane::TakeSnapshot& action);
  void carry_out(lane::SealSnapshot& action);
  void carry_out(lane::Retain& action);
  void carry_out(lane::Copy& action);
  void carry_out(lane::RecordFinish& action);
  void carry_out(lane::Stop& action);
  void carry_out(lane::Leave& action);

  const std::function<std::string()> shard_trouble_;
  const std::function<void(const lane::Leave&)> left_;
  ReleaseQueue releases_;  // of bytes that workers were sent, and of those that were written
  WorkerConnections workers_;
  LeadConnection lead_;
  Lane lane_;
  LaneWeights weights_;
  LaneStorage storage_;
  Payloads payloads_;
  std::deque<lane::Event> events_;  // that actions gave rise to
  ShardNews news_;
  std::vector<SessionId> barred_;  // by the newest plan that the lead has sent
  LaneMetrics metrics_;
  Lateness* const lateness_;
  LaneTrace trace_;
  Handshakes handshakes_;
  Turn turn_;
  Ticks ticks_;
  std::optional<std::string> ending_;  // the reason of a failure, empty if the job finished
  bool is_hopeless_ = false;
  const Micros lead_patience_;
  bool has_lost_the_lead_ = false;
  Mailbox<std::string> interrupts_;
  Mailbox<bool> departures_;
  const SocketKeeping keeping_;
  const std::uint64_t memory_bytes_;  // of contributions, those on their way among them
  const bool each_slot_is_update_;    // by itself: in item mode
  bool is_renewed_ = false;           // the workers' socket
};

}  // namespace ballast
