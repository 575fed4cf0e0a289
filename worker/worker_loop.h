// The worker's loop: sockets, payloads and time around the Worker core. Computing happens on another thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/job/spec.h"
#include "common/keys/client_keys.h"
#include "common/net/socket.h"
#include "common/net/ticks.h"
#include "common/net/turn.h"
#include "protocol/worker/worker.h"
#include "worker/account.h"
#include "worker/computation.h"
#include "worker/exposed_wait.h"
#include "worker/lane_sockets.h"
#include "worker/lead_socket.h"
#include "worker/step_trace.h"
#include "worker/training/fault.h"
#include "worker/worker_metrics.h"

namespace ballast {

class WorkerLoop {
 public:
  // `lead_patience`: it ends well when the lead was not heard for so long; 0: it looks for it for ever.
  WorkerLoop(const WorkerSpec& spec, std::optional<Fault> fault, Metrics* metrics, Micros lead_patience = 0);
  ~WorkerLoop();
  WorkerLoop(const WorkerLoop&) = delete;
  WorkerLoop& operator=(const WorkerLoop&) = delete;

  struct Ending {
    std::string failure;    // empty: the job finished or was stopped
    bool for_good = false;  // another life of this worker would end in the same way
    bool of_data = false;   // because it cannot read the job's data as the job says
  };
  // Until the job ends or this worker cannot go on.
  Ending run();
  // Examples of its data that it could not read, and left out or replaced.
  [[nodiscard]] std::uint64_t corrupt_examples() const { return computation_.corrupt_examples(); }
  // After run() has ended without a failure: how it has ended, for its log.
  [[nodiscard]] std::string farewell() const;
  // Whether it ended without the lead's word that the job was over: it was told to, or has waited for too long.
  [[nodiscard]] bool left_early() const { return outwaited_ || !core_.drains().empty(); }
  // Begun in this life, whatever became of them.
  [[nodiscard]] std::uint64_t computed_slots() const { return core_.counters().slots; }
  // From any thread: ends what is being computed at the next slot, delivers it, says goodbye to the lead and ends
  // run(), after 20 s at the latest.
  void interrupt(std::string reason) { interrupts_.put(std::move(reason)); }

 private:
  WorkerLoop(const WorkerSpec& spec, std::optional<Fault> fault, Metrics* metrics, Micros lead_patience,
             SessionId session);

  void turn();
  void rebuild_poll();
  void tick(Micros now);
  void look_at_the_lead();
  void look_at_links(Micros now);
  void receive_from_lead();
  void receive_from_lanes();
  void receive_from_lane(std::uint32_t lane);
  void receive(std::uint32_t lane, const Message& message, std::optional<Frame>& payload, Micros sent);
  void answer(const TraceAsked& asked);
  void on_compute(worker::Event event);
  void feed(const worker::Event& event);
  void look_at_waits(const worker::Event& event, Micros now);
  void carry_out(const worker::SendToLead& action);
  void carry_out(const worker::SendToLane& action);
  void carry_out(const worker::Prepare& action);
  void carry_out(const worker::Connect& action);
  void carry_out(const worker::Prefetch& action);
  void carry_out(const worker::Store& action);
  void carry_out(const worker::Release& action);
  void carry_out(const worker::Compute& action);
  void carry_out(const worker::Amend& action);
  void carry_out(const worker::Evaluate& action);
  void carry_out(const worker::Stop& action);
  void prepare(const WorkerWelcome& welcome);
  void push(const worker::SendToLane& action, const Push& push);

  WorkerSpec spec_;
  const Micros lead_patience_;
  PlannedDeath death_;
  std::unique_ptr<Account> account_;  // null: nobody asks for one
  ReleaseQueue releases_;
  Mailbox<worker::Event> computed_;
  Mailbox<std::string> interrupts_;
  WorkerMetrics metrics_;
  StepTrace trace_;
  ExposedWait exposed_;
  bool wants_buffer_ = false;         // the computation cannot go on without one
  Computation computation_;           // destroyed after the sockets, which borrow its gradients
  std::unique_ptr<ClientKeys> keys_;  // null: it has none
  LeadSocket lead_;
  LaneSockets lanes_;
  std::unique_ptr<Poll> poll_;
  Worker core_;
  Turn turn_;
  Ticks ticks_;
  std::optional<Ending> ending_;
  bool outwaited_ = false;  // it has ended because no lead was heard for too long
};

}  // namespace ballast
