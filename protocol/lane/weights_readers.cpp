#include "protocol/lane/weights_readers.h"

#include <algorithm>
#include <iterator>

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
  // They are read in their order; what the transport did not take was not read.
  const bool is_read = *over->second.replies.begin() == number && !over->second.is_cut;
  over->second.replies.erase(number);
  over->second.since = is_read ? passed_ : over->second.since;
  if (over->second.replies.empty()) {
    connections_.erase(over);
  }
  return reply;
}

// The newest weights become the older ones; the average is written anew.
bool WeightsReaders::is_kept(const Chunk& chunk, std::uint64_t generation, bool averages) {
  return generation + (averages ? 0 : 1) < chunk.generation;
}

bool WeightsReaders::is_in_the_way(const Reply& reply) const {
  const auto& chunk = chunks_.at(reply.chunk);
  return reply.generation + (reply.averages ? 0 : 1) < chunk.generation + (waiting_.contains(reply.chunk) ? 1 : 0);
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
  if (more > 0 && (kept_ + more > limits_.set_aside || overdue_.value_or(id) != id)) {
    has_room_again_ = has_room_again_ && !waiting_.empty();  // of what was read before it waits
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
  waits_no_longer(id);
  return true;
}

// Others may have waited for an overdue one.
void WeightsReaders::waits_no_longer(ChunkId id) {
  waiting_.erase(id);
  if (overdue_ == id) {
    overdue_.reset();
    has_room_again_ = true;
  }
}

std::vector<ChunkId> WeightsReaders::waiting_by_age() const {
  std::vector<std::pair<Micros, ChunkId>> by_age;
  for (const auto& [chunk, since] : waiting_) {
    by_age.emplace_back(since, chunk);
  }
  std::ranges::sort(by_age);
  std::vector<ChunkId> chunks;
  for (const auto& [since, chunk] : by_age) {
    chunks.push_back(chunk);
  }
  return chunks;
}

void WeightsReaders::begin() {
  first_of_timeline_ = next_number_;
  waiting_.clear();
  overdue_.reset();
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

void WeightsReaders::find_overdue() {
  const auto oldest = std::ranges::min_element(waiting_, {}, [](const auto& each) { return each.second; });
  if (!overdue_ && oldest != waiting_.end() && passed_ - oldest->second >= longest_wait()) {
    overdue_ = oldest->first;
  }
}

// An update waits for as long as the largest of what it waits for takes.
Micros WeightsReaders::longest_wait() const {
  std::uint64_t largest = 0;
  for (const auto& [number, reply] : replies_) {
    largest = is_in_the_way(reply) ? std::max(largest, reply.bytes) : largest;
  }
  return limits_.patience + time_on_slowest_link(largest);
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

// What is read first is of a timeline that is over.
bool WeightsReaders::is_past(const Connection& connection) const {
  return *connection.replies.begin() < first_of_timeline_;
}

std::int64_t WeightsReaders::behind(const Connection& connection) const {
  const auto& first = replies_.at(*connection.replies.begin());
  const auto takes = time_on_slowest_link(first.bytes);
  const auto may_be = is_past(connection)         ? 0
                      : is_slow(connection.payer) ? limits_.patience / kPartInPause + takes / kFasterInPause
                                                  : limits_.patience + takes;
  return static_cast<std::int64_t>(passed_ - connection.since) - static_cast<std::int64_t>(may_be);
}

WeightsReaders::Uncut WeightsReaders::uncut() const {
  Uncut uncut;
  for (const auto& [number, reply] : replies_) {
    const ConnectionKey key{reply.reader.session, reply.reader.connection};
    if (is_in_the_way(reply) && !is_going(connections_.at(key))) {
      uncut[{reply.chunk, reply.averages, reply.generation}].insert(key);
    }
  }
  return uncut;
}

// Bytes without which updates that have waited for so long find no room, when all has ended that is cut. Without any,
// what is read of a timeline that is over may be more than was set aside.
std::uint64_t WeightsReaders::lacking(const Uncut& uncut, Micros waited) const {
  std::uint64_t needed = 0;
  for (const auto& [buffer, readers] : uncut) {
    const auto& [id, averages, generation] = buffer;
    const auto& chunk = chunks_.at(id);
    const bool counts = is_kept(chunk, generation, averages) || passed_ - waiting_.at(id) >= waited;
    needed += counts ? chunk.bytes : 0;
  }
  const bool is_waited_for =
      std::ranges::any_of(waiting_, [&](const auto& each) { return passed_ - each.second >= waited; }) ||
      (waited == 0 && kept_ > limits_.set_aside);
  return is_waited_for && needed > limits_.set_aside ? needed - limits_.set_aside : 0;
}

// Those over which something is read that is in the way, first the one that is furthest behind.
std::vector<WeightsReaders::ConnectionKey> WeightsReaders::keeping() const {
  std::vector<std::pair<std::int64_t, ConnectionKey>> keeping;
  for (const auto& [key, connection] : connections_) {
    if (!is_going(connection) &&
        std::ranges::any_of(connection.replies, [&](auto number) { return is_in_the_way(replies_.at(number)); })) {
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

// Some buffer is read over no other.
bool WeightsReaders::frees(const ConnectionKey& key, const Uncut& uncut) {
  return std::ranges::any_of(uncut,
                             [&](const auto& each) { return each.second.size() == 1 && each.second.contains(key); });
}

void WeightsReaders::cut(const ConnectionKey& key, Uncut& uncut) {
  for (auto buffer = uncut.begin(); buffer != uncut.end();) {
    buffer->second.erase(key);
    buffer = buffer->second.empty() ? uncut.erase(buffer) : std::next(buffer);
  }
  auto& connection = connections_.at(key);
  if (!connection.is_cut && !is_past(connection)) {
    was_slow(connection.payer);
  }
  counters_.cut += connection.is_cut ? 0 : 1;
  connection.is_cut = true;
  connection.since = passed_;
}

std::vector<WeightsReaders::Reader> WeightsReaders::cut() {
  std::vector<Reader> readers;
  looked_ = passed_;
  if (waiting_.empty() && kept_ <= limits_.set_aside) {
    return readers;
  }
  find_overdue();
  auto uncut = this->uncut();
  const auto cut_some = [&](Micros waited, auto&& is_to_go) {
    auto lacks = lacking(uncut, waited);
    for (const auto& key : lacks > 0 ? keeping() : std::vector<ConnectionKey>()) {
      if (lacks > 0 && is_to_go(key)) {
        cut(key, uncut);
        readers.push_back({key.first, key.second, connections_.at(key).payer});
        lacks = lacking(uncut, waited);
      }
    }
  };
  const auto most = longest_wait();
  cut_some(0, [&](const auto& key) { return behind(connections_.at(key)) >= 0; });
  cut_some(most, [&](const auto& key) { return frees(key, uncut); });
  cut_some(most, [](const auto& /*key*/) { return true; });
  return readers;
}

}  // namespace ballast
