// A worker's contributions on their way: kept unmodified until their receipts, sent within each lane's credit.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

struct Contribution {
  Timeline timeline = 0;
  Step step = 0;
  ChunkId chunk = 0;
  Node node;
  bool want_next = false;
  PayloadId payload = kNoPayload;
  std::uint64_t bytes = 0;
  Slot fault = kNoSlot;
  Version computed_from = 0;
  LeadNumber clock = {};
  std::shared_ptr<const std::vector<JournalMark>> marks = {};  // null: none

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(timeline, step, chunk, node, want_next), listed::payloads(payload),
                       listed::plain(bytes, fault, computed_from), listed::names(clock), listed::plain(marks));
  }
};

// What waits, waits here and not in the transport, whose queue cannot be reordered: older steps first, then the
// earliest layers' chunks, those with the smallest ids, which the next forward pass needs first. The oldest goes
// whatever else is on its way: a lane may refuse the newer ones, which keep their credit, until it has the older.
//
// A call costs by what it sends or releases, and by the logarithm of what is kept; `before` also by the steps that are
// kept, `has` by the nodes of its step, `drop` by the contributions to it, `drop_older_timelines` and `forget_sent` by
// all.
class Outbox {
 public:
  explicit Outbox(LearntDeadline::Bounds retry) : receipt_time_(retry) {}

  // Takes the place of an earlier contribution of the same work, whose payload is free then: any of them will do.
  std::vector<PayloadId> add(const Contribution& contribution);
  // The contributions to send now, marked as sent: the oldest, others within the credit, and those whose receipt is
  // overdue.
  std::vector<Contribution> take_sendable(Micros now);
  // The payloads that are free now. `before` releases every contribution of the chunk to an older step: a newer version
  // of a chunk is a receipt for all of them.
  std::vector<PayloadId> receipt(Timeline timeline, Step step, ChunkId chunk, Node node, Micros now);
  std::vector<PayloadId> before(ChunkId chunk, Step step);
  std::vector<PayloadId> drop_older_timelines(Timeline timeline);
  // The contributions of the slot to the step, which are forgotten, whether they were sent or not.
  std::vector<Contribution> drop(Step step, Slot slot);

  void set_credit(std::uint64_t bytes) { credit_ = bytes; }
  // The lane does not know this session (any more): everything is to be sent again.
  void forget_sent();

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // A contribution of the slot to the step.
  [[nodiscard]] bool has(Step step, Slot slot) const;
  [[nodiscard]] std::uint64_t in_flight_bytes() const { return in_flight_; }
  // Of all that is kept, sent or not.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t retries() const { return retries_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(entries_), listed::fixed(waiting_, on_their_way_, by_node_),
                       listed::parts(receipt_time_), listed::plain(credit_, in_flight_, bytes_),
                       listed::accounts(retries_));
  }

 private:
  struct Entry {
    Contribution contribution;
    Micros sent_at = 0;
    std::uint32_t tries = 0;  // 0: waits for credit

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::parts(contribution), listed::ages(sent_at), listed::plain(tries));
    }
  };
  using Key = std::tuple<Step, ChunkId, Node>;
  using Entries = std::map<Key, Entry>;
  using OnItsWay = std::tuple<std::uint32_t, Micros, Key>;  // by patience, then sent_at

  // How many deadlines its receipt has.
  static std::uint32_t patience(const Entry& entry);
  static OnItsWay on_its_way(const Entries::value_type& entry) {
    return {patience(entry.second), entry.second.sent_at, entry.first};
  }
  // What is to be sent: once more, or within the credit.
  void find_overdue(Micros now, std::vector<Key>& keys) const;
  void find_waiting(std::vector<Key>& keys) const;
  Contribution send(const Key& key, Micros now);
  Entries::iterator release(Entries::iterator entry, std::vector<PayloadId>& free);

  Entries entries_;
  // These follow from the entries.
  std::set<Key> waiting_;  // for credit
  std::set<OnItsWay> on_their_way_;
  std::map<std::pair<Step, Node>, std::size_t> by_node_;  // how many
  LearntDeadline receipt_time_;
  std::uint64_t credit_ = 0;
  std::uint64_t in_flight_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t retries_ = 0;
};

}  // namespace ballast
