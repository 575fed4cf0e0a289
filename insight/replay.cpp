#include "insight/replay.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "insight/item_replay.h"
#include "insight/round_replay.h"

namespace ballast::insight {

std::optional<double> replay(const JobTimes& times, std::size_t learning) {
  if (times.workers.empty() || times.steps == 0) {
    return std::nullopt;
  }
  const auto takes =
      times.items ? ItemReplay(times).step_time() : RoundReplay(times, std::max<std::size_t>(learning, 1)).step_time();
  if (!takes) {
    return std::nullopt;
  }
  const auto lost = std::transform_reduce(times.workers.begin(), times.workers.end(), *takes, std::plus(),
                                          [](const WorkerTimes& worker) { return worker.lost; });
  return std::accumulate(times.standstills.begin(), times.standstills.end(), lost);
}

}  // namespace ballast::insight
