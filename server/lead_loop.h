// The lead's thread: its socket, the ledger and time around the Lead core.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/net/server_socket.h"
#include "common/net/ticks.h"
#include "common/net/turn.h"
#include "common/net/unsent_replies.h"
#include "common/trace/trace_ring.h"
#include "common/wire/wire.h"
#include "protocol/lead/lead.h"
#include "server/handshakes.h"
#include "server/known_peers.h"
#include "server/lead_metrics.h"
#include "server/lead_news.h"
#include "server/ledger_writer.h"
#include "server/memory_watch.h"
#include "server/page/page.h"
#include "server/server_keys.h"
#include "server/status_answers.h"
#include "server/trace_relay.h"
#include "server/waiting_clients.h"

namespace ballast {

class LeadLoop {
 public:
  // Binds at once. `store` and `room` are shared with shard 0's lanes and outlive the loop, as does `page`; null: there
  // is none.
  LeadLoop(zmq::context_t& context, const ServerKeys& keys, LeadConfig config, const std::string& bind_address,
           const std::string& advertised_host, ShardStore& store, DiskRoom& room, Metrics* metrics,
           SocketKeeping keeping = {}, Page* page = nullptr);

  // Until the job has ended and everyone knows, or a stated linger is over: the reason of a failure, else empty.
  std::string run();
  void interrupt(std::string reason);
  // From any thread: a lane of this shard has ended by itself, and without it the shard is of no use. Unless the job is
  // over, of which others are still to be told, run() ends soon.
  void give_up(std::string reason) { lane_failures_.put(std::move(reason)); }
  // From any thread: its process was told to end. If the job is over, run() ends as soon as others have heard of that,
  // or had time to.
  void stay_no_longer() { hurries_.put({}); }
  void close() { router_->close(); }

  // Where others reach it.
  [[nodiscard]] const std::string& address() const { return address_; }
  // Where this machine does, whatever lies between it and the others.
  [[nodiscard]] const std::string& address_here() const { return address_here_; }
  [[nodiscard]] const std::shared_ptr<Gate>& gate() const { return router_->gate(); }

 private:
  struct Ending {
    std::string failure;  // empty: the run ended well
    Micros at = 0;
    bool at_once = false;  // nobody is waited for
  };

  [[nodiscard]] Poll watched();
  void turn(Poll& poll);
  void look_at_memory(Micros now);
  void receive();
  void dispatch(const std::string& routing_id, const Received& received);
  void refuse(const Received& received, const Refused& refused, std::uint32_t version);
  // To who is known by this first routing id.
  bool send(const std::string& first, const Message& message);
  bool tell(const std::string& routing_id, std::optional<zmq::message_t> frame);
  void answer_client(const std::string& first, const Message& message);
  void answer_trace(const std::string& first, const TraceAsked& asked);
  void answer(const std::string& asker, TracePart part);
  void answer_page();
  const std::vector<TraceSource>& trace_sources();
  [[nodiscard]] std::optional<SharingRules> sharing_rules() const;
  // By which it is known; empty: it is not there, or knows no such question.
  [[nodiscard]] std::string known_as(const TraceSource& source) const;
  void pass_back(const TraceSource& source, const TracePart& part);
  void trace_decision(const Plan& plan);
  void take_ends();
  void settle();
  void carry_out(const lead::SendToWorker& action);
  void carry_out(const lead::SendToLane& action);
  void carry_out(const lead::WriteLedger& action);
  void carry_out(const lead::Stop& action);
  [[nodiscard]] Status status() const;
  void tell_changes();
  void tell_page(const Status& status, const std::vector<LeadNews::Line>& news);
  [[nodiscard]] std::vector<ShardView> shard_views() const;
  [[nodiscard]] bool a_client_waits() const;

  ServerSocket router_;
  std::string address_here_;
  std::string address_;
  LedgerWriter ledger_;
  Micros ledger_asked_ = 0;               // when the newest write was; there is one at a time
  const std::vector<TraceSource> lanes_;  // of the job, whether they are there or not
  Lead lead_;
  LeadMetrics metrics_;
  LeadNews news_;
  KnownPeers peers_;
  Handshakes handshakes_;
  Encoder encoder_;
  UnsentReplies unsent_;
  StatusAnswers answers_;
  TraceRing trace_;
  TraceRelay relay_;
  struct {
    std::vector<TraceSource> all;
    Micros at = 0;  // when they were put together; 0: never
  } sources_;
  struct {
    Micros measured_at = 0;  // the newest report of a gradient's measures came; 0: none did
    Step planned = 0;        // the step that the newest plan with factors ends before
    Timeline timeline = 0;   // of that
  } decisions_;
  Mailbox<std::string> interrupts_;
  Mailbox<std::string> lane_failures_;
  Mailbox<lead::StayNoLonger> hurries_;
  Turn turn_;
  Ticks ticks_;
  Ticks tellings_;
  std::optional<Ending> ending_;
  WaitingClients clients_;
  const SocketKeeping keeping_;
  Page* const page_;
  Micros read_up_at_ = 0;    // everything that had come
  bool is_renewed_ = false;  // the socket
};

}  // namespace ballast
