// What is said of a process by its page.
#include "common/health/health.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "common/metrics/metrics.h"
#include "common/metrics/series.h"

namespace ballast {
namespace {

constexpr Asked kServerReady{Role::server, Question::ready};
constexpr Asked kServerAlive{Role::server, Question::alive};
constexpr Asked kWorkerReady{Role::worker, Question::ready};
constexpr Asked kWorkerAlive{Role::worker, Question::alive};

Series page(const Metrics& metrics) { return read_series(metrics.text()); }

TEST_CASE("a server is ready when every lane serves") {
  Metrics metrics;
  describe_process(&metrics, "shard", "0", "mnist");
  CHECK(complaint(kServerReady, page(metrics)) == "no lane is open yet");
  CHECK(complaint(kServerAlive, page(metrics)).empty());
  const LaneSeries first(&metrics, 0);
  const LaneSeries second(&metrics, 1);
  first.serving->set(1);
  CHECK(complaint(kServerReady, page(metrics)) == "lane 1 does not serve: it waits for the lead, or for other shards");
  CHECK(complaint(kServerAlive, page(metrics)).empty());
  second.serving->set(1);
  CHECK(complaint(kServerReady, page(metrics)).empty());
  first.serving->set(0);
  second.serving->set(0);
  CHECK(complaint(kServerReady, page(metrics)).starts_with("lane 0, lane 1 does not serve"));
}

TEST_CASE("a worker is ready when it has its job and hears its lead") {
  Metrics metrics;
  const WorkerSeries worker(&metrics);
  CHECK(complaint(kWorkerReady, page(metrics)) == "the lead has not given it the job yet");
  CHECK(complaint(kWorkerAlive, page(metrics)).empty());
  describe_process(&metrics, "worker", "w", "mnist");
  CHECK(complaint(kWorkerReady, page(metrics)).empty());
  worker.lead_silence->set(kLeadHeardSeconds);
  CHECK(complaint(kWorkerReady, page(metrics)).empty());
  worker.lead_silence->set(16.5);
  CHECK(complaint(kWorkerReady, page(metrics)) == "the lead was not heard for 16 s");
  CHECK(complaint(kWorkerAlive, page(metrics)).empty());
}

TEST_CASE("the page of another role, or of another program, is none to judge by") {
  Metrics worker;
  describe_process(&worker, "worker", "w", "mnist");
  CHECK(complaint(kServerAlive, page(worker)) == "this is the page of a worker");
  Metrics server;
  describe_process(&server, "shard", "1", "mnist");
  CHECK(complaint(kWorkerAlive, page(server)) == "this is the page of a shard");
  CHECK(complaint(kServerAlive, {}) == "this is the page of no server");
}

TEST_CASE("a loop stands still that had begun and has not gone round since") {
  Metrics metrics;
  TurnSeries lane(&metrics, "lane 0");
  TurnSeries lead(&metrics, "lead");
  const TurnSeries begins(&metrics, "lane 1");
  lane.observe(10);
  lead.observe(10);
  const auto first = page(metrics);
  CHECK(standing_loops(first, page(metrics)) == std::vector<std::string>{"lane 0", "lead"});
  lead.observe(10);
  CHECK(standing_loops(first, page(metrics)) == std::vector<std::string>{"lane 0"});
  lane.observe(10);
  CHECK(standing_loops(first, page(metrics)).empty());
}

TEST_CASE("a loop that goes round is seen, and one that stands still is told after a while") {
  const auto metrics = serve_metrics("127.0.0.1:0");
  describe_process(metrics.get(), "shard", "0", "mnist");
  const LaneSeries lane(metrics.get(), 0);
  lane.serving->set(1);
  TurnSeries turns(metrics.get(), "lane 0");
  turns.observe(1);
  std::atomic<bool> goes = true;
  std::jthread loop([&](const std::stop_token& ended) {
    while (!ended.stop_requested()) {
      if (goes) {
        turns.observe(1);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  CHECK(look_at(kServerReady, metrics->address()).text == "ready");
  const auto alive = look_at(kServerAlive, metrics->address());
  CHECK((alive.good && alive.text == "alive"));
  goes = false;
  const auto still = look_at(kServerAlive, metrics->address());
  CHECK_FALSE(still.good);
  CHECK(still.text == "stands still for 10 s: lane 0");
}

TEST_CASE("a process that serves no page is not well, and the remedy is told") {
  const auto health = look_at(kWorkerAlive, "127.0.0.1:1");
  CHECK_FALSE(health.good);
  CHECK(health.text == "no metrics page at 127.0.0.1:1: Connection refused; it is served where --metrics says");
}

}  // namespace
}  // namespace ballast
