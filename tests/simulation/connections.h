// Connections of workers to lanes: what goes over one keeps its order, and is lost only by its end.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "tests/simulation/process.h"

namespace ballast::simulation {

class Connections {
 public:
  static constexpr Micros kNever = std::numeric_limits<Micros>::max();

  // The worker's newest one.
  [[nodiscard]] ConnectionId newest(ProcessId worker, ProcessId lane);
  // Over which the lane answers; 0: it has heard nothing.
  [[nodiscard]] ConnectionId answered(ProcessId worker, ProcessId lane);
  // Nothing goes over it any more; what is under way arrives up to `lost_after`. False: it was over already.
  bool end(ProcessId worker, ProcessId lane, ConnectionId connection, Micros lost_after);
  [[nodiscard]] bool is_over(ProcessId worker, ProcessId lane, ConnectionId connection);

  // To the lane, so many bytes of payload.
  void sent(ProcessId worker, ProcessId lane, ConnectionId connection, std::uint64_t bytes);
  // It is there, or is lost: false.
  bool arrives(ProcessId worker, ProcessId lane, ConnectionId connection, Micros time, std::uint64_t bytes);
  // From the lane.
  [[nodiscard]] bool reaches_worker(ProcessId worker, ProcessId lane, ConnectionId connection, Micros time);
  // Payloads that may still come to the lane.
  [[nodiscard]] std::uint64_t under_way(ProcessId lane) const;

  // The lanes to which the worker's connection has ended, each told once: another one begins.
  std::vector<ProcessId> over(ProcessId worker, Micros now);
  // The connections of which the lane has all that will come, each told once.
  struct Ended {
    ProcessId worker = 0;
    ConnectionId connection = 0;
  };
  std::vector<Ended> ended(ProcessId lane, const std::function<bool(ProcessId)>& is_alive);

 private:
  struct Way {
    bool is_over = false;
    Micros lost_after = kNever;
    std::uint32_t under_way = 0;  // messages
    bool is_told = false;         // that it has ended, to the lane
  };
  struct Link {
    ConnectionId newest = 1;
    ConnectionId answered = 0;
    std::map<ConnectionId, Way> ways;
  };

  std::map<std::pair<ProcessId, ProcessId>, Link> links_;  // by worker and lane
  std::map<ProcessId, std::uint64_t> under_way_;           // by lane
};

}  // namespace ballast::simulation
