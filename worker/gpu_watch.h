// Reads what the worker's GPU is doing, once a second, into the worker's metrics.
//
// A thread of its own: the driver may take its time to answer. Shutdown: the destructor wakes the thread and joins it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "common/metrics/series.h"
#include "worker/nvml.h"

namespace ballast {

// Exports what the reading has.
void export_gpu(const GpuReading& reading, const GpuSeries& series);

class GpuWatch {
 public:
  // Throws what Nvml throws. `metrics` must outlive it.
  GpuWatch(Metrics* metrics, const std::string& bus_id);
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

 private:
  void run();

  Nvml gpu_;
  GpuSeries series_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace ballast
