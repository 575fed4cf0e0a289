#include "worker/gpu_watch.h"

namespace ballast {
namespace {

template <typename Value>
void set(const GaugeHandle& gauge, const std::optional<Value>& value) {
  if (value) {
    gauge->set(static_cast<double>(*value));
  }
}

}  // namespace

void export_gpu(const GpuReading& reading, const GpuSeries& series) {
  set(series.utilization, reading.utilization);
  set(series.memory_used, reading.memory_used);
  set(series.memory_total, reading.memory_total);
  set(series.clock, reading.clock_hertz);
  if (reading.throttling) {
    series.throttled_power->set(reading.throttling->power ? 1 : 0);
    series.throttled_heat->set(reading.throttling->heat ? 1 : 0);
    series.throttled_hardware->set(reading.throttling->hardware ? 1 : 0);
  }
}

GpuWatch::GpuWatch(Metrics* metrics, const std::string& bus_id)
    : gpu_(bus_id), series_(metrics), readings_([this] { export_gpu(gpu_.read(), series_); }) {}

}  // namespace ballast
