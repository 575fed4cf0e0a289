#include "protocol/lane/pending_items.h"

#include <algorithm>
#include <utility>

namespace ballast {

const ItemUpdate& PendingItems::add(ItemUpdate update) {
  update.ticket = next_ticket_++;
  tickets_[{update.chunk, update.item}] = update.ticket;
  return updates_.emplace_back(std::move(update));
}

ItemUpdate* PendingItems::find(ChunkId chunk, ItemId item) {
  const auto found = tickets_.find({chunk, item});
  return found == tickets_.end() ? nullptr : &updates_[found->second - updates_.front().ticket];
}

void PendingItems::committed(std::uint64_t ticket, std::uint64_t sequence) {
  if (ticket < first_ticket_) {
    return;
  }
  sequence_ = std::max(sequence_, sequence);
  committed_ticket_ = std::max(committed_ticket_, ticket);
}

bool PendingItems::has_committed() const { return !updates_.empty() && updates_.front().ticket <= committed_ticket_; }

ItemUpdate PendingItems::take() {
  auto update = std::move(updates_.front());
  updates_.pop_front();
  tickets_.erase({update.chunk, update.item});
  return update;
}

std::vector<PayloadId> PendingItems::forget() {
  std::vector<PayloadId> payloads;
  for (const auto& update : updates_) {
    payloads.push_back(update.payload);
  }
  updates_.clear();
  tickets_.clear();
  first_ticket_ = next_ticket_;
  return payloads;
}

}  // namespace ballast
