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
  if (over->second.replies.empty() && (!over->second.is_cut || over->second.has_ended)) {
    connections_.erase(over);
  }
  return reply;
}

// What was sent over it the transport lets go of.
void WeightsReaders::ended(SessionId session, ConnectionId connection) {
  const auto found = connections_.find({session, connection});
  if (found == connections_.end()) {
    return;
  }
  found->second.has_ended = true;
  if (found->second.replies.empty()) {
    connections_.erase(found);
  }
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

// ---- time

void WeightsReaders::tick(Micros now) {
  const auto most = std::max<Micros>(limits_.patience / 4, 1);
  passed_ += seen_ == 0 || now < seen_ ? 0 : std::min(now - seen_, most);
  seen_ = now;
}

Micros WeightsReaders::time_for(ChunkId chunk) const {
  return limits_.patience + time_on_slowest_link(chunks_.at(chunk).bytes);
}

std::optional<ChunkId> WeightsReaders::overdue() const {
  for (const auto& [chunk, since] : waiting_) {
    if (passed_ - since >= time_for(chunk)) {
      return chunk;
    }
  }
  return std::nullopt;
}

bool WeightsReaders::is_slow(PayerId payer) const {
  const auto found = slow_.find(payer);
  return found != slow_.end() && passed_ - found->second.since < limits_.pause << (found->second.doublings - 1);
}

// Once for all of its connections that are cut meanwhile.
void WeightsReaders::was_slow(PayerId payer) {
  if (!slow_.contains(payer) && slow_.size() >= kMostSlow) {
    slow_.erase(std::ranges::min_element(slow_, {}, [](const auto& each) { return each.second.since; }));
  }
  auto& slow = slow_[payer];
  const bool is_forgiven = passed_ - slow.since >= limits_.pause << kMostPauseDoublings;
  if (slow.doublings == 0 || is_forgiven) {
    slow.doublings = 1;
  } else if (!is_slow(payer)) {
    slow.doublings = std::min(slow.doublings + 1, kMostPauseDoublings);
  }
  slow.since = passed_;
}

// It is not known to stand still although it was cut.
bool WeightsReaders::is_going(const Connection& connection) const {
  return connection.is_cut && passed_ - connection.since < limits_.patience;
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

// Bytes without which updates that wait find no room, when all has ended that is cut: all updates, or those that have
// waited for long enough.
std::uint64_t WeightsReaders::lacking(const Uncut& uncut, bool for_all) const {
  std::uint64_t needed = 0;
  for (const auto& [buffer, readers] : uncut) {
    needed += readers > 0 ? chunks_.at(std::get<ChunkId>(buffer)).bytes : 0;
  }
  bool is_waited_for = false;
  for (const auto& [chunk, since] : waiting_) {
    if (for_all || passed_ - since >= time_for(chunk)) {
      needed += kept_by_update(chunks_.at(chunk));
      is_waited_for = true;
    }
  }
  return is_waited_for && needed > limits_.set_aside ? needed - limits_.set_aside : 0;
}

// Those over which something is kept, first the one over which nothing was read for longest.
std::vector<WeightsReaders::ConnectionKey> WeightsReaders::keeping() const {
  std::vector<std::pair<Micros, ConnectionKey>> keeping;
  for (const auto& [key, connection] : connections_) {
    if (!is_going(connection) &&
        std::ranges::any_of(connection.replies, [&](auto number) { return is_kept(replies_.at(number)); })) {
      keeping.emplace_back(connection.since, key);
    }
  }
  std::ranges::sort(keeping);
  std::vector<ConnectionKey> keys;
  for (const auto& [since, key] : keeping) {
    keys.push_back(key);
  }
  return keys;
}

// How many kept bytes have nobody else to wait for.
std::uint64_t WeightsReaders::cut(Connection& connection, Uncut& uncut) {
  std::uint64_t freed = 0;
  for (const auto number : connection.replies) {
    const auto& reply = replies_.at(number);
    if (is_kept(reply) && --uncut.at({reply.chunk, reply.averages, reply.generation}) == 0) {
      freed += reply.bytes;
    }
  }
  if (!connection.is_cut) {
    was_slow(connection.payer);
  }
  ++counters_.cut;
  connection.is_cut = true;
  connection.since = passed_;
  return freed;
}

std::vector<WeightsReaders::Reader> WeightsReaders::cut() {
  std::vector<Reader> readers;
  if (waiting_.empty()) {
    return readers;
  }
  auto uncut = this->uncut();
  for (const bool slow_ones : {true, false}) {
    auto lacking = this->lacking(uncut, slow_ones);
    for (const auto& key : lacking > 0 ? keeping() : std::vector<ConnectionKey>()) {
      auto& connection = connections_.at(key);
      if (lacking > 0 && (!slow_ones || is_slow(connection.payer))) {
        lacking -= std::min(lacking, cut(connection, uncut));
        readers.push_back({key.first, key.second, connection.payer});
      }
    }
  }
  return readers;
}

}  // namespace ballast
