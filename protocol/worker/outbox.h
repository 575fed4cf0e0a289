// A worker's contributions to one lane: kept unmodified until their receipts, sent when they are called.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/messages/parts.h"
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

// A node of a step of which contributions are kept.
struct KeptNode {
  Node node;
  bool is_sent = false;  // some have been, and have no receipt
  Micros since = 0;      // all of them have waited, at least
  bool operator==(const KeptNode&) const = default;
};

// What waits, waits here and not in the transport, whose queue cannot be reordered. It is offered, the lowest first,
// and sent once when it is called, or within bytes given ahead; again only if the connection has ended, or the lane
// says that it cannot take it yet.
//
// A lane of version 13 calls nothing: it grants a credit. The oldest goes whatever else is on its way, for such a lane
// may refuse the newer ones, which keep their credit, until it has the older; and what has no receipt in time is sent
// again.
//
// A call costs by what it sends or releases, and by the logarithm of what is kept; `before` also by the steps that are
// kept, `has` and `kept` by the nodes of its step, `drop` and `withdraw` by the contributions to it,
// `drop_older_timelines` and `forget_sent` by all.
class Outbox {
 public:
  explicit Outbox(LearntDeadline::Bounds retry) : receipt_time_(retry) {}

  // Takes the place of an earlier contribution of the same work, whose payload is free then: any of them will do.
  std::vector<PayloadId> add(const Contribution& contribution, Micros now = 0);
  // The contributions to send now, marked as sent: what bytes given ahead are enough for. Within a credit: the oldest,
  // others within the credit, and those whose receipt is overdue.
  std::vector<Contribution> take_sendable(Micros now);
  // It is called: what is to be sent now, marked as sent; none: it is not here, or was sent already.
  std::optional<Contribution> call(const Work& work, Micros now);
  // What waits, the lowest kMaxOffers of it, if the lane is to be told: it does not know of something, and of little
  // else; or `again`, and something waits.
  std::optional<std::vector<Work>> offers(bool again);
  // The lane cannot take it yet.
  void not_yet(Timeline timeline, const Work& work);

  void give_ahead(std::uint64_t bytes) { ahead_ += bytes; }
  // What was given ahead and is not spent, which it will not be any more.
  std::uint64_t give_back() { return std::exchange(ahead_, 0); }
  [[nodiscard]] bool has_waiting() const { return !waiting_.empty(); }
  // The payloads that are free now. `before` releases every contribution of the chunk to an older step: a newer version
  // of a chunk is a receipt for all of them.
  std::vector<PayloadId> receipt(Timeline timeline, Step step, ChunkId chunk, Node node, Micros now);
  std::vector<PayloadId> before(ChunkId chunk, Step step);
  std::vector<PayloadId> drop_older_timelines(Timeline timeline);
  // The contributions of the slot to the step, which are forgotten, whether they were sent or not.
  std::vector<Contribution> drop(Step step, Slot slot);
  // Those to the step whose nodes lie within this one, likewise. What was offered of them is offered no more.
  std::vector<Contribution> withdraw(Step step, Node node);
  // By node. Costs as much as there are.
  [[nodiscard]] std::vector<KeptNode> kept(Step step) const;

  // 0: the lane calls what it takes.
  void set_credit(std::uint64_t bytes) { credit_ = bytes; }
  // The connection has ended, or the lane does not know this session (any more): everything is to be sent again.
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
    return listed::all(
        listed::parts(entries_), listed::fixed(waiting_, on_their_way_, by_node_), listed::parts(receipt_time_),
        listed::plain(credit_, ahead_, told_, tells_anew_, in_flight_, bytes_), listed::accounts(retries_));
  }

 private:
  struct Entry {
    Contribution contribution;
    Micros sent_at = 0;
    std::uint32_t tries = 0;  // 0: waits to be called, or for credit
    bool by_name = false;     // it was sent too soon: only when it is called

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::parts(contribution), listed::ages(sent_at), listed::plain(tries, by_name));
    }
  };
  struct Parts {
    std::size_t kept = 0;
    std::size_t sent = 0;  // of them
    Micros since = 0;      // the newest is here
    bool operator==(const Parts&) const = default;
  };
  using Key = Work;
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
  std::vector<Contribution> spend_ahead(Micros now);
  Contribution send(const Key& key, Micros now);
  Entries::iterator release(Entries::iterator entry, std::vector<PayloadId>& free);
  Entries::iterator take_out(Entries::iterator entry, std::vector<Contribution>& dropped);

  Entries entries_;
  // These follow from the entries.
  std::set<Key> waiting_;
  std::set<OnItsWay> on_their_way_;
  std::map<std::pair<Step, Node>, Parts> by_node_;
  LearntDeadline receipt_time_;
  std::uint64_t credit_ = 0;
  std::uint64_t ahead_ = 0;  // given, and not spent
  std::vector<Work> told_;   // what the lane was last offered, and is here still
  bool tells_anew_ = false;  // some of it was withdrawn
  std::uint64_t in_flight_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t retries_ = 0;
};

}  // namespace ballast
