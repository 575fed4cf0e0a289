#include "protocol/worker/outbox.h"

#include <algorithm>

namespace ballast {

std::vector<PayloadId> Outbox::add(const Contribution& contribution) {
  std::vector<PayloadId> free;
  const Key key{contribution.step, contribution.chunk, contribution.node};
  if (const auto known = entries_.find(key); known != entries_.end()) {
    release(known, free);
  }
  entries_.emplace(key, Entry{contribution});
  return free;
}

std::vector<Contribution> Outbox::take_sendable(Micros now) {
  std::vector<Contribution> sendable;
  if (credit_ == 0) {
    return sendable;
  }
  bool has_credit = true;
  const auto deadline = receipt_time_.deadline();
  for (auto& [key, entry] : entries_) {
    if (entry.tries == 0) {
      const bool is_oldest = key == entries_.begin()->first;
      has_credit = has_credit && in_flight_ + entry.contribution.bytes <= credit_;
      if (!has_credit && !is_oldest) {
        continue;
      }
      in_flight_ += entry.contribution.bytes;
    } else if (now - entry.sent_at >= deadline * std::min(entry.tries, 8U)) {
      ++retries_;
    } else {
      continue;
    }
    ++entry.tries;
    entry.sent_at = now;
    sendable.push_back(entry.contribution);
  }
  return sendable;
}

Outbox::Entries::iterator Outbox::release(Entries::iterator entry, std::vector<PayloadId>& free) {
  if (entry->second.tries > 0) {
    in_flight_ -= entry->second.contribution.bytes;
  }
  free.push_back(entry->second.contribution.payload);
  return entries_.erase(entry);
}

std::vector<PayloadId> Outbox::receipt(Timeline timeline, Step step, ChunkId chunk, Node node, Micros now) {
  std::vector<PayloadId> free;
  const auto entry = entries_.find({step, chunk, node});
  if (entry != entries_.end() && entry->second.contribution.timeline == timeline) {
    if (entry->second.tries == 1) {
      receipt_time_.observe(now - entry->second.sent_at);
    }
    release(entry, free);
  }
  return free;
}

std::vector<PayloadId> Outbox::before(ChunkId chunk, Step step) {
  std::vector<PayloadId> free;
  for (auto entry = entries_.begin(); entry != entries_.end() && std::get<Step>(entry->first) < step;) {
    entry = entry->second.contribution.chunk == chunk ? release(entry, free) : std::next(entry);
  }
  return free;
}

std::vector<PayloadId> Outbox::drop_older_timelines(Timeline timeline) {
  std::vector<PayloadId> free;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    entry = entry->second.contribution.timeline < timeline ? release(entry, free) : std::next(entry);
  }
  return free;
}

void Outbox::forget_sent() {
  for (auto& [key, entry] : entries_) {
    entry.tries = 0;
  }
  in_flight_ = 0;
}

bool Outbox::has(Step step, Slot slot) const {
  for (auto entry = entries_.lower_bound({step, 0, Node{}});
       entry != entries_.end() && std::get<Step>(entry->first) == step; ++entry) {
    if (std::get<Node>(entry->first).contains(slot)) {
      return true;
    }
  }
  return false;
}

}  // namespace ballast
