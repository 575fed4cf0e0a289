#include "common/metrics/series.h"

#include <doctest/doctest.h>

#include "common/metrics/metrics_table.h"

namespace ballast {
namespace {

TEST_CASE("every metric of the table belongs to some role's series, and every one of those to the table") {
  Metrics metrics;
  const LaneSeries lane(&metrics, 1);  // looking up what is not in the table throws
  const TurnSeries turns(&metrics, "lane 1");
  const SnapshotSeries snapshots(&metrics, 1);
  const CopySeries copies(&metrics);
  const JournalSeries journal(&metrics);
  const DiskSeries disk(&metrics);
  const DatabaseSeries database(&metrics);
  const ProcessSeries process(&metrics);
  const HandshakeSeries handshakes(&metrics, "lead");
  const ServerWorkerSeries server_worker(&metrics, "w");
  CHECK(worker_refusals(&metrics, "w", "malformed")->value() == 0);
  CHECK(server_worker.updates().staleness->value() == 0);
  CHECK(lead_shard_silence(&metrics, 3)->value() == 0);
  CHECK(worker_gradient_norm(&metrics, "fc1")->value() == 0);
  const LeadSeries lead(&metrics);
  for (const auto* const evaluation : {"validation", "best", "test"}) {
    lead_metric(&metrics, evaluation, "f1");
  }
  const LeadWorkerSeries lead_worker(&metrics, "w");
  const WorkerSeries worker(&metrics);
  const GpuSeries gpu(&metrics);
  describe_process(&metrics, "shard", "0", "mnist");
  const auto text = metrics.text();
  for (const auto& entry : metrics_table()) {
    CAPTURE(entry.name);
    CHECK(text.find("# TYPE " + std::string(entry.name) + " " + std::string(to_string(entry.type)) + "\n") !=
          std::string::npos);
  }
  CHECK(text.find(R"(ballast_process_info{role="shard",index="0",job="mnist"} 1)") != std::string::npos);
}

TEST_CASE("handles are the series they are called") {
  Metrics metrics;
  const LaneSeries lane(&metrics, 2);
  lane.superseded->add(4);
  CHECK(metrics.counter("ballast_shard_contributions_total", {"2", "superseded"})->value() == 4);
  const ServerWorkerSeries of_worker(&metrics, "w7");
  of_worker.phases.observe({1, 2, 3, 500'000, 5});
  const auto sum_of = [&metrics](const char* phase) {
    return metrics.histogram("ballast_shard_worker_phase_seconds", {"w7", phase})->sum();
  };
  CHECK(sum_of("data_wait") == doctest::Approx(1e-6));
  CHECK(sum_of("pull") == doctest::Approx(2e-6));
  CHECK(sum_of("forward") == doctest::Approx(3e-6));
  CHECK(sum_of("backward") == doctest::Approx(0.5));
  CHECK(sum_of("push") == doctest::Approx(5e-6));
  const SnapshotSeries snapshots(&metrics, 2);
  snapshots.made_durable(200, 4096, 1'500'000);
  snapshots.made_durable(400, 1024, 500'000);
  snapshots.failed->add();
  CHECK(metrics.counter("ballast_shard_snapshots_total", {"2", "durable"})->value() == 2);
  CHECK(metrics.counter("ballast_shard_snapshots_total", {"2", "failed"})->value() == 1);
  CHECK(metrics.counter("ballast_shard_snapshot_bytes_total", {"2"})->value() == 5120);
  CHECK(metrics.gauge("ballast_shard_snapshot_step", {"2"})->value() == 400);
  CHECK(metrics.histogram("ballast_shard_snapshot_seconds", {"2"})->sum() == doctest::Approx(2));
  const CopySeries copies(&metrics);
  copies.copied(200);
  copies.failed->add(3);
  CHECK(metrics.counter("ballast_shard_snapshot_copies_total", {"done"})->value() == 1);
  CHECK(metrics.counter("ballast_shard_snapshot_copies_total", {"failed"})->value() == 3);
  CHECK(metrics.gauge("ballast_shard_snapshot_copied_step")->value() == 200);
  const LeadSeries lead(&metrics);
  lead.phases.at(JobPhase::training)->set(1);
  CHECK(metrics.gauge("ballast_lead_phase", {"training"})->value() == 1);
}

TEST_CASE("what the lanes of a server say of a worker goes with it, and nothing else") {
  Metrics metrics;
  const ServerWorkerSeries gone(&metrics, "w1");
  const ServerWorkerSeries stays(&metrics, "w2");
  for (const auto* of_worker : {&gone, &stays}) {
    of_worker->bytes->add(5);
    of_worker->updates().updates->add();
  }
  worker_refusals(&metrics, "w1", "wrong_target")->add();
  worker_refusals(&metrics, "w2", "wrong_target")->add();
  const LeadWorkerSeries of_lead(&metrics, "w1");
  gone.remove();
  gone.bytes->add(7);  // by a handle that is still there
  CHECK(metrics.text().find(R"(ballast_shard_worker_bytes_total{worker="w1")") == std::string::npos);
  CHECK(metrics.text().find(R"(ballast_shard_worker_lateness_seconds_count{worker="w1")") == std::string::npos);
  CHECK(metrics.text().find(R"(ballast_lead_worker_live{worker="w1"})") != std::string::npos);
  CHECK(metrics.counter("ballast_shard_worker_bytes_total", {"w2"})->value() == 5);
  CHECK(metrics.counter("ballast_shard_worker_refusals_total", {"w2", "wrong_target"})->value() == 1);
  ServerWorkerSeries(nullptr, "w").remove();
}

TEST_CASE("series of no metrics count for nobody") {
  const LaneSeries lane(nullptr, 0);
  lane.accepted->add();
  CHECK(lane.accepted->value() == 1);
  const LeadSeries lead(nullptr);
  const WorkerSeries worker(nullptr);
  describe_process(nullptr, "worker", "0", "mnist");
  CHECK(lead.phases.size() == 11);
  CHECK(worker.phases.of.back() != nullptr);
}

}  // namespace
}  // namespace ballast
