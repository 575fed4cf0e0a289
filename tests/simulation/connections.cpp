#include "tests/simulation/connections.h"

#include <algorithm>

namespace ballast::simulation {

ConnectionId Connections::newest(ProcessId worker, ProcessId lane) { return links_[{worker, lane}].newest; }

ConnectionId Connections::answered(ProcessId worker, ProcessId lane) { return links_[{worker, lane}].answered; }

bool Connections::is_over(ProcessId worker, ProcessId lane, ConnectionId connection) {
  return links_[{worker, lane}].ways[connection].is_over;
}

bool Connections::end(ProcessId worker, ProcessId lane, ConnectionId connection, Micros lost_after) {
  auto& way = links_[{worker, lane}].ways[connection];
  if (way.is_over) {
    return false;
  }
  way.is_over = true;
  way.lost_after = lost_after;
  return true;
}

void Connections::sent(ProcessId worker, ProcessId lane, ConnectionId connection, std::uint64_t bytes) {
  ++links_[{worker, lane}].ways[connection].under_way;
  under_way_[lane] += bytes;
}

bool Connections::arrives(ProcessId worker, ProcessId lane, ConnectionId connection, Micros time, std::uint64_t bytes) {
  auto& link = links_[{worker, lane}];
  auto& way = link.ways[connection];
  --way.under_way;
  under_way_[lane] -= bytes;
  if (time > way.lost_after) {
    return false;
  }
  link.answered = std::max(link.answered, connection);
  return true;
}

bool Connections::reaches_worker(ProcessId worker, ProcessId lane, ConnectionId connection, Micros time) {
  const auto& link = links_[{worker, lane}];
  return connection == link.newest && time <= link.ways.at(connection).lost_after;
}

std::uint64_t Connections::under_way(ProcessId lane) const {
  const auto found = under_way_.find(lane);
  return found == under_way_.end() ? 0 : found->second;
}

std::vector<ProcessId> Connections::over(ProcessId worker, Micros now) {
  std::vector<ProcessId> lanes;
  for (auto at = links_.lower_bound({worker, 0}); at != links_.end() && at->first.first == worker; ++at) {
    auto& link = at->second;
    const auto& way = link.ways[link.newest];
    if (way.is_over && (now > way.lost_after || way.lost_after == kNever)) {
      ++link.newest;
      lanes.push_back(at->first.second);
    }
  }
  return lanes;
}

std::vector<Connections::Ended> Connections::ended(ProcessId lane, const std::function<bool(ProcessId)>& is_alive) {
  std::vector<Ended> ended;
  for (auto& [key, link] : links_) {
    if (key.second != lane) {
      continue;
    }
    for (auto& [connection, way] : link.ways) {
      const bool is_over = way.is_over || connection < link.newest || !is_alive(key.first);
      if (is_over && way.under_way == 0 && !way.is_told) {
        way.is_told = true;
        ended.push_back({key.first, connection});
      }
    }
  }
  return ended;
}

}  // namespace ballast::simulation
