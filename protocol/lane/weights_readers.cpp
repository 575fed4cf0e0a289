#include "protocol/lane/weights_readers.h"

#include <algorithm>

#include "protocol/lane/slowest_link.h"

namespace ballast {

// ---- replies

std::uint64_t WeightsReaders::sends(const Reader& reader, ChunkId id, std::uint64_t bytes, bool is_older,
                                    bool averages) {
  auto& chunk = chunks_[id];
  chunk.bytes = bytes;
  const auto generation = chunk.generation - (is_older ? 1 : 0);
  ++(averages ? chunk.averages : chunk.weights)[generation];
  auto& connection = connections_[{reader.session, reader.connection}];
  connection.payer = reader.payer;
  connection.since = connection.replies.empty() ? passed_ : connection.since;
  connection.replies.insert(next_number_);
  replies_.emplace(next_number_, Reply{reader, id, bytes, averages, generation});
  return next_number_++;
}

std::optional<WeightsReaders::Reply> WeightsReaders::released(std::uint64_t number) {
  const auto found = replies_.find(number);
  if (found == replies_.end()) {
    return std::nullopt;
  }
  const auto reply = found->second;
  auto& chunk = chunks_.at(reply.chunk);
  auto& readers = reply.averages ? chunk.averages : chunk.weights;
  if (const auto of = readers.find(reply.generation); --of->second == 0) {
    readers.erase(of);
    const bool was_kept = is_kept(reply);
    kept_ -= was_kept ? chunk.bytes : 0;
    has_room_again_ = has_room_again_ || was_kept || waiting_.contains(reply.chunk);
  }
  replies_.erase(found);
  const auto over = connections_.find({reply.reader.session, reply.reader.connection});
  over->second.replies.erase(number);
  over->second.since = over->second.is_cut ? over->second.since : passed_;
  if (over->second.replies.empty()) {
    connections_.erase(over);
  }
  return reply;
}

// The newest weights become the older ones; the average is written anew.
bool WeightsReaders::is_kept(const Chunk& chunk, std::uint64_t generation, bool averages) {
  return generation + (averages ? 0 : 1) < chunk.generation;
}

bool WeightsReaders::is_kept(const Reply& reply) const {
  return is_kept(chunks_.at(reply.chunk), reply.generation, reply.averages);
}

// ---- updates

std::uint64_t WeightsReaders::kept_by_update(const Chunk& chunk) {
  return (chunk.weights.contains(chunk.generation - 1) ? chunk.bytes : 0) +
         (chunk.averages.contains(chunk.generation) ? chunk.bytes : 0);
}

bool WeightsReaders::may_update(ChunkId id) {
  const auto more = kept_by_update(chunks_[id]);
  if (more > 0 && kept_ + more > limits_.set_aside) {
    counters_.waits += waiting_.emplace(id, passed_).second ? 1 : 0;
    return false;
  }
  return true;
}

bool WeightsReaders::updates(ChunkId id) {
  if (!may_update(id)) {
    return false;
  }
  auto& chunk = chunks_.at(id);
  kept_ += kept_by_update(chunk);
  ++chunk.generation;
  waiting_.erase(id);
  return true;
}

void WeightsReaders::begin() {
  waiting_.clear();
  for (auto& [id, chunk] : chunks_) {
    for (const bool averages : {false, true}) {
      for (const auto& [generation, count] : averages ? chunk.averages : chunk.weights) {
        kept_ += is_kept(chunk, generation, averages) ? 0 : chunk.bytes;
      }
    }
    chunk.generation += 2;
  }
}

bool WeightsReaders::may_go_on() const { return has_room_again_ && !waiting_.empty(); }

// ---- time

void WeightsReaders::tick(Micros now) {
  const auto most = std::max<Micros>(limits_.patience / 4, 1);
  passed_ += seen_ == 0 || now < seen_ ? 0 : std::min(now - seen_, most);
  seen_ = now;
}

std::uint64_t WeightsReaders::largest_kept() const {
  std::uint64_t largest = 0;
  for (const auto& [number, reply] : replies_) {
    largest = is_kept(reply) ? std::max(largest, reply.bytes) : largest;
  }
  return largest;
}

std::optional<ChunkId> WeightsReaders::overdue() const {
  const auto oldest = std::ranges::min_element(waiting_, {}, [](const auto& each) { return each.second; });
  const bool is_overdue =
      oldest != waiting_.end() && passed_ - oldest->second >= limits_.patience + time_on_slowest_link(largest_kept());
  return is_overdue ? std::optional(oldest->first) : std::nullopt;
}

bool WeightsReaders::is_slow(PayerId payer) const {
  const auto found = slow_.find(payer);
  return found != slow_.end() && passed_ - found->second.since < limits_.pause << (found->second.doublings - 1);
}

// Once for all of its connections that are cut during the pause.
void WeightsReaders::was_slow(PayerId payer) {
  if (is_slow(payer)) {
    return;
  }
  if (!slow_.contains(payer) && slow_.size() >= kMostSlow) {
    slow_.erase(std::ranges::min_element(slow_, {}, [](const auto& each) { return each.second.since; }));
  }
  auto& slow = slow_[payer];
  const bool is_forgiven = passed_ - slow.since >= limits_.pause << kMostPauseDoublings;
  slow.doublings = is_forgiven ? 1 : std::min(slow.doublings + 1, kMostPauseDoublings);
  slow.since = passed_;
}

// It is not known to stand still although it was cut.
bool WeightsReaders::is_going(const Connection& connection) const {
  return connection.is_cut && passed_ - connection.since < limits_.patience;
}

std::int64_t WeightsReaders::behind(const Connection& connection) const {
  const auto& first = replies_.at(*connection.replies.begin());
  const auto may_be = is_slow(connection.payer) ? limits_.patience / kPartInPause
                                                : limits_.patience + time_on_slowest_link(first.bytes);
  return static_cast<std::int64_t>(passed_ - connection.since) - static_cast<std::int64_t>(may_be);
}

WeightsReaders::Uncut WeightsReaders::uncut() const {
  Uncut uncut;
  for (const auto& [number, reply] : replies_) {
    if (is_kept(reply)) {
      const auto& over = connections_.at({reply.reader.session, reply.reader.connection});
      uncut[{reply.chunk, reply.averages, reply.generation}] += is_going(over) ? 0 : 1;
    }
  }
  return uncut;
}

// Bytes without which updates that have waited for so long find no room, when all has ended that is cut.
std::uint64_t WeightsReaders::lacking(const Uncut& uncut, Micros waited) const {
  std::uint64_t needed = 0;
  for (const auto& [buffer, readers] : uncut) {
    needed += readers > 0 ? chunks_.at(std::get<ChunkId>(buffer)).bytes : 0;
  }
  bool is_waited_for = false;
  for (const auto& [chunk, since] : waiting_) {
    if (passed_ - since >= waited) {
      needed += kept_by_update(chunks_.at(chunk));
      is_waited_for = true;
    }
  }
  return is_waited_for && needed > limits_.set_aside ? needed - limits_.set_aside : 0;
}

// Those over which something is kept, first the one that is furthest behind.
std::vector<WeightsReaders::ConnectionKey> WeightsReaders::keeping() const {
  std::vector<std::pair<std::int64_t, ConnectionKey>> keeping;
  for (const auto& [key, connection] : connections_) {
    if (!is_going(connection) &&
        std::ranges::any_of(connection.replies, [&](auto number) { return is_kept(replies_.at(number)); })) {
      keeping.emplace_back(-behind(connection), key);
    }
  }
  std::ranges::sort(keeping);
  std::vector<ConnectionKey> keys;
  for (const auto& [ahead, key] : keeping) {
    keys.push_back(key);
  }
  return keys;
}

// It alone is what some buffer is kept for.
bool WeightsReaders::frees(const Connection& connection, const Uncut& uncut) const {
  return std::ranges::any_of(connection.replies, [&](auto number) {
    const auto& reply = replies_.at(number);
    return is_kept(reply) && uncut.at({reply.chunk, reply.averages, reply.generation}) == 1;
  });
}

void WeightsReaders::cut(Connection& connection, Uncut& uncut) {
  for (const auto number : connection.replies) {
    const auto& reply = replies_.at(number);
    if (is_kept(reply)) {
      --uncut.at({reply.chunk, reply.averages, reply.generation});
    }
  }
  if (!connection.is_cut) {
    was_slow(connection.payer);
  }
  ++counters_.cut;
  connection.is_cut = true;
  connection.since = passed_;
}

std::vector<WeightsReaders::Reader> WeightsReaders::cut() {
  std::vector<Reader> readers;
  if (waiting_.empty()) {
    return readers;
  }
  auto uncut = this->uncut();
  const auto cut_some = [&](Micros waited, auto&& is_to_go) {
    for (const auto& key : lacking(uncut, waited) > 0 ? keeping() : std::vector<ConnectionKey>()) {
      auto& connection = connections_.at(key);
      if (is_to_go(connection) && lacking(uncut, waited) > 0) {
        cut(connection, uncut);
        readers.push_back({key.first, key.second, connection.payer});
      }
    }
  };
  const auto most = limits_.patience + time_on_slowest_link(largest_kept());
  cut_some(0, [&](const auto& connection) { return behind(connection) >= 0; });
  cut_some(most, [&](const auto& connection) { return frees(connection, uncut); });
  cut_some(most, [](const auto& /*connection*/) { return true; });
  return readers;
}

}  // namespace ballast
