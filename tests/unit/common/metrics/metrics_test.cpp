#include "common/metrics/metrics.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ballast {
namespace {

bool says(const Metrics& metrics, const std::string& line) {
  return ("\n" + metrics.text()).find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("a series is one, however often it is looked up") {
  Metrics metrics;
  metrics.counter("ballast_shard_bytes_total", {"0", "in"})->add(10);
  metrics.counter("ballast_shard_bytes_total", {"0", "in"})->add(5);
  metrics.counter("ballast_shard_bytes_total", {"1", "in"})->add(1);
  CHECK(says(metrics, R"(ballast_shard_bytes_total{lane="0",direction="in"} 15)"));
  CHECK(says(metrics, R"(ballast_shard_bytes_total{lane="1",direction="in"} 1)"));
  CHECK(says(metrics, "# TYPE ballast_shard_bytes_total counter"));
}

TEST_CASE("gauges go both ways, totals kept elsewhere only up") {
  Metrics metrics;
  const auto gauge = metrics.gauge("ballast_lead_sessions");
  gauge->set(3);
  gauge->add(-1);
  CHECK(says(metrics, "ballast_lead_sessions 2"));
  const auto counter = metrics.counter("ballast_lead_backups_total");
  counter->raise_to(7);
  counter->raise_to(4);
  CHECK(says(metrics, "ballast_lead_backups_total 7"));
}

TEST_CASE("a histogram of updates has their bounds, and takes over what is counted elsewhere") {
  Metrics metrics;
  const auto histogram = metrics.histogram("ballast_shard_staleness", {"0"});
  histogram->take_over(0, 5);
  histogram->take_over(2, 3);
  histogram->take_over(2, 4);
  histogram->take_over_sum(10);
  const auto text = metrics.text();
  CHECK(text.find(R"(ballast_shard_staleness_bucket{lane="0",le="0"} 5)") != std::string::npos);
  CHECK(text.find(R"(ballast_shard_staleness_bucket{lane="0",le="1"} 5)") != std::string::npos);
  CHECK(text.find(R"(ballast_shard_staleness_bucket{lane="0",le="3"} 9)") != std::string::npos);
  CHECK(text.find(R"(ballast_shard_staleness_count{lane="0"} 9)") != std::string::npos);
  CHECK(text.find(R"(ballast_shard_staleness_sum{lane="0"} 10)") != std::string::npos);
}

TEST_CASE("a histogram counts cumulatively, bounds included") {
  Metrics metrics;
  const auto histogram = metrics.histogram("ballast_shard_sum_seconds", {"0"});
  histogram->observe(0.0001);
  histogram->observe_micros(200);
  histogram->observe(1000);
  CHECK(says(metrics, R"(ballast_shard_sum_seconds_bucket{lane="0",le="0.0001"} 1)"));
  CHECK(says(metrics, R"(ballast_shard_sum_seconds_bucket{lane="0",le="0.00025"} 2)"));
  CHECK(says(metrics, R"(ballast_shard_sum_seconds_bucket{lane="0",le="30"} 2)"));
  CHECK(says(metrics, R"(ballast_shard_sum_seconds_bucket{lane="0",le="+Inf"} 3)"));
  CHECK(says(metrics, R"(ballast_shard_sum_seconds_count{lane="0"} 3)"));
  CHECK(histogram->sum() == doctest::Approx(1000.0003));
}

TEST_CASE("a timer observes once") {
  Histogram histogram;
  { const ScopedTimer timer(histogram); }
  std::uint64_t count = 0;
  for (std::size_t bucket = 0; bucket < Histogram::kBuckets; ++bucket) {
    count += histogram.count(bucket);
  }
  CHECK(count == 1);
}

TEST_CASE("names outside the table, other types and wrong labels are our own fault") {
  Metrics metrics;
  CHECK_THROWS_AS(metrics.counter("ballast_no_such_total"), std::logic_error);
  CHECK_THROWS_AS(metrics.gauge("ballast_shard_bytes_total", {"0", "in"}), std::logic_error);
  CHECK_THROWS_AS(metrics.counter("ballast_shard_bytes_total", {"0"}), std::logic_error);
}

TEST_CASE("label values from outside are escaped") {
  Metrics metrics;
  metrics.gauge("ballast_lead_worker_live", {"a\"b\\c\nd"})->set(1);
  CHECK(says(metrics, R"(ballast_lead_worker_live{worker="a\"b\\c\nd"} 1)"));
}

TEST_CASE("series of a worker that has gone are removed; its handles stay usable") {
  Metrics metrics;
  const auto handle = metrics.gauge("ballast_lead_worker_live", {"w1"});
  metrics.gauge("ballast_lead_worker_live", {"w2"})->set(1);
  metrics.counter("ballast_lead_worker_slots_total", {"w1"})->add();
  metrics.remove("ballast_", {{"worker", "w1"}});
  handle->set(5);
  CHECK(metrics.text().find("\"w1\"") == std::string::npos);
  CHECK(says(metrics, R"(ballast_lead_worker_live{worker="w2"} 1)"));
}

TEST_CASE("whichever of its labels are given, what has them is removed, and nothing beside it") {
  const std::string bytes = "ballast_shard_bytes_total";
  Metrics metrics;
  for (const std::string lane : {"0", "1", "10"}) {
    for (const std::string label : {"", "a", "b", "bb"}) {
      metrics.counter(bytes, {lane, label})->add(1);
      metrics.counter("ballast_shard_contributions_total", {lane, label})->add(1);
    }
  }
  const auto has = [&](const std::string& labels) { return metrics.text().find(labels) != std::string::npos; };
  metrics.remove("ballast_shard_", {{"direction", "b"}, {"lane", "1"}});  // the first ones, in another order
  CHECK_FALSE(has(R"({lane="1",direction="b")"));
  metrics.remove(bytes, {{"direction", "a"}});  // not the first
  CHECK_FALSE(has(bytes + R"({lane="0",direction="a"})"));
  CHECK_FALSE(has(bytes + R"({lane="10",direction="a"})"));
  metrics.remove("ballast_shard_", {{"direction", "bb"}, {"outcome", "in"}});  // none has all of these
  for (const std::string left : {R"("0",direction="b")", R"("0",direction="bb")", R"("1",direction="bb")",
                                 R"("10",direction="b")", R"("1",direction="")"}) {
    CAPTURE(left);
    CHECK(has(bytes + "{lane=" + left + "}"));
  }
  for (const std::string other : {"a", "b", "bb"}) {
    CHECK(has(R"(ballast_shard_contributions_total{lane="1",outcome=")" + other + "\"}"));
  }
}

TEST_CASE("a metric's series are bounded, and what is left out is counted") {
  Metrics metrics;
  for (std::size_t worker = 0; worker < Metrics::kMaxSeries + 3; ++worker) {
    metrics.gauge("ballast_lead_worker_live", {"w" + std::to_string(worker)})->set(1);
  }
  CHECK(says(metrics, "ballast_metrics_dropped_series_total 3"));
  CHECK(says(metrics, R"(ballast_lead_worker_live{worker="w8191"} 1)"));
  CHECK(metrics.text().find("\"w8192\"") == std::string::npos);
}

TEST_CASE("no count is lost between threads that count and one that reads") {
  Metrics metrics;
  constexpr int kThreads = 3;
  constexpr int kCounts = 20'000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&metrics] {
      const auto counter = metrics.counter("ballast_lead_examples_total");
      const auto histogram = metrics.histogram("ballast_shard_sum_seconds", {"0"});
      for (int count = 0; count < kCounts; ++count) {
        counter->add();
        histogram->observe(0.25);
      }
    });
  }
  for (int scrape = 0; scrape < 20; ++scrape) {
    CHECK_FALSE(metrics.text().empty());
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CHECK(metrics.counter("ballast_lead_examples_total")->value() == kThreads * kCounts);
  CHECK(metrics.histogram("ballast_shard_sum_seconds", {"0"})->sum() == kThreads * kCounts * 0.25);
}

TEST_CASE("without metrics there are still handles to count with") {
  counter_of(nullptr, "ballast_lead_backups_total")->add();
  gauge_of(nullptr, "ballast_lead_sessions")->set(1);
  histogram_of(nullptr, "ballast_shard_sum_seconds", {"0"})->observe(1);
  CHECK(serve_metrics("") == nullptr);
}

}  // namespace
}  // namespace ballast
