#include "common/net/standing_connections.h"

#include <algorithm>
#include <string_view>

namespace ballast {

namespace {

// Between probes, ever longer: to a connection that is over, and to one of which that is not known, which gets them.
constexpr Micros kFirstProbe = 20'000;
constexpr Micros kLongestProbe = 1'000'000;
constexpr Micros kFirstUnsureProbe = 200'000;
constexpr Micros kLongestUnsureProbe = 60'000'000;

// Later connections of a session have greater numbers. Of two with the same number, which are two nevertheless, the one
// that is heard later has the greater id.
ConnectionId id_of(std::uint32_t number, std::uint64_t heard) {
  constexpr unsigned kHeardBits = 31;
  return ((std::uint64_t{number} + 1) << kHeardBits) | (heard & ((std::uint64_t{1} << kHeardBits) - 1));
}

// FNV-1a: a number that stays the same over reconnections and costs no table.
PayerId hashed(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

PayerId payer_of(const Frame& header, bool is_ipc) {
  const auto key = header.key();
  return hashed(!key.empty() ? key : is_ipc ? "this machine" : header.host());
}

}  // namespace

StandingConnections::StandingConnections(Router& router, int unread, std::uint64_t after)
    : rounds_(unread), descriptors_(router, rounds_), is_ipc_(router.endpoint().starts_with("ipc://")), heard_(after) {}

StandingConnections::Connection& StandingConnections::heard(const PeerConnection& from, SessionId session,
                                                            const Frame& header, Micros now) {
  const std::string routing_id(from.id);
  auto found = standing_.find(routing_id);
  ConnectionId former = 0;
  if (found != standing_.end() && is_anothers(found->second, header)) {
    former = found->second.connection.id;
    end(former);
    found = standing_.end();
  }
  const bool is_new = found == standing_.end();
  if (is_new) {
    found = standing_.try_emplace(routing_id).first;
    found->second.connection = {id_of(from.connection, ++heard_), session, payer_of(header, is_ipc_)};
    ids_[found->second.connection.id] = routing_id;
    if (former != 0) {
      found->second.former = former;
      heirs_[former] = routing_id;
    }
  }
  auto& standing = found->second;
  if (standing.held.number == 0) {
    learn(standing, header);
    if (is_new && standing.held.number == 0) {
      probe(standing, now + kFirstUnsureProbe, kFirstUnsureProbe);
    }
  }
  return standing.connection;
}

// Its name is free again only after the one that had it before is gone from the socket.
bool StandingConnections::is_anothers(const Standing& standing, const Frame& header) {
  if (!standing.is_over) {
    return false;
  }
  const auto over = descriptors_.of_message(header.descriptor());
  return over && over->number != standing.held.number;
}

void StandingConnections::learn(Standing& standing, const Frame& header) {
  if (const auto held = descriptors_.of_message(header.descriptor())) {
    standing.held = *held;
    numbers_[held->number] = standing.connection.id;
    forget_probe(standing);
  }
}

StandingConnections::Connection* StandingConnections::find(const std::string& routing_id) {
  const auto found = standing_.find(routing_id);
  return found == standing_.end() ? nullptr : &found->second.connection;
}

void StandingConnections::read(const std::string& routing_id) { rounds_.read(routing_id); }

std::optional<std::string> StandingConnections::routing_id(ConnectionId connection) const {
  const auto found = ids_.find(connection);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

StandingConnections::Standing* StandingConnections::standing(ConnectionId connection) {
  const auto id = ids_.find(connection);
  return id == ids_.end() ? nullptr : &standing_.at(id->second);
}

StandingConnections::Standing* StandingConnections::standing_or_heir(ConnectionId connection) {
  if (auto* own = standing(connection)) {
    return own;
  }
  const auto heir = heirs_.find(connection);
  return heir == heirs_.end() ? nullptr : &standing_.at(heir->second);
}

void StandingConnections::unreachable(const std::string& routing_id) {
  const auto found = standing_.find(routing_id);
  if (found == standing_.end() || found->second.is_unreachable) {
    return;
  }
  found->second.is_unreachable = true;
  forget_probe(found->second);
  waiting_.emplace_back(rounds_.now(), found->second.connection.id);
}

void StandingConnections::probe(Standing& standing, Micros at, Micros wait) {
  forget_probe(standing);
  standing.probe = {at, wait};
  probes_.emplace(at, standing.connection.id);
}

void StandingConnections::forget_probe(Standing& standing) {
  if (standing.probe) {
    probes_.erase({standing.probe->first, standing.connection.id});
    standing.probe.reset();
  }
}

void StandingConnections::take_over(Micros now) {
  for (const auto number : descriptors_.over()) {
    const auto id = numbers_.find(number);
    if (id == numbers_.end()) {
      continue;
    }
    auto* over = standing(id->second);
    numbers_.erase(id);
    over->is_over = true;
    if (!over->is_unreachable) {
      probe(*over, now, kFirstProbe);
    }
  }
}

std::vector<StandingConnections::Probe> StandingConnections::probes(Micros now) {
  take_over(now);
  std::vector<Probe> due;
  while (due.size() < kProbesAtOnce && !probes_.empty() && probes_.begin()->first <= now) {
    auto& probed = *standing(probes_.begin()->second);
    due.push_back({ids_.at(probed.connection.id), probed.is_over});
    const auto wait = probed.probe->second;
    probe(probed, now + wait, std::min(2 * wait, probed.is_over ? kLongestProbe : kLongestUnsureProbe));
  }
  return due;
}

// One that is over may have had its name taken: then it never ends by itself.
bool StandingConnections::drop(ConnectionId connection, Micros now) {
  take_over(now);
  auto* dropped = standing_or_heir(connection);
  if (dropped == nullptr || dropped->is_unreachable) {
    return false;
  }
  const bool was_dropped = std::exchange(dropped->is_dropped, true);
  if (dropped->is_over || dropped->held.number == 0 || (!was_dropped && !shut_down(dropped->held.socket))) {
    drops_.emplace(dropped->connection.id, Drop{now, descriptors_.newest(), 0});
  }
  return !was_dropped && !dropped->is_over;
}

bool StandingConnections::drop_again(Micros now) {
  bool is_late = false;
  std::vector<Drop*> due;
  for (auto drop = drops_.begin(); drop != drops_.end();) {
    const auto& dropped = *standing(drop->first);
    auto& [since, newest, unknown_ended_at] = drop->second;
    if (dropped.is_unreachable || (dropped.held.number != 0 && !dropped.is_over && shut_down(dropped.held.socket))) {
      drop = drops_.erase(drop);
      continue;
    }
    if (unknown_ended_at == 0 && now >= since + kDropPatience) {
      due.push_back(&drop->second);
    }
    is_late = is_late || (unknown_ended_at != 0 && now >= unknown_ended_at + kDropPatience);
    ++drop;
  }
  // Not often: whoever begins needs some time for it.
  if (!due.empty() && now >= unknown_ended_at_ + kDropPatience) {
    unknown_ended_at_ = now;
    ConnectionDescriptors::Number newest = 0;
    for (auto* drop : due) {
      drop->unknown_ended_at = now;
      newest = std::max(newest, drop->newest);
    }
    end_unknown(newest);
  }
  return is_late;
}

// Those that are over are probed at once then: else their names might be taken again.
void StandingConnections::end_unknown(ConnectionDescriptors::Number newest) {
  for (const auto& connection : descriptors_.standing()) {
    if (connection.number <= newest && !numbers_.contains(connection.number)) {
      shut_down(connection.socket);
    }
  }
  for (const auto& [id, drop] : drops_) {
    auto& dropped = *standing(id);
    if (dropped.is_over && drop.unknown_ended_at != 0) {
      probe(dropped, drop.unknown_ended_at, kFirstProbe);
    }
  }
}

void StandingConnections::end(ConnectionId connection) {
  auto& ending = *standing(connection);
  ended_.push_back({ending.connection.session, connection});
  forget_probe(ending);
  numbers_.erase(ending.held.number);
  drops_.erase(connection);
  heirs_.erase(ending.former);
  const auto id = ids_.extract(connection);
  standing_.erase(id.mapped());
}

std::vector<StandingConnections::Ended> StandingConnections::take_ended() {
  while (!waiting_.empty() && rounds_.is_read(waiting_.front().first)) {
    if (standing(waiting_.front().second) != nullptr) {
      end(waiting_.front().second);
    }
    waiting_.pop_front();
  }
  return std::exchange(ended_, {});
}

std::vector<std::pair<SessionId, SystemSocket>> StandingConnections::sockets() const {
  std::vector<std::pair<SessionId, SystemSocket>> sockets;
  for (const auto& [routing_id, standing] : standing_) {
    if (standing.held.number != 0 && !standing.is_over) {
      sockets.emplace_back(standing.connection.session, standing.held.socket);
    }
  }
  return sockets;
}

std::vector<StandingConnections::Ended> StandingConnections::all() const {
  std::vector<Ended> all = ended_;
  for (const auto& [routing_id, standing] : standing_) {
    all.push_back({standing.connection.session, standing.connection.id});
  }
  return all;
}

}  // namespace ballast
