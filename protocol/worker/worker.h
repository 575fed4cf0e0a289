// A worker's schedule: pulls the version its work needs, has it computed, pushes what comes out until it has receipts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"
#include "protocol/worker/buffer_shortage.h"
#include "protocol/worker/lane_links.h"
#include "protocol/worker/lead_watch.h"
#include "protocol/worker/link_rate.h"
#include "protocol/worker/pulled_weights.h"
#include "protocol/worker/slot_clock.h"
#include "protocol/worker/work_in_hand.h"
#include "protocol/worker/worker_plan.h"
#include "protocol/worker/worker_target.h"

namespace ballast {

struct WorkerConfig {
  std::string name;
  Micros heartbeat_every = 100'000;
  Micros busy_heartbeat_every = 50'000;  // while it computes
  Micros drain_patience = 20'000'000;    // a worker that is to leave waits so long for receipts
  Micros offers_every = 1'000'000;       // what waits is offered again
  Micros offered_for = 200'000;          // before it may be given up for want of a buffer: a call may be on its way
  Micros news_apart = 10'000;         // heartbeats that tell of a slot: at least, as long as the lead asks for no more
  Micros hello_every = 200'000;       // to lead and lanes, until they answer
  Micros lane_silence = 5'000'000;    // a lane that answers no hello for so long is told of
  Micros lead_silence = 600'000'000;  // a lead that has answered before and is silent for so long is gone
  LearntDeadline::Bounds retry{1'000'000, 3'000'000, 20'000'000};  // of pushes and pulls
  bool operator==(const WorkerConfig&) const = default;
};

// What the worker's shell works out from the lead's welcome.
struct WorkerLayout {
  struct Chunk {
    ChunkId id = 0;
    std::uint32_t lane = 0;  // index into the welcome's addresses
    std::uint64_t bytes = 0;
    bool operator==(const Chunk&) const = default;
  };
  Slot slots = 1;
  WorkerPlan::Rules mode;     // in rounds, or in item mode
  bool averages = false;      // evaluations are of the weights' moving averages
  std::vector<Chunk> chunks;  // id == index
  std::uint32_t lanes = 1;    // over all shards
  std::string spec_digest;
  std::string layout_digest;
  std::string fingerprint;
  std::string data_digest;
  std::optional<Micros> lead_silence;  // as the job has it; else what was configured stays
  bool operator==(const WorkerLayout&) const = default;
};

namespace worker {

// ---- events

struct FromLead {
  const Message* message = nullptr;
};
struct FromLane {
  std::uint32_t lane = 0;
  const Message* message = nullptr;
  PayloadId payload = kNoPayload;  // of Weights: the worker takes it over
};
struct Tick {
  Micros now = 0;
};
struct Prepared {
  WorkerLayout layout;
};
// Data, model or computation cannot go on; the text is for the user.
struct Failed {
  std::string text;
  bool for_good = false;  // another life of this worker would meet the same
  bool of_data = false;   // it cannot read the job's data as the job says
};
// It is to leave: it ends what it computes at the next slot, and goes when its contributions have arrived.
struct Drain {
  std::string reason;
};
// Why nobody can be reached at a lane's address; empty: no reason is known.
struct Unreachable {
  std::uint32_t lane = 0;
  std::string why;
};
// The connection to a lane has ended, and another one begins: what was sent and has no receipt may have been lost.
struct ConnectionOver {
  std::uint32_t lane = 0;
};
// The sum over `node` of a chunk's gradient is final.
struct GradientReady {
  Step step = 0;
  Node node;
  ChunkId chunk = 0;
  PayloadId payload = kNoPayload;
  Slot fault = kNoSlot;    // the first slot below `node` whose gradient of the chunk is not finite
  bool last_node = false;  // no later node of this Compute brings the chunk again
};
// The slot is being computed from now on: nobody can take it back.
struct SlotBegun {
  Step step = 0;
  Slot slot = 0;
};
// The computation has a next slot, and no buffer of gradients is free for it. Over with the slot's beginning, or with
// the computation's end.
struct BufferWanted {};
// All gradients of a Compute have been said to be ready.
struct Computed {
  Step step = 0;
  PhaseTimes phases;  // data_wait, forward and backward
};
struct Evaluated {
  EvaluationResult result;
};
using Event = std::variant<FromLead, FromLane, Tick, Prepared, Failed, Drain, Unreachable, ConnectionOver,
                           GradientReady, SlotBegun, BufferWanted, Computed, Evaluated>;

// ---- actions, to be carried out in order

struct SendToLead {
  Message message;
};
struct SendToLane {
  std::uint32_t lane = 0;
  Message message;
  PayloadId payload = kNoPayload;  // of a Push: must stay unmodified until Release
};
// Connect to the lanes, load data and model, then say Prepared or Failed.
struct Prepare {
  WorkerWelcome welcome;
};
// A timeline has begun in which the lane lives elsewhere, or in another life: connect to it there. Nothing that was
// sent to its old address matters any more.
struct Connect {
  std::uint32_t lane = 0;
  std::string address;
};
// These slots come next: read their examples ahead.
struct Prefetch {
  Step step = 0;
  std::vector<SlotRange> ranges;
};
// Copy the payload into the worker's weights, then forget the payload.
struct Store {
  ChunkId chunk = 0;
  Version version = 0;
  PayloadId payload = kNoPayload;
};
// Forget a payload: a gradient with its receipt, or weights that came too late.
struct Release {
  PayloadId payload = kNoPayload;
};
// Nothing is stored while one of these runs.
struct Compute {
  Step step = 0;
  std::vector<SlotRange> ranges;
};
// The slots of the computation in hand are these, with those that it has begun among them if they are still wanted. One
// that is being computed and is not wanted is finished as a node of its own; the sums before it are ready at once.
struct Amend {
  Step step = 0;
  std::vector<SlotRange> ranges;
};
struct Evaluate {
  Evaluation evaluation;
};
struct Stop {
  std::string failure;    // empty: the run ended well
  bool for_good = false;  // another life of this worker would end with the same failure
  bool of_data = false;   // as in Failed
};
using Action =
    std::variant<SendToLead, SendToLane, Prepare, Connect, Prefetch, Store, Release, Compute, Amend, Evaluate, Stop>;
using Actions = std::vector<Action>;

}  // namespace worker

struct WorkerCounters {
  std::uint64_t steps = 0;
  std::uint64_t slots = 0;
  std::uint64_t duplicates = 0;  // receipts for work that was covered before
  std::uint64_t pulls_repeated = 0;
  std::uint64_t gone = 0;
  std::uint64_t expired = 0;   // contributions whose weights were too old, or were lost
  std::uint64_t given_up = 0;  // slots, computed and not called, for want of a buffer
  bool operator==(const WorkerCounters&) const = default;
};

// Pure: no I/O, clock, thread or log. Copyable. Not thread-safe.
// Invariants:
//   1. weights of one version only, or in item mode those asked for after the item's grant, are computed from: no Store
//      between Compute (or Evaluate) and its end;
//   2. a gradient's payload is released by its receipt, by a newer version of its chunk or timeline, by a newer
//      contribution to the same node, because the item has expired at some chunk, or, if no lane has called the node's
//      contributions, because the computation waits for a buffer, and by nothing else.
class Worker {
 public:
  explicit Worker(WorkerConfig config);

  // `at`: when it happened, by the clock of the ticks; they are too rare to measure phases by. 0: at the last tick.
  worker::Actions step(const worker::Event& event, Micros at = 0);

  [[nodiscard]] const WorkerCounters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t retries() const { return counters_.pulls_repeated + lanes_.retries(); }
  // Of the last finished step.
  [[nodiscard]] const PhaseTimes& phases() const { return work_.clock().phases(); }
  [[nodiscard]] std::uint64_t finished_steps() const { return work_.clock().steps(); }
  [[nodiscard]] std::uint64_t in_flight_bytes() const { return lanes_.in_flight_bytes(); }
  [[nodiscard]] std::size_t outstanding() const { return lanes_.outstanding(); }
  // Why it is to leave; empty: it is not.
  [[nodiscard]] const std::string& drains() const { return drains_; }
  // Nothing of what it has begun is still to be computed, or waits for its receipt.
  [[nodiscard]] bool has_delivered() const { return !work_.is_running() && lanes_.outstanding() == 0; }
  [[nodiscard]] bool computing() const { return work_.is_running(); }
  // The first lane that lets it wait: it answers no hello, or refuses this worker for now.
  [[nodiscard]] const LaneAddress* waiting_lane() const {
    return lanes_.waiting(welcome_.addresses, now_, config_.lane_silence);
  }
  // That lane, where it is and why, and how many others; empty if there is none.
  [[nodiscard]] std::string waits_for() const {
    return lanes_.waits_for(welcome_.addresses, now_, config_.lane_silence);
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(
        listed::fixed(config_), listed::plain(layout_, phase_, welcome_),
        listed::parts(lead_, lanes_, plan_, target_, weights_, work_, shortage_, slot_clock_, up_, down_),
        listed::plain(beats_apart_, drains_), listed::ages(drains_since_, offered_at_, welcome_at_),
        listed::fixed(actions_), listed::accounts(counters_), listed::ages(now_, at_));
  }

 private:
  enum class Phase : std::uint8_t { hello, preparing, ready, stopped };

  void on(const worker::FromLead& event);
  void on(const worker::FromLane& event);
  void on(const worker::Tick& event);
  void on(const worker::Prepared& event);
  void on(const worker::Failed& event);
  void on(const worker::Drain& event);
  void on(const worker::Unreachable& event);
  void on(const worker::ConnectionOver& event);
  void on(const worker::GradientReady& event);
  void on(const worker::SlotBegun& event);
  void on(const worker::BufferWanted& event);
  void on(const worker::Computed& event);
  void on(const worker::Evaluated& event);

  void on_lead_welcome(const WorkerWelcome& welcome);
  void follow(const WorkerWelcome& welcome);
  void forget_weights(std::uint32_t lane);
  void on_assign(const Assign& assign);
  void on_lead_refusal(const Refused& refused);
  void on_welcome(LaneLink& lane, const LaneWelcome& welcome);
  void on_receipt(LaneLink& lane, const Receipt& receipt);
  void on_call(std::uint32_t lane, const Call& call);
  void on_return_asked(std::uint32_t lane, const ReturnAsked& asked);
  void drop_item(Step step, Slot slot);
  void on_weights(LaneLink& lane, const Weights& weights, PayloadId payload);
  void take_as_receipt(LaneLink& lane, const Weights& weights);
  void on_gone(const Gone& gone);
  void on_stale(const Stale& stale);
  void on_lane_refusal(LaneLink& lane, const Refused& refused);

  void advance();
  void choose_target();
  void pull_missing();
  void start();
  void skip_target();
  void accept_staged();
  void store(const Weights& header, PayloadId payload);
  void enter_timeline(Timeline timeline);
  void amend();
  void leave_if_drained();
  void tell_progress();
  void send_outbox(std::uint32_t lane, bool offers_again = false);
  void send(std::uint32_t lane, const Contribution& contribution, std::uint64_t call);
  void give_back_ahead();
  void find_buffer();
  void give_up(Node node);
  void hello_lanes();
  void heartbeat();
  void release(const std::vector<PayloadId>& payloads);
  void stop(std::string failure, bool for_good = false, bool of_data = false);
  [[nodiscard]] Heartbeat heartbeat_now() const;
  [[nodiscard]] SlotProgress progress_now() const;
  [[nodiscard]] bool has_target() const { return target_.kind != WorkerTarget::Kind::none; }

  template <typename Body>
  void emit(Body&& body) {
    actions_.emplace_back(std::forward<Body>(body));
  }

  WorkerConfig config_;
  WorkerLayout layout_;
  Phase phase_ = Phase::hello;
  WorkerWelcome welcome_;  // the newest
  LeadWatch lead_;
  LaneLinks lanes_;
  WorkerPlan plan_;
  WorkerTarget target_;
  PulledWeights weights_;
  WorkInHand work_;
  BufferShortage shortage_;
  SlotClock slot_clock_;
  LinkRate up_;
  LinkRate down_;
  Micros beats_apart_ = 0;  // as the lead asks
  std::string drains_;      // why it is to leave; empty: it is not
  Micros drains_since_ = 0;
  Micros offered_at_ = 0;  // again
  Micros welcome_at_ = 0;  // to a lane, the last time
  worker::Actions actions_;
  WorkerCounters counters_;
  Micros now_ = 0;
  Micros at_ = 0;  // of the event in hand
};

}  // namespace ballast
