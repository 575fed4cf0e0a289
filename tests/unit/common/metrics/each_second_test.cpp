#include "common/metrics/each_second.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>

#include "common/metrics/series.h"

namespace ballast {
namespace {

TEST_CASE("what is read each second is read at once, and not after the end") {
  std::atomic<int> reads = 0;
  std::promise<void> first;
  {
    const EachSecond readings([&] {
      if (++reads == 1) {
        first.set_value();
      }
    });
    first.get_future().wait();
  }
  const int until_the_end = reads;
  CHECK(until_the_end >= 1);
  CHECK(reads == until_the_end);
}

TEST_CASE("a process tells what it has had of processors") {
  Metrics metrics;
  const ProcessSeries process(&metrics);
  process.read();
  const auto before = metrics.counter("ballast_process_processor_seconds_total")->value();
  CHECK(before > 0);
  process.read();
  CHECK(metrics.counter("ballast_process_processor_seconds_total")->value() > before);
  CHECK(metrics.text().find("\nballast_machine_steal_seconds_total ") != std::string::npos);
  CHECK(metrics.text().find("\nballast_process_throttled_seconds_total ") != std::string::npos);
}

}  // namespace
}  // namespace ballast
