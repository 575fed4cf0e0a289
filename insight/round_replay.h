// How long the steps of a job in rounds would take: the replay of sync and local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "insight/job_times.h"
#include "insight/replay_parts.h"
#include "insight/replayed_lead.h"
#include "insight/replayed_links.h"
#include "insight/replayed_worker.h"

namespace ballast::insight {

// Of a step that is replayed: contributions are sums over nodes of the reduction tree.
class RoundReplay {
 public:
  // `times` outlives this; steps of `learning` go before those that count, at least 1.
  RoundReplay(const JobTimes& times, std::size_t learning);

  // Microseconds; see replay().
  std::optional<double> step_time();

 private:
  enum class What : std::uint8_t {
    slot_begun,      // `who`, a worker, has the examples of `slots.begin`
    slot_done,       // its gradients are all there
    gradient_ready,  // of `chunk`, over `slots`
    message_left,    // the first in the worker's queue has left it
    message_comes,   // it would be there by now
    message_there,   // at the lane
    lane_free,       // what it did is done
    weights_there,   // of `chunk` at the worker
    beat,            // a heartbeat is due
    beat_there,      // at the lead
    report,          // a lane's is due
    report_there,
    tick,         // of the lead
    order_there,  // at the worker
    decided,      // on `step`
  };

  struct Event {
    What what = What::slot_begun;
    std::uint32_t who = 0;
    ChunkId chunk = 0;
    Step step = 0;
    SlotRange slots;
    double ready = 0;  // of a message that comes: since when it could have
  };
  struct Contribution {
    std::uint32_t worker = 0;
    ChunkId chunk = 0;
    Step step = 0;
    Node node;
    double ready = 0;  // since when it could leave its worker
  };

  struct Worker {
    ReplayedWorker own;
    std::deque<Contribution> queue = {};  // gradients that are ready; the first one is on its way
    double unsent = 0;                    // bytes
    Step fetches = 0;                     // the version whose weights come next; it computes the step before
    bool has_begun = false;               // a first step
    bool is_beginning = false;            // a slot, a moment later
    double stands_until = 0;              // it says and does nothing before
    std::vector<Version> asked = {};      // by chunk: one more than the newest that was sent to it; 0: none
    std::vector<Version> has = {};        // likewise: that is there
    std::size_t missing = 0;              // chunks of what it fetches
    double examples_at = 0;               // the reader has those of the next slot
    std::deque<SlotProgress> beats = {};  // on their way
    double beat_there = 0;                // the last of them, but for the delay
    std::deque<ReplayedLead::Order> orders = {};
    double order_there = 0;
  };
  struct Lane {
    std::vector<ChunkId> chunks;
    std::deque<Contribution> queue;
    std::deque<ChunkId> updates;  // that nothing is missing of
    std::optional<Contribution> sums;
    std::optional<ChunkId> updating;
    bool changed = true;
    std::deque<LaneReport> reports;  // on their way
  };
  struct Chunk {
    Version version = 0;
    SlotSet covered;
    bool is_covered = false;
  };

  void add(double at, What what, std::uint32_t who, ChunkId chunk = 0, Step step = 0, SlotRange slots = {});
  void on(const Event& event);

  // ---- a worker
  void go_on(std::uint32_t worker);
  void begin_slot(std::uint32_t worker);
  void send(std::uint32_t worker, const std::vector<Node>& nodes, double begun, double takes);
  void begin_sending(std::uint32_t worker);
  void message_left(std::uint32_t worker);
  void message_comes(const Event& event);
  void fetch(std::uint32_t worker);
  void fetch_version(std::uint32_t worker, Step version);
  void weights_there(const Event& event);
  void beat(std::uint32_t worker);
  [[nodiscard]] double takes(std::uint32_t worker) const;
  [[nodiscard]] double reading(std::uint32_t worker) const;
  [[nodiscard]] double stop(std::uint32_t worker) const;

  // ---- lanes
  void work(std::uint32_t lane);
  void lane_free(std::uint32_t lane);
  void sum(const Contribution& contribution);
  void decided();
  void updated(ChunkId chunk);
  void deliver(std::uint32_t worker, ChunkId chunk);
  void report(std::uint32_t lane);

  // Which of the recorded ones the open step repeats.
  [[nodiscard]] std::size_t replayed_step() const { return closed_ < learning_ ? closed_ : closed_ - learning_; }
  void follow(std::vector<ReplayedLead::Order> orders);
  [[nodiscard]] Micros now() const { return static_cast<Micros>(now_) + 1; }

  const JobTimes& times_;
  const std::size_t learning_;
  Agenda<Event> agenda_;
  double now_ = 0;
  ReplayedLead lead_;
  std::vector<Worker> workers_;
  std::vector<Lane> lanes_;
  std::vector<Chunk> chunks_;
  ReplayedLinks links_;
  // By worker: slots of the first chunk, of closed steps and of the open one.
  std::vector<std::uint64_t> brought_;
  std::vector<std::uint64_t> new_;
  std::size_t covered_ = 0;  // chunks of the step that is to be decided on
  Step closed_ = 0;          // so many steps are
  std::size_t updated_ = 0;  // chunks of the step after them
  std::vector<double> closes_;
};

}  // namespace ballast::insight
