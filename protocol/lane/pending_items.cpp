#include "protocol/lane/pending_items.h"

#include <algorithm>
#include <utility>

namespace ballast {

const ItemUpdate& PendingItems::add(ItemUpdate update) {
  update.ticket = next_ticket_++;
  return updates_.emplace_back(std::move(update));
}

ItemUpdate* PendingItems::find(ChunkId chunk, ItemId item) {
  const auto found = std::find_if(updates_.begin(), updates_.end(), [&](const ItemUpdate& update) {
    return update.item == item && update.chunk == chunk;
  });
  return found == updates_.end() ? nullptr : &*found;
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
  return update;
}

std::vector<PayloadId> PendingItems::forget() {
  std::vector<PayloadId> payloads;
  for (const auto& update : updates_) {
    payloads.push_back(update.payload);
  }
  updates_.clear();
  first_ticket_ = next_ticket_;
  return payloads;
}

}  // namespace ballast
