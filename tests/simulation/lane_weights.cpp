// A lane's shell and what it computes with: contributions, their sums, weights and the buffers that replies reference.
#include <algorithm>
#include <utility>

#include "tests/simulation/judge/violation.h"
#include "tests/simulation/lane_shell.h"

namespace ballast::simulation {

HeldPayload LaneShell::take(PayloadId id) {
  const auto found = held_.find(id);
  if (found == held_.end()) {
    throw Violation(name() + ": payload " + std::to_string(id) + " is used after it was given up");
  }
  auto payload = found->second;
  held_.erase(found);
  return payload;
}

void LaneShell::act(Host& host, lane::SendWeights& action) {
  auto& chunk = chunks_[action.header.chunk];
  const auto version = chunk.versions.find(action.header.version);
  if (version == chunk.versions.end()) {
    throw Violation(name() + " sends version " + std::to_string(action.header.version) + " of chunk " +
                    std::to_string(action.header.chunk) + ", which it does not hold");
  }
  const auto index = version->second;
  auto& buffer = chunk.buffers[index];
  require(!action.header.averages || action.header.version == chunk.versions.rbegin()->first,
          "an average is sent under another version than the chunk's newest");
  const auto value = action.header.averages ? evaluated(host.life(), action.header.chunk, chunk.value) : buffer.value;
  ++buffer.references;
  host.judge().weights_sent(host.disks(), action.session, life_, action.header, action.bytes, value);
  require(action.connection == heard_over_[action.session], "weights go out over another connection than the newest");
  const bool stands = !ended_.contains({action.session, action.connection});
  if (stands) {
    host.send(*this, static_cast<ProcessId>(action.session), action.header,
              Payload{value, 0, kNoSlot, life_.timeline, 0});
  }
  if (!reads(action.session, action.connection)) {
    read_at_[{action.session, action.connection}] = host.now();
  }
  replies_[action.reply] = {action.session, action.connection, action.header.chunk, index, action.bytes};
  const bool is_unread = stands && host.draws_unread();
  later(host, within(is_unread ? host.life().faults.unread_for : host.life().release_high), ReplyRelease{action.reply});
}

// When it is read, or with the end of its connection.
void LaneShell::done(Host& host, const ReplyRelease& what) {
  const auto found = replies_.find(what.reply);
  if (found == replies_.end()) {
    return;
  }
  const auto reply = found->second;
  const bool is_first = std::ranges::none_of(replies_, [&](const auto& each) {
    return each.first < what.reply && each.second.session == reply.session &&
           each.second.connection == reply.connection;
  });
  replies_.erase(found);
  if (is_first) {
    read_at_[{reply.session, reply.connection}] = host.now();
  }
  --chunks_[reply.chunk].buffers[reply.buffer].references;
  host.judge().replies_released(reply.session, life_, reply.bytes);
  step(host, lane::ReplyReleased{what.reply});
}

void LaneShell::release_all_over(Host& host, SessionId session, ConnectionId connection) {
  std::vector<std::uint64_t> over;
  for (const auto& [number, reply] : replies_) {
    if (reply.session == session && reply.connection == connection) {
      over.push_back(number);
    }
  }
  for (auto number = over.begin(); number != over.end() && !crashed(); ++number) {
    done(host, ReplyRelease{*number});
  }
}

bool LaneShell::reads(SessionId session, ConnectionId connection) const {
  return std::ranges::any_of(replies_, [&](const auto& each) {
    return each.second.session == session && each.second.connection == connection;
  });
}

// A connection is cut for weights that are not read.
void LaneShell::judge_cut(Host& host, SessionId session, ConnectionId connection) {
  require(reads(session, connection), "a connection is cut for what is read over it, and nothing is");
  const bool is_past = std::ranges::any_of(
      replies_, [&](const auto& each) { return chunks_.at(each.second.chunk).buffers[each.second.buffer].is_past; });
  require(is_past || !waits_since_.empty(), "a connection is cut for what is read over it, and no update waits");
  // What is read first over it is of a timeline that is over, and of no use.
  const auto first = std::ranges::find_if(replies_, [&](const auto& each) {
    return each.second.session == session && each.second.connection == connection;
  });
  if (chunks_.at(first->second.chunk).buffers[first->second.buffer].is_past) {
    ticks_without_cut_ = 0;
    return;
  }
  // By a clock of its own, twice as fast at most; it counts from the tick before, and a tick as a quarter at most.
  const auto patience = (kKeptPatience - kKeptPatience / 4) / 2;
  const auto is_late = [&](const auto& each) { return host.now() - each.second >= patience; };
  // Of one that was cut before it is no longer than from one tick to the next.
  require(std::ranges::any_of(waits_since_, is_late) || slow_readers_.contains(session) ||
              host.now() - read_at_.at({session, connection}) >= patience,
          "a connection is cut over which something was read just now, and no update has waited for long");
  slow_readers_.insert(session);
  ticks_without_cut_ = 0;
}

void LaneShell::note_waiting(Host& host) {
  const auto& waiting = core_.waiting_for_readers();
  std::erase_if(waits_since_, [&](const auto& each) { return !waiting.contains(each.first); });
  ticks_without_cut_ = waiting.empty() ? 0 : ticks_without_cut_;
  for (const auto& [chunk, since] : waiting) {
    waits_since_.try_emplace(chunk, host.now());
  }
}

// Of this timeline's versions that nobody can ask for any more; one of each chunk has a buffer of its own still.
std::uint64_t LaneShell::kept_bytes(Host& host) const {
  std::uint64_t kept = 0;
  for (const auto& [id, chunk] : chunks_) {
    std::uint64_t buffers = 0;
    for (std::size_t i = 0; i < chunk.buffers.size(); ++i) {
      const auto& buffer = chunk.buffers[i];
      const bool is_held =
          std::ranges::any_of(chunk.versions, [&](const auto& version) { return version.second == i; });
      buffers += buffer.references > 0 && !buffer.is_past && !is_held ? 1 : 0;
    }
    const std::uint64_t own = chunk.versions.size() < 2 ? 1 : 0;
    kept += (buffers - std::min(buffers, own)) * host.life().chunks[id].bytes;
  }
  return kept;
}

void LaneShell::act(Host& /*host*/, lane::Sum& action) {
  const auto left = take(action.join.into);
  const auto right = take(action.join.with);
  if (left.chunk != action.chunk || right.chunk != action.chunk || left.step != right.step) {
    throw Violation(name() + " sums payloads of different chunks or steps");
  }
  // Neighbours, the lower slots on the left; the judge sees the rest in the value.
  const Node node{std::min(left.node.begin, right.node.begin), std::max(left.node.end, right.node.end)};
  held_[action.join.into] = {left.chunk, left.step, node, sum(left.payload, right.payload), left.session};
}

void LaneShell::act(Host& /*host*/, lane::Drop& action) { take(action.payload); }

// The older version's buffer if no reply references it, else any free one, else a new one.
std::size_t LaneShell::free_buffer(Chunk& chunk) {
  for (std::size_t i = 0; i < chunk.buffers.size(); ++i) {
    const bool in_use = std::any_of(chunk.versions.begin(), chunk.versions.end(),
                                    [&](const auto& version) { return version.second == i; });
    if (!in_use && chunk.buffers[i].references == 0) {
      return i;
    }
  }
  chunk.buffers.emplace_back();
  return chunk.buffers.size() - 1;
}

void LaneShell::act(Host& host, lane::Measure& action) {
  const auto root = held_.find(action.root);
  require(root != held_.end() && root->second.chunk == action.chunk && root->second.step == action.step,
          "the root of another chunk or step is measured");
  turns_.measured(action);
  own_events_.push_front(lane::Measured{measure(host.life(), action.chunk, action.step, root->second.payload,
                                                chunks_.at(action.chunk).value, action.prospect),
                                        action.root});
  if (host.traces() && host.life().norms_for == LifeNorms::lamb) {
    host.say(name() + " measures the update of step " + std::to_string(action.step) + " to chunk " +
             std::to_string(action.chunk));
  }
}

void LaneShell::apply_item(Host& host, lane::Apply& action) {
  auto& chunk = chunks_.at(action.chunk);
  const auto update = take(action.root);
  require(update.chunk == action.chunk && update.step == action.step, "another chunk's or step's update is applied");
  chunk.value = action.chunk == host.life().statistics()
                    ? statistics_value(action.version + 1)
                    : apply(host.life(), {action.chunk, action.step, action.slot, action.staleness}, chunk.value,
                            update.payload, action.factors);
  host.judge().item_applied(host.disks(), life_, action, update, chunk.value);
  put_weights_in_place(chunk, action.version + 1);
  if (action.statistics) {
    own_events_.push_back(lane::StatisticsRead{statistics(action.step, update.payload.value), action.timeline});
  }
  if (host.traces()) {
    host.say(name() + (action.factors.skip ? " skips step " : " applies step ") + std::to_string(action.step) +
             " slot " + std::to_string(update.node.begin) + " to chunk " + std::to_string(action.chunk) +
             " as version " + std::to_string(action.version + 1));
  }
}

// As the newest ones; the ones before stay for those who are being sent them.
void LaneShell::put_weights_in_place(Chunk& chunk, Version version) {
  chunk.versions.clear();
  const auto buffer = free_buffer(chunk);
  chunk.buffers[buffer] = {chunk.value.weights};
  chunk.versions[version] = buffer;
}

void LaneShell::act(Host& host, lane::Apply& action) {
  turns_.applied(action);
  if (host.life().items) {
    return apply_item(host, action);
  }
  auto& chunk = chunks_.at(action.chunk);
  const auto root = take(action.root);
  require(root.chunk == action.chunk && root.step == action.step, "the root of another chunk or step is applied");
  chunk.value = action.chunk == host.life().statistics()
                    ? statistics_value(action.step + 1)
                    : apply(host.life(), {action.chunk, action.step, 0, 0}, chunk.value, root.payload, action.factors);
  host.judge().round_applied(host.disks(), life_, action, root, chunk.value);
  if (action.step > 0) {
    chunk.versions.erase(action.step - 1);
  }
  const auto buffer = free_buffer(chunk);
  chunk.buffers[buffer] = {chunk.value.weights};
  chunk.versions[action.step + 1] = buffer;
  if (action.statistics) {
    own_events_.push_back(lane::StatisticsRead{statistics(action.step, root.payload.value), action.timeline});
  }
  if (host.traces()) {
    host.say(name() + (action.factors.skip ? " skips step " : " applies step ") + std::to_string(action.step) +
             " to chunk " + std::to_string(action.chunk));
  }
}

}  // namespace ballast::simulation
