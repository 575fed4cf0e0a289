// A worker's contributions on their way: kept unmodified until their receipts, sent within each lane's credit.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
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
  std::uint64_t clock = 0;
  std::shared_ptr<const std::vector<JournalMark>> marks = {};  // null: none

  // All of it.
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(timeline, step, chunk, node, want_next), listed::payloads(payload),
                       listed::plain(bytes, fault, computed_from), listed::names(clock), listed::plain(marks));
  }
};
static_assert(lists_all_members<Contribution>());

// What waits, waits here and not in the transport, whose queue cannot be reordered: older steps first, then the
// earliest layers' chunks, which the next forward pass needs first. The oldest goes whatever else is on its way: a lane
// may refuse the newer ones, which keep their credit, until it has the older.
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

  void set_credit(std::uint64_t bytes) { credit_ = bytes; }
  // The lane does not know this session (any more): everything is to be sent again.
  void forget_sent();

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // A contribution of the slot to the step.
  [[nodiscard]] bool has(Step step, Slot slot) const;
  [[nodiscard]] std::uint64_t in_flight_bytes() const { return in_flight_; }
  [[nodiscard]] std::uint64_t retries() const { return retries_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  // All of it.
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(entries_, receipt_time_), listed::plain(credit_, in_flight_),
                       listed::accounts(retries_));
  }

 private:
  struct Entry {
    Contribution contribution;
    Micros sent_at = 0;
    std::uint32_t tries = 0;  // 0: waits for credit

    [[nodiscard]] auto state() const {
      return listed::all(listed::parts(contribution), listed::ages(sent_at), listed::plain(tries));
    }
  };
  using Key = std::tuple<Step, ChunkId, Node>;
  using Entries = std::map<Key, Entry>;

  Entries::iterator release(Entries::iterator entry, std::vector<PayloadId>& free);

  Entries entries_;
  LearntDeadline receipt_time_;
  std::uint64_t credit_ = 0;
  std::uint64_t in_flight_ = 0;
  std::uint64_t retries_ = 0;
};
static_assert(lists_all_members<Outbox>());

}  // namespace ballast
