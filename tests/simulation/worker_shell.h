// The shell around a worker's core, as the real process has it, over symbolic payloads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/worker/partial_sums.h"
#include "protocol/worker/slot_list.h"
#include "protocol/worker/worker.h"
#include "tests/simulation/host.h"
#include "tests/simulation/judge/slots_of_worker.h"
#include "tests/simulation/transitions.h"

namespace ballast::simulation {

class WorkerShell : public Process {
 public:
  WorkerShell(World& world, ProcessId id, std::string name, LifeWorker speed);

  void tick(Host& host, Micros clock);
  void receive(Host& host, ProcessId from, const Message& message, const std::optional<Payload>& payload);

  [[nodiscard]] const Worker& core() const { return core_; }
  [[nodiscard]] bool has_heard(ProcessId lead) const { return heard_ == lead; }
  void carry_out(Host& host, const WorkerPending& what);
  // Its connection to the lane, and another one begins.
  void connection_over(Host& host, ProcessId lane);
  void leave(Host& host);
  // From now on nothing that it is called for is sent.
  void withhold() { withholds_ = true; }
  // Rightly, by the judge.
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  // A gradient or weights that this process keeps for its core.
  struct Kept {
    bool is_gradient = false;
    ChunkId chunk = 0;
    Step step = 0;  // of weights: the version
    Node node;
    Payload payload;
    ConnectionId sent_over = 0;  // 0: it was not, or the lane could not take it yet
    bool receipted = false;
    std::uint32_t arena = 0;  // of a gradient
    Weights header = {};      // of weights
  };

  // Weights to compute from.
  struct Stored {
    Payload payload;
    Weights header;
  };
  // That it has heard of, by clock.
  struct Grants {
    std::map<LeadNumber, ItemId> items;
    std::set<LeadNumber> computed;
    std::set<ItemId> expired;  // some part of what was computed last for them
  };
  // As GradientPool has them: one is free again when all of its chunks have been given back.
  struct Arenas {
    std::size_t chunks = 0;
    std::vector<std::size_t> out;  // by arena: chunks that have not been

    [[nodiscard]] std::optional<std::uint32_t> take();
  };
  struct Computation {
    bool runs = false;
    bool awaits_arena = false;  // for its next slot
    bool goes_on = false;       // soon: one is free
    std::uint32_t origin = 0;   // of its gradients, in the judge's list
    Step step = 0;
    Timeline timeline = 0;
    Expression weights = 0;  // all
    SlotList list{1, {}};
    Slot slot = kNoSlot;                       // in hand, or the last one
    Slot end = 0;                              // of its run
    std::vector<PartialSums> sums;             // by chunk
    std::vector<std::vector<Payload>> values;  // by chunk: what its sums' arenas name, in the order of slots
    std::vector<std::uint32_t> arenas;         // in the order of slots
    BegunSlots begun;
  };

  void step(Host& host, const worker::Event& event);
  void act(Host& host, worker::SendToLead& action);
  void act(Host& host, worker::SendToLane& action);
  void act(Host& host, worker::Prepare& action);
  void act(Host& host, worker::Connect& action);
  void act(Host& host, worker::Prefetch& action);
  void act(Host& host, worker::Store& action);
  void act(Host& host, worker::Release& action);
  void act(Host& host, worker::Compute& action);
  void act(Host& host, worker::Amend& action);
  void act(Host& host, worker::Evaluate& action);
  void act(Host& host, worker::Stop& action);

  void done(Host& host, const Preparation& what);
  void done(Host& host, const NextSlot& what);
  void done(Host& host, const ChunkComputed& what);
  void done(Host& host, const GradientComputed& what);
  void done(Host& host, const ComputationEnd& what);
  void done(Host& host, const EvaluationEnd& what);

  void note_receipt(Host& host, const Receipt& receipt);
  void push(Host& host, std::uint32_t lane, const Push& push, PayloadId id);
  void check_kept() const;
  void give_back(std::uint32_t arena);
  void go_on(Host& host);
  // It is given up though it has no receipt, for its arena.
  [[nodiscard]] bool is_for_arena(Host& host, const Kept& gradient) const;
  void note_given_up(Host& host, const Kept& gradient);
  void check_withdrawn();
  void check_waiting(Host& host);
  // It goes because it was told to.
  void check_left(Host& host) const;
  // In item mode.
  void take_grants(const Assign& assign);
  void check_pull(const Pull& pull) const;
  [[nodiscard]] bool has_expired(Host& host, const Kept& gradient) const;
  void check_delivered(Host& host, const Heartbeat& beat) const;
  void check_dropped(const Heartbeat& beat) const;
  std::uint32_t origin_of(Host& host, ItemId item);
  [[nodiscard]] bool is_replaced(Host& host, PayloadId id) const;
  void end_run(Host& host, Slot end);
  void gives_up(Host& host, ChunkId chunk, const PartialSum& sum);
  // All of one timeline, or it is a violation.
  [[nodiscard]] Expression weights() const;

  void later(Host& host, Wait wait, WorkerPending what) const { host.later(id(), wait, std::move(what)); }

  LifeWorker speed_;
  Worker core_;
  Watched<WorkerState> state_{WorkerState::starting};
  std::map<PayloadId, Kept> kept_;
  PayloadId next_payload_ = 1;
  std::vector<Stored> weights_;  // by chunk
  Grants grants_;
  OrderedSlots ordered_;
  Computation computation_;
  Arenas arenas_;
  std::uint32_t waits_ = 0;  // ticks, for an arena, with nothing on its way
  bool withholds_ = false;
  struct LaneView {
    bool is_welcome = false;
    std::vector<Work> offered;  // last
  };
  std::vector<LaneView> views_;   // by lane
  std::vector<Work> given_up_;    // in the step in hand
  std::vector<ProcessId> lanes_;  // to which it is connected
  std::map<std::pair<Timeline, ChunkId>, Version> newest_seen_;
  Timeline newest_timeline_ = 0;  // that it has heard of
  LeadNumber order_;
  ProcessId heard_ = kNobody;  // the last lead
  bool refused_ = false;
  Micros told_at_ = 0;  // to leave
};

}  // namespace ballast::simulation
