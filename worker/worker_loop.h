// The worker's loop: sockets, payloads and time around the Worker core. Computing happens on another thread.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>
#include <zmq.hpp>

#include "common/job/job.h"
#include "common/job/spec.h"
#include "common/net/socket.h"
#include "common/net/turn.h"
#include "common/protocol/worker.h"
#include "common/wire/wire.h"
#include "worker/account.h"
#include "worker/compute/choose.h"
#include "worker/compute_thread.h"
#include "worker/fault.h"
#include "worker/gpu_watch.h"
#include "worker/reach.h"
#include "worker/worker_metrics.h"

namespace ballast {

class WorkerLoop {
 public:
  WorkerLoop(const WorkerSpec& spec, std::optional<Fault> fault, Metrics* metrics);
  ~WorkerLoop();
  WorkerLoop(const WorkerLoop&) = delete;
  WorkerLoop& operator=(const WorkerLoop&) = delete;

  struct Ending {
    std::string failure;    // empty: the job finished or was stopped
    bool for_good = false;  // another life of this worker would end in the same way
  };
  // Until the job ends or this worker cannot go on.
  Ending run();
  // From any thread: says goodbye to the lead and ends run() soon.
  void interrupt(std::string reason);

 private:
  // A gradient chunk stays as it is until the core has released it and the transport has let go of every copy sent.
  struct GradientState {
    std::uint32_t sends = 0;
    bool released = false;
  };

  void turn();
  void rebuild_poll();
  void receive_from_lead();
  void receive_from_lanes();
  void receive_from_lane(std::uint32_t lane);
  void on_compute(worker::Event event);
  void on_released(const Released& released);
  void feed(const worker::Event& event);
  void carry_out(const worker::SendToLead& action);
  void carry_out(const worker::SendToLane& action);
  void carry_out(const worker::Prepare& action);
  void carry_out(const worker::Connect& action);
  void carry_out(const worker::Prefetch& action);
  void carry_out(const worker::Store& action);
  void carry_out(const worker::Release& action);
  void carry_out(const worker::Compute& action);
  void carry_out(const worker::Evaluate& action);
  void carry_out(const worker::Stop& action);
  void prepare(const WorkerWelcome& welcome);
  std::unique_ptr<Backend> make_backend(const BackendRequest& request);
  void complete(WorkerLayout& layout) const;
  void free_gradient(PayloadId payload);
  bool strike_before_push(const Push& push);
  void strike_at_receipt(const Message& message);

  WorkerSpec spec_;
  std::optional<Fault> fault_;
  std::unique_ptr<Account> account_;  // null: nobody asks for one
  SessionId session_;
  ReleaseQueue releases_;
  Mailbox<worker::Event> computed_;
  Mailbox<std::string> interrupts_;
  std::unique_ptr<Job> job_;
  std::uint32_t lanes_per_shard_ = 1;
  std::unique_ptr<GpuWatch> gpu_watch_;     // null: no GPU, or nobody reads; made by the compute thread
  std::unique_ptr<ComputeThread> compute_;  // its gradients are borrowed by sockets: destroyed after the contexts
  zmq::context_t context_ = make_context();
  zmq::context_t lanes_context_ = make_context();  // its number of threads is the job's, which the lead tells
  Dealer lead_;
  std::vector<std::unique_ptr<Dealer>> lanes_;  // null until the core has said where to connect
  std::unique_ptr<Poll> poll_;
  Worker core_;
  Metrics* metrics_sink_;
  WorkerMetrics metrics_;
  Reach reach_;
  Encoder encoder_;
  std::unordered_map<PayloadId, Frame> weights_;  // received, not stored yet
  PayloadId next_weights_;
  std::vector<GradientState> gradients_;
  Turn turn_;
  std::uint32_t first_lane_ = 0;  // that the next turn hears first
  Micros next_tick_ = 0;
  bool stopped_ = false;
  Ending ending_;
  bool pushed_at_fault_ = false;
};

}  // namespace ballast
