// Items that a lane has accepted and not applied yet: they wait for the journal, in the order of their tickets.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

struct ItemUpdate {
  struct Sender {
    SessionId session = 0;
    Push push;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::names(session), listed::plain(push));
    }
  };

  std::uint64_t ticket = 0;
  ChunkId chunk = 0;
  ItemId item = 0;
  Version version = 0;  // that the update turns into the next one
  StepFactors factors;
  PayloadId payload = kNoPayload;
  std::vector<Sender> senders;  // who waits for its receipt; the first one's it is

  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::names(ticket), listed::plain(chunk, item, version, factors), listed::payloads(payload),
                       listed::parts(senders));
  }
};

// Pure and copyable. Not thread-safe.
class PendingItems {
 public:
  // Takes the update in, with the next ticket.
  const ItemUpdate& add(ItemUpdate update);
  // The chunk's item, null if it is not among them.
  [[nodiscard]] ItemUpdate* find(ChunkId chunk, ItemId item);
  [[nodiscard]] const ItemUpdate* find(ChunkId chunk, ItemId item) const {
    return const_cast<PendingItems*>(this)->find(chunk, item);
  }
  // All up to that ticket are committed, and the journal is at that sequence. What was committed on an earlier timeline
  // is no news: its sequences say nothing of this one's.
  void committed(std::uint64_t ticket, std::uint64_t sequence);
  [[nodiscard]] bool has_committed() const;
  // The first one, which is committed.
  [[nodiscard]] const ItemUpdate& first() const { return updates_.front(); }
  ItemUpdate take();

  // Gives up all: their payloads. Tickets go on.
  std::vector<PayloadId> forget();
  // The journal is at that sequence.
  void begin(std::uint64_t sequence) { sequence_ = sequence; }

  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
  [[nodiscard]] std::size_t size() const { return updates_.size(); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(updates_), listed::fixed(tickets_),
                       listed::names(first_ticket_, next_ticket_, committed_ticket_), listed::plain(sequence_));
  }

 private:
  std::deque<ItemUpdate> updates_;                               // their tickets follow each other
  std::map<std::pair<ChunkId, ItemId>, std::uint64_t> tickets_;  // of the same
  std::uint64_t first_ticket_ = 1;                               // of the timeline
  std::uint64_t next_ticket_ = 1;
  std::uint64_t committed_ticket_ = 0;
  std::uint64_t sequence_ = 0;  // committed
};

}  // namespace ballast
