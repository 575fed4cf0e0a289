// What the lanes of a server count together of each worker.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/metrics/series.h"

namespace ballast {

// A worker's series are there as long as some lane has them. Thread-safe; what it has given stays usable without it.
class WorkerTallies {
 public:
  using Tally = std::shared_ptr<const ServerWorkerSeries>;

  // `metrics` may be null: then nobody reads. It outlives what tallies are given.
  explicit WorkerTallies(Metrics* metrics) : known_(std::make_shared<Known>(metrics)) {}

  Tally of(const std::string& worker);

 private:
  struct Known {
    explicit Known(Metrics* of) : metrics(of) {}

    Metrics* metrics;
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<const ServerWorkerSeries>> tallies;
  };

  std::shared_ptr<Known> known_;
};

}  // namespace ballast
