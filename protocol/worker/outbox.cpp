#include "protocol/worker/outbox.h"

#include <algorithm>

namespace ballast {

namespace {

constexpr std::uint32_t kMostPatience = 8;

}  // namespace

std::vector<PayloadId> Outbox::add(const Contribution& contribution, Micros now) {
  std::vector<PayloadId> free;
  const Key key{contribution.step, contribution.chunk, contribution.node};
  if (const auto known = entries_.find(key); known != entries_.end()) {
    release(known, free);
  }
  entries_.emplace(key, Entry{contribution});
  waiting_.insert(key);
  bytes_ += contribution.bytes;
  auto& parts = by_node_[{contribution.step, contribution.node}];
  ++parts.kept;
  parts.since = now;
  return free;
}

std::vector<Contribution> Outbox::take_sendable(Micros now) {
  std::vector<Contribution> sendable;
  if (credit_ == 0) {
    return spend_ahead(now);
  }
  std::vector<Key> keys;
  find_overdue(now, keys);
  retries_ += keys.size();
  find_waiting(keys);
  std::sort(keys.begin(), keys.end());
  sendable.reserve(keys.size());
  for (const auto& key : keys) {
    sendable.push_back(send(key, now));
  }
  return sendable;
}

std::vector<Contribution> Outbox::spend_ahead(Micros now) {
  std::vector<Contribution> sendable;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto key = *next++;
    const auto& entry = entries_.at(key);
    if (entry.contribution.bytes > ahead_) {
      break;
    }
    if (!entry.by_name) {
      ahead_ -= entry.contribution.bytes;
      sendable.push_back(send(key, now));
    }
  }
  return sendable;
}

std::optional<Contribution> Outbox::call(const Work& work, Micros now) {
  if (!waiting_.contains(work)) {
    return std::nullopt;
  }
  return send(work, now);
}

// Most of what was offered is still to be called where the lane has little room; then one word more for each further
// chunk would be as many as there are chunks.
std::optional<std::vector<Work>> Outbox::offers(bool again) {
  if (credit_ > 0 || (waiting_.empty() && told_.empty() && !tells_anew_)) {
    return std::nullopt;
  }
  std::vector<Work> lowest;
  for (const auto& work : waiting_) {
    if (lowest.size() == kMaxOffers) {
      break;
    }
    lowest.push_back(work);
  }
  const bool is_news = lowest != told_;
  const bool is_urgent = !lowest.empty() && (told_.size() < kMaxOffers / 2 || lowest.front() < told_.front());
  if (!(is_news && is_urgent) && !(again && !lowest.empty()) && !tells_anew_) {
    return std::nullopt;
  }
  tells_anew_ = false;
  told_ = lowest;
  return lowest;
}

void Outbox::not_yet(Timeline timeline, const Work& work) {
  const auto entry = entries_.find(work);
  if (entry == entries_.end() || entry->second.contribution.timeline != timeline || entry->second.tries == 0) {
    return;
  }
  on_their_way_.erase(on_its_way(*entry));
  in_flight_ -= entry->second.contribution.bytes;
  --by_node_.at({work.step, work.node}).sent;
  entry->second.tries = 0;
  entry->second.by_name = true;
  waiting_.insert(work);
}

std::uint32_t Outbox::patience(const Entry& entry) { return std::min(entry.tries, kMostPatience); }

void Outbox::find_overdue(Micros now, std::vector<Key>& keys) const {
  if (on_their_way_.empty()) {
    return;
  }
  const auto deadline = receipt_time_.deadline();
  for (std::uint32_t patience = 1; patience <= kMostPatience; ++patience) {
    for (auto next = on_their_way_.lower_bound({patience, 0, Key{}}); next != on_their_way_.end(); ++next) {
      const auto& [own_patience, sent_at, key] = *next;
      if (own_patience != patience || now - sent_at < deadline * patience) {
        break;
      }
      keys.push_back(key);
    }
  }
}

void Outbox::find_waiting(std::vector<Key>& keys) const {
  auto bytes = in_flight_;
  for (const auto& key : waiting_) {
    const bool is_oldest = key == entries_.begin()->first;
    const auto own = entries_.at(key).contribution.bytes;
    if (bytes + own > credit_ && !is_oldest) {
      return;
    }
    bytes += own;
    keys.push_back(key);
  }
}

Contribution Outbox::send(const Key& key, Micros now) {
  const auto entry = entries_.find(key);
  if (entry->second.tries == 0) {
    waiting_.erase(key);
    std::erase(told_, key);
    in_flight_ += entry->second.contribution.bytes;
    ++by_node_.at({key.step, key.node}).sent;
  } else {
    on_their_way_.erase(on_its_way(*entry));
  }
  ++entry->second.tries;
  entry->second.sent_at = now;
  on_their_way_.insert(on_its_way(*entry));
  return entry->second.contribution;
}

Outbox::Entries::iterator Outbox::release(Entries::iterator entry, std::vector<PayloadId>& free) {
  const auto& [key, own] = *entry;
  if (own.tries > 0) {
    in_flight_ -= own.contribution.bytes;
    on_their_way_.erase(on_its_way(*entry));
  } else {
    waiting_.erase(key);
    std::erase(told_, key);
  }
  const auto parts = by_node_.find({own.contribution.step, own.contribution.node});
  parts->second.sent -= own.tries > 0 ? 1 : 0;
  if (--parts->second.kept == 0) {
    by_node_.erase(parts);
  }
  bytes_ -= own.contribution.bytes;
  free.push_back(own.contribution.payload);
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
  for (auto entry = entries_.begin(); entry != entries_.end() && entry->second.contribution.step < step;) {
    const auto each = entry->second.contribution.step;
    entry = entries_.lower_bound({each, chunk, Node{}});
    while (entry != entries_.end() && entry->second.contribution.step == each &&
           entry->second.contribution.chunk == chunk) {
      entry = release(entry, free);
    }
    entry = entries_.lower_bound({each + 1, 0, Node{}});
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

std::vector<Contribution> Outbox::drop(Step step, Slot slot) {
  std::vector<Contribution> dropped;
  for (auto entry = entries_.lower_bound({step, 0, Node{}});
       entry != entries_.end() && entry->second.contribution.step == step;) {
    entry = entry->second.contribution.node.contains(slot) ? take_out(entry, dropped) : std::next(entry);
  }
  return dropped;
}

std::vector<Contribution> Outbox::withdraw(Step step, Node node) {
  std::vector<Contribution> dropped;
  for (auto entry = entries_.lower_bound({step, 0, Node{}});
       entry != entries_.end() && entry->second.contribution.step == step;) {
    const auto& own = entry->second.contribution.node;
    entry = node.begin <= own.begin && own.end <= node.end ? take_out(entry, dropped) : std::next(entry);
  }
  return dropped;
}

// Whoever is called for what it has offered, and has not, is out of good standing.
Outbox::Entries::iterator Outbox::take_out(Entries::iterator entry, std::vector<Contribution>& dropped) {
  tells_anew_ = tells_anew_ || std::ranges::find(told_, entry->first) != told_.end();
  dropped.push_back(entry->second.contribution);
  std::vector<PayloadId> free;
  return release(entry, free);
}

std::vector<KeptNode> Outbox::kept(Step step) const {
  std::vector<KeptNode> kept;
  for (auto part = by_node_.lower_bound({step, Node{}}); part != by_node_.end() && part->first.first == step; ++part) {
    kept.push_back({part->first.second, part->second.sent > 0, part->second.since});
  }
  return kept;
}

void Outbox::forget_sent() {
  for (auto& [key, entry] : entries_) {
    entry.tries = 0;
    waiting_.insert(key);
  }
  for (auto& [node, parts] : by_node_) {
    parts.sent = 0;
  }
  on_their_way_.clear();
  in_flight_ = 0;
  ahead_ = 0;
  told_.clear();
  tells_anew_ = false;
}

bool Outbox::has(Step step, Slot slot) const {
  for (auto part = by_node_.lower_bound({step, Node{}}); part != by_node_.end() && part->first.first == step; ++part) {
    if (part->first.second.contains(slot)) {
      return true;
    }
  }
  return false;
}

}  // namespace ballast
