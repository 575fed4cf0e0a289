#include "server/worker_tallies.h"

namespace ballast {

WorkerTallies::Tally WorkerTallies::of(const std::string& worker) {
  const std::scoped_lock lock(known_->mutex);
  auto& known = known_->tallies[worker];
  if (auto tally = known.lock()) {
    return tally;
  }
  // Between the last one's letting go and its removal another lane may have taken the worker's series up again.
  const auto forget = [all = known_, worker](const ServerWorkerSeries* series) {
    const std::unique_ptr<const ServerWorkerSeries> owned(series);
    const std::scoped_lock forgets(all->mutex);
    const auto found = all->tallies.find(worker);
    if (found != all->tallies.end() && found->second.expired()) {
      owned->remove();
      all->tallies.erase(found);
    }
  };
  Tally made(std::make_unique<const ServerWorkerSeries>(known_->metrics, worker).release(), forget);
  known = made;
  return made;
}

}  // namespace ballast
