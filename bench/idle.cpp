// What a server costs while it has nothing to do: weights loaded, workers connected, metrics scraped, no work.
#include <algorithm>
#include <string>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/local_cluster.h"
#include "bench/metrics_page.h"
#include "bench/process_use.h"

namespace ballast::bench {

namespace {

constexpr double kIdleSeconds = 60;
constexpr std::uint32_t kIdleWorkers = 3;

// One worker more than there are is waited for, so nothing ever begins.
constexpr const char* kIdleJob =
    "job: bench-idle\n"
    "model: {name: emulated, preset: resnet50, compute_ms: 0, gradient: fixed}\n"
    "data: {name: none}\n"
    "training: {batch: 64, slots: 4, max_steps: 1000, seed: 1, optimizer: {name: sgd, learning_rate: 0.0001, "
    "momentum: 0.9}}\n"
    "cluster: {shards: 1, lanes: 1, workers: 4, start_workers: 4, transport: tcp}\n";

bool all_wait(const Status& status, std::uint64_t workers) {
  const auto ready = std::count_if(status.sessions.begin(), status.sessions.end(), [](const SessionStatus& session) {
    return session.live && !session.fingerprint.empty();
  });
  return status.phase == JobPhase::waiting && static_cast<std::uint64_t>(ready) >= workers;
}

}  // namespace

Result idle(const Options& options) {
  LocalCluster cluster(kIdleJob, kIdleWorkers, true, options);
  cluster.wait_for("all workers ready", all_wait, kIdleWorkers);
  cluster.rest(2);  // what the start left behind
  const auto server = cluster.server();
  const auto begin = Clock::now();
  const auto before = process_use(server.pid);
  std::uint64_t scrapes = 0;
  std::size_t scraped = 0;
  while (seconds_since(begin) < options.seconds.value_or(kIdleSeconds)) {
    scraped = metrics_page(server.addresses.at("metrics")).size();
    ++scrapes;
    cluster.rest(std::max(0.0, static_cast<double>(scrapes) - seconds_since(begin)));
  }
  const auto after = process_use(server.pid);
  const double seconds = seconds_since(begin);
  Result result;
  result.how =
      "1 ballast-server with the resnet50 preset's weights, 3 connected workers that send heartbeats, no work (a "
      "fourth "
      "worker is waited for), metrics scraped once a second. Processor time of the server process from /proc over the "
      "time told, in per cent of one core.";
  result.rows.push_back({{"work", "idle server"},
                         {"workers", std::uint64_t{kIdleWorkers}},
                         {"cpu_percent", 100 * (after.cpu_seconds - before.cpu_seconds) / seconds},
                         {"resident_mb", static_cast<double>(after.resident_bytes) / 1e6},
                         {"scrapes", scrapes},
                         {"scrape_bytes", std::uint64_t{scraped}},
                         {"seconds", seconds}});
  return result;
}

}  // namespace ballast::bench
