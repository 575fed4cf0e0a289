// The lead's thread: its socket, the ledger and time around the Lead core.
#pragma once

#include <map>
#include <string>

#include "common/net/socket.h"
#include "common/net/turn.h"
#include "common/protocol/lead.h"
#include "common/store/shard_store.h"
#include "common/wire/wire.h"
#include "server/background.h"
#include "server/disk_room.h"
#include "server/lead_metrics.h"

namespace ballast {

class LeadLoop {
 public:
  // Binds at once. `store` and `room` are shared with shard 0's lanes and outlive the loop.
  LeadLoop(zmq::context_t& context, LeadConfig config, const std::string& bind_address,
           const std::string& advertised_host, ShardStore& store, DiskRoom& room, Metrics* metrics);

  // Until the job has ended and everyone knows, or a stated linger is over: the reason of a failure, else empty.
  std::string run();
  void interrupt(std::string reason);
  // From any thread: a lane of this shard has ended by itself, and without it the shard is of no use. Unless the job is
  // over, of which others are still to be told, run() ends soon.
  void give_up(std::string reason) { lane_failures_.put(std::move(reason)); }
  void close() { router_.close(); }

  // Where others reach it.
  [[nodiscard]] const std::string& address() const { return address_; }
  // Where this machine does, whatever lies between it and the others.
  [[nodiscard]] const std::string& address_here() const { return address_here_; }
  [[nodiscard]] const std::shared_ptr<Gate>& gate() const { return router_.gate(); }

 private:
  void turn(Poll& poll);
  void receive();
  void dispatch(const std::string& peer, const Received& received);
  void answer_client(const std::string& peer, const Message& message);
  void take_ends();
  void feed(const lead::Event& event);
  void carry_out(const lead::SendToWorker& action);
  void carry_out(const lead::SendToLane& action);
  void carry_out(const lead::WriteLedger& action);
  void carry_out(const lead::Stop& action);
  [[nodiscard]] Status status() const;
  void tell_changes();
  void forget_sessions(const Status& status);
  [[nodiscard]] static bool is_double(const Status& status, const SessionStatus& session);
  [[nodiscard]] bool a_client_waits() const;
  void note_client(const std::string& name, bool done);

  Router router_;
  std::string address_here_;
  std::string address_;
  Timeline written_timeline_;  // of the newest change of the ledger
  Lead lead_;
  ShardStore& store_;
  DiskRoom& room_;
  LeadMetrics metrics_;
  Encoder encoder_;
  Mailbox<lead::Event> ledger_events_;
  Mailbox<std::string> interrupts_;
  Mailbox<std::string> lane_failures_;
  Turn turn_;
  Micros next_tick_ = 0;
  Micros next_telling_ = 0;
  bool stopped_ = false;
  Micros stopped_at_ = 0;
  std::string failure_;

  bool interrupted_ = false;
  std::map<std::string, Micros> clients_;  // who have not seen the end yet, and when they asked last
  std::string told_phase_;
  std::map<SessionId, bool> told_live_;
  std::string told_data_;
  std::string told_waiting_;
  std::string told_trouble_;
  Background ledger_{"ledger: "};  // last: it is stopped before what it uses goes
};

}  // namespace ballast
