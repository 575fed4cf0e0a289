// Reads what the worker's GPU is doing, once a second, into the worker's metrics.
#pragma once

#include <string>

#include "common/metrics/each_second.h"
#include "common/metrics/series.h"
#include "worker/nvml.h"

namespace ballast {

// Exports what the reading has.
void export_gpu(const GpuReading& reading, const GpuSeries& series);

class GpuWatch {
 public:
  // Throws what Nvml throws. `metrics` must outlive it.
  GpuWatch(Metrics* metrics, const std::string& bus_id);

 private:
  Nvml gpu_;
  GpuSeries series_;
  EachSecond readings_;  // ends before what it reads
};

}  // namespace ballast
