// How long the items of a job in items would take: the replay of ssp and async.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "insight/job_times.h"
#include "insight/replay_parts.h"
#include "insight/replayed_grants.h"
#include "insight/replayed_links.h"
#include "protocol/worker/item_work.h"

namespace ballast::insight {

// Each slot is an item, whose gradients update one chunk after the other as they come, once the journal has them. The
// lead grants items by its own rules (ItemGrants), and workers follow as they do in the job (ItemWork). Evaluations and
// snapshots, before which all wait, are left out.
class ItemReplay {
 public:
  // `times` outlives this.
  explicit ItemReplay(const JobTimes& times);

  // Microseconds for as many items as a step has; see replay().
  std::optional<double> step_time();

 private:
  enum class What : std::uint8_t {
    slot_begun,      // `who`, a worker, has the weights and examples of an item
    slot_done,       // its gradients are all there
    gradient_ready,  // of `chunk`
    message_comes,   // it would be there by now
    message_there,   // at the lane
    asked,           // for the chunk's weights, at the lane
    lane_free,       // what it did is done
    committed,       // the first of what the lane has given to the journal
    receipt_there,   // at the worker
    weights_there,   // of `chunk`, for the grant
    order_there,     // at the worker
    beat,            // a heartbeat is due
    beat_there,      // at the lead
    report,          // lanes' are due
    tick,            // of the lead
  };

  struct Event {
    What what = What::slot_begun;
    std::uint32_t who = 0;
    ChunkId chunk = 0;
    ItemId item = 0;
    LeadNumber grant = {};  // whose weights are asked for
    double ready = 0;       // of a message that comes: since when it could have
  };

  struct Worker {
    explicit Worker(Slot slots) : own(slots, {}) {}

    ItemWork own;
    WorkerTarget in_hand = {};                                // `none`: it computes nothing
    bool is_beginning = false;                                // an item, a moment later
    LeadNumber fetches = {};                                  // the grant whose weights come next
    std::vector<bool> asked = {};                             // by chunk
    std::size_t missing = 0;                                  // chunks
    std::size_t begun = 0;                                    // items
    Served up = {};                                           // its link
    std::unordered_map<ItemId, std::size_t> unanswered = {};  // by item, of its chunks
    std::deque<std::vector<LeadNumber>> beats = {};           // on their way
    double beat_there = 0;                                    // the last of them, but for the delay
    std::deque<Assign> orders = {};
    double order_there = 0;
  };

  struct Contribution {
    std::uint32_t worker = 0;
    ChunkId chunk = 0;
    ItemId item = 0;
    LeadNumber wants = {};  // weights for this grant after the update; none: it does not
  };

  struct Lane {
    std::deque<Contribution> queue;
    std::deque<Contribution> given;      // to the journal
    std::deque<Contribution> committed;  // and to be applied
    std::optional<Contribution> read;    // what its thread does
    std::optional<Contribution> applied;
  };

  // Which chunks an item has updated; one that a second worker brings as well updates them once.
  struct Item {
    std::vector<bool> taken;
    std::size_t applied = 0;
  };

  void add(double at, What what, std::uint32_t who, ChunkId chunk = 0, ItemId item = 0, LeadNumber grant = {}) {
    agenda_.add(at, {what, who, chunk, item, grant});
  }
  void on(const Event& event);

  // ---- a worker
  void go_on(std::uint32_t worker);
  void fetch(std::uint32_t worker, LeadNumber grant);
  void begin_slot(std::uint32_t worker);
  void end_slot(std::uint32_t worker);
  void send(const Event& event);
  void weights_there(const Event& event);
  void receipt_there(const Event& event);
  void beat(std::uint32_t worker);
  [[nodiscard]] double takes(std::uint32_t worker) const;
  [[nodiscard]] ItemId item_of(const WorkerTarget& target) const {
    return target.step * times_.rules.slots + target.ranges.front().begin;
  }

  // ---- lanes
  void work(std::uint32_t lane);
  void lane_free(std::uint32_t lane);
  void take(std::uint32_t lane, const Contribution& contribution);
  void apply(const Contribution& contribution);
  void answer(const Contribution& contribution);
  void send_weights(std::uint32_t worker, ChunkId chunk, LeadNumber grant);
  [[nodiscard]] std::uint32_t lane_of(ChunkId chunk) const { return times_.lane_of[chunk]; }

  // ---- the lead
  void follow(std::vector<ReplayedGrants::Order> orders);
  [[nodiscard]] Micros now() const { return static_cast<Micros>(now_) + 1; }

  const JobTimes& times_;
  std::vector<std::vector<double>> slots_;  // by worker, one after the other, with the stops before them
  Agenda<Event> agenda_;
  double now_ = 0;
  ReplayedGrants lead_;
  ReplayedLinks links_;
  std::vector<Worker> workers_;
  std::vector<Lane> lanes_;
  std::unordered_map<ItemId, Item> open_;  // that some chunk has and not all
  std::vector<bool> is_done_;              // by item
  std::vector<ItemId> covered_;            // since the last report
  std::vector<double> done_;               // when each was, one after the other
};

}  // namespace ballast::insight
