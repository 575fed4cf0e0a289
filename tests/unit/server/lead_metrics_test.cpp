#include "server/lead_metrics.h"

#include <doctest/doctest.h>

#include <string>

namespace ballast {
namespace {

// Every number differs from all others.
Status some_status() {
  Status status;
  status.phase = JobPhase::training;
  status.timeline = 2;
  status.base = {2, 100};
  status.snapshot = 300;
  status.step = 345;
  status.steps = 1000;
  status.epoch = 3;
  status.training = 4'500'000;
  status.examples = 44160;
  status.learning_rate = 0.0625;
  status.gradient_norm = 1.75;
  status.train_loss = 0.5;
  status.recent_loss = 0.375;
  status.validation = {true, 320, 0.875, 0.8125};
  status.test = {true, 330, 0.9375, 0.78125};
  status.best = {true, 240, 0.75, 0.84375};
  status.lost_workers = 5;
  status.backups = 6;
  status.rollbacks = 7;
  status.rollback_causes = {.shard = 4, .mark = 0, .below_cut = 2, .lives = 0, .non_finite = 1, .unknown = 0};
  status.rolled_back_steps = 80;
  status.skipped_steps = 9;
  status.snapshots_missed = 10;
  status.resumed_shards = 11;
  status.slots_taken = 12;
  status.slots_reassigned = 13;
  status.slots_tried = 14;
  return status;
}

// As the lead's loop does, which knows of no shard yet.
void look(LeadMetrics& lead, const Status& status, Micros now = 1'000'000) {
  lead.update(status, 1, ShardRoster(1, 1, {1, 2, 3}, Ledger{}), now);
}

double gauge(Metrics& metrics, const std::string& name, const Metrics::Labels& labels = {}) {
  return metrics.gauge("ballast_lead_" + name, labels)->value();
}

double counter(Metrics& metrics, const std::string& name, const Metrics::Labels& labels = {}) {
  return metrics.counter("ballast_lead_" + name + "_total", labels)->value();
}

TEST_CASE("the numbers of a status reach their series") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  look(lead, some_status());
  CHECK(gauge(metrics, "timeline") == 2);
  CHECK(gauge(metrics, "base_step") == 100);
  CHECK(gauge(metrics, "snapshot_step") == 300);
  CHECK(gauge(metrics, "step") == 345);
  CHECK(gauge(metrics, "steps") == 1000);
  CHECK(gauge(metrics, "epoch") == 3);
  CHECK(gauge(metrics, "training_seconds") == doctest::Approx(4.5));
  CHECK(gauge(metrics, "learning_rate") == 0.0625);
  CHECK(gauge(metrics, "gradient_norm") == 1.75);
  CHECK(gauge(metrics, "train_loss") == 0.5);
  CHECK(gauge(metrics, "recent_loss") == 0.375);
  CHECK(gauge(metrics, "validation_loss") == 0.875);
  CHECK(gauge(metrics, "validation_accuracy") == 0.8125);
  CHECK(gauge(metrics, "test_loss") == 0.9375);
  CHECK(gauge(metrics, "test_accuracy") == 0.78125);
  CHECK(gauge(metrics, "best_loss") == 0.75);
  CHECK(gauge(metrics, "best_accuracy") == 0.84375);
  CHECK(gauge(metrics, "best_step") == 240);
  CHECK(counter(metrics, "examples") == 44160);
  CHECK(counter(metrics, "lost_sessions") == 5);
  CHECK(counter(metrics, "backups") == 6);
  CHECK(counter(metrics, "rollbacks", {"shard"}) == 4);
  CHECK(counter(metrics, "rollbacks", {"mark"}) == 0);
  CHECK(counter(metrics, "rollbacks", {"below_cut"}) == 2);
  CHECK(counter(metrics, "rollbacks", {"non_finite"}) == 1);
  CHECK(counter(metrics, "rolled_back_steps") == 80);
  CHECK(counter(metrics, "skipped_steps") == 9);
  CHECK(counter(metrics, "snapshots_missed") == 10);
  CHECK(counter(metrics, "resumed_shards") == 11);
  CHECK(counter(metrics, "slots_taken") == 12);
  CHECK(counter(metrics, "slots_reassigned") == 13);
  CHECK(counter(metrics, "slots_tried") == 14);
}

TEST_CASE("metrics of evaluations have a series each, from the first that tells them on") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  auto status = some_status();
  look(lead, status);
  CHECK(metrics.text().find("ballast_lead_test_metric{") == std::string::npos);
  status.validation_metrics = {{MetricKind::f1, 0.25}};
  status.best_metrics = {{MetricKind::f1, 0.5}, {MetricKind::auc, 0.75}};
  status.test_metrics = {{MetricKind::top5, 0.875}};
  look(lead, status);
  CHECK(gauge(metrics, "validation_metric", {"f1"}) == 0.25);
  CHECK(gauge(metrics, "best_metric", {"f1"}) == 0.5);
  CHECK(gauge(metrics, "best_metric", {"auc"}) == 0.75);
  CHECK(gauge(metrics, "test_metric", {"top5"}) == 0.875);
  CHECK(metrics.text().find("ballast_lead_test_metric{metric=\"f1\"}") == std::string::npos);
}

TEST_CASE("every phase of a job has its series, and one at a time is 1") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  auto status = some_status();
  const std::string phases[] = {"assembling", "recovering", "waiting",  "training", "evaluating", "pausing",
                                "paused",     "finishing",  "finished", "stopped",  "failed"};
  for (std::size_t now = 0; now < std::size(phases); ++now) {
    status.phase = static_cast<JobPhase>(now);
    look(lead, status);
    for (const auto& phase : phases) {
      CAPTURE(phase);
      CHECK(gauge(metrics, "phase", {phase}) == (phase == phases[now] ? 1 : 0));
    }
  }
}

TEST_CASE("trouble and waiting show while they last") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  auto status = some_status();
  look(lead, status);
  CHECK(gauge(metrics, "trouble") == 0);
  CHECK(gauge(metrics, "waits") == 0);
  status.trouble = "shard 1: no space left on the disk";
  status.waits_for = "shard 2";
  look(lead, status);
  CHECK(gauge(metrics, "trouble") == 1);
  CHECK(gauge(metrics, "waits") == 1);
  status.trouble.clear();
  status.waits_for.clear();
  look(lead, status);
  CHECK(gauge(metrics, "trouble") == 0);
  CHECK(gauge(metrics, "waits") == 0);
}

TEST_CASE("kinds of arithmetic and refused workers are counted") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  auto status = some_status();
  status.arithmetics = {{"x", "worker a"}, {"y", "worker b"}};
  status.refused_workers = 3;
  look(lead, status);
  CHECK(gauge(metrics, "arithmetics") == 2);
  CHECK(metrics.counter("ballast_lead_refused_workers_total", {})->value() == 3);
}

TEST_CASE("a worker that was started again keeps its series and its sum of slots") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  auto status = some_status();
  status.sessions = {{1, "w", false, 5, 10, "", {}, {}},
                     {2, "w", true, 7, 20, "", {}, {}, 2'500'000},
                     {3, "v", false, 6, 1, "", {}, {}}};
  look(lead, status);
  CHECK(gauge(metrics, "sessions") == 1);
  CHECK(gauge(metrics, "worker_live", {"w"}) == 1);
  CHECK(gauge(metrics, "worker_step", {"w"}) == 7);
  CHECK(gauge(metrics, "worker_overtaken_seconds", {"w"}) == 2.5);
  CHECK(metrics.counter("ballast_lead_worker_slots_total", {"w"})->value() == 30);
  CHECK(gauge(metrics, "worker_live", {"v"}) == 0);
}

TEST_CASE("how fast a worker is and whether it is held up is told of each, as long as the lead knows it") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  auto status = some_status();
  status.sessions = {{1, "w", true, 5, 10, "", {}, {}, 0, "it is silent", 250'000, 30'000, 12'500'000, 25'000'000, 7},
                     {2, "v", true, 6, 1, "", {}, {}}};
  look(lead, status);
  CHECK(gauge(metrics, "worker_held_up", {"w"}) == 1);
  CHECK(gauge(metrics, "worker_slot_seconds", {"w"}) == doctest::Approx(0.25));
  CHECK(gauge(metrics, "worker_lag_seconds", {"w"}) == doctest::Approx(0.03));
  CHECK(gauge(metrics, "worker_uplink_bytes_per_second", {"w"}) == 12'500'000);
  CHECK(gauge(metrics, "worker_held_up", {"v"}) == 0);
  CHECK(gauge(metrics, "worker_slot_seconds", {"v"}) == 0);
  status.sessions[0].held_up.clear();
  look(lead, status);
  CHECK(gauge(metrics, "worker_held_up", {"w"}) == 0);
  status.sessions.erase(status.sessions.begin());
  look(lead, status);
  for (const auto* name : {"held_up", "slot_seconds", "lag_seconds", "uplink_bytes_per_second"}) {
    CAPTURE(name);
    const auto text = metrics.text();
    CHECK(text.find(std::string("ballast_lead_worker_") + name + "{worker=\"v\"}") != std::string::npos);
    CHECK(text.find(std::string("ballast_lead_worker_") + name + "{worker=\"w\"}") == std::string::npos);
  }
}

TEST_CASE("workers that the lead has forgotten have no series, and new ones have theirs") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  auto status = some_status();
  for (int turn = 0; turn < 40; ++turn) {
    status.sessions.clear();
    for (int worker = 0; worker < 400; ++worker) {
      status.sessions.push_back({static_cast<SessionId>(1 + worker),
                                 "t" + std::to_string(turn) + "w" + std::to_string(worker),
                                 true,
                                 1,
                                 2,
                                 "",
                                 "",
                                 {}});
    }
    look(lead, status);
  }
  const auto text = metrics.text();
  CHECK(text.find("worker=\"t39w399\"") != std::string::npos);
  CHECK(text.find("worker=\"t38w0\"") == std::string::npos);
  CHECK(metrics.counter("ballast_metrics_dropped_series_total")->value() == 0);
}

TEST_CASE("of two workers that live under one name each has series of its own") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  auto status = some_status();
  status.sessions = {{1, "w", true, 5, 10, "", "", {}}, {0xAB, "w", true, 7, 20, "", "", {}}};
  look(lead, status);
  const std::string twin = "w@00000000000000ab";
  CHECK(gauge(metrics, "worker_step", {"w"}) == 5);
  CHECK(gauge(metrics, "worker_step", {twin}) == 7);
  CHECK(metrics.counter("ballast_lead_worker_slots_total", {"w"})->value() == 10);
  CHECK(metrics.counter("ballast_lead_worker_slots_total", {twin})->value() == 20);
  status.sessions[0].live = false;  // an earlier life of the same worker, as it turns out
  look(lead, status);
  CHECK(gauge(metrics, "worker_step", {"w"}) == 7);
  CHECK(metrics.counter("ballast_lead_worker_slots_total", {"w"})->value() == 30);
}

TEST_CASE("silence counts from a worker's last word, of sessions that a status has, and of live ones") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  auto status = some_status();
  lead.heard(1, 500);
  status.sessions = {{1, "w", true, 5, 10, "", {}, {}}, {2, "v", true, 6, 1, "", {}, {}}};
  look(lead, status, 1'000'000);
  lead.heard(1, 2'500'000);
  lead.heard(7, 2'500'000);
  look(lead, status, 3'000'000);
  CHECK(gauge(metrics, "worker_silence_seconds", {"w"}) == doctest::Approx(0.5));
  CHECK(gauge(metrics, "worker_silence_seconds", {"v"}) == doctest::Approx(2));  // since it was first known of
  status.sessions[1].live = false;
  look(lead, status, 4'000'000);
  CHECK(gauge(metrics, "worker_silence_seconds", {"w"}) == doctest::Approx(1.5));
  CHECK(gauge(metrics, "worker_silence_seconds", {"v"}) == 0);
  status.sessions = {{7, "late", true, 5, 10, "", {}, {}}};
  look(lead, status, 5'000'000);
  look(lead, status, 6'000'000);
  CHECK(gauge(metrics, "worker_silence_seconds", {"late"}) == doctest::Approx(1));
  CHECK(metrics.text().find(R"(silence_seconds{worker="w"})") == std::string::npos);
}

TEST_CASE("of a shard the lane counts that was silent for longest") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  ShardRoster shards(2, 2, {1'000'000, 2'000'000, 3'000'000}, Ledger{});
  for (const LaneId lane : {LaneId{0, 0}, {0, 1}, {1, 0}}) {
    ShardHello hello;
    hello.lane = lane;
    hello.incarnation = 5;
    shards.admit(hello, 1'000'000);
  }
  shards.heard({0, 0}, 5, 1'900'000);
  shards.heard({1, 0}, 5, 1'500'000);
  lead.update(some_status(), 1, shards, 2'000'000);
  CHECK(gauge(metrics, "shard_silence_seconds", {"0"}) == doctest::Approx(1));
  CHECK(gauge(metrics, "shard_silence_seconds", {"1"}) == doctest::Approx(0.5));
}

TEST_CASE("a snapshot is as old as the lead has known it for the newest") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  auto status = some_status();
  look(lead, status, 1'000'000);
  look(lead, status, 3'000'000);
  CHECK(gauge(metrics, "snapshot_age_seconds") == doctest::Approx(2));
  status.snapshot += 100;
  look(lead, status, 4'000'000);
  CHECK(gauge(metrics, "snapshot_age_seconds") == 0);
  look(lead, status, 4'500'000);
  CHECK(gauge(metrics, "snapshot_age_seconds") == doctest::Approx(0.5));
}

TEST_CASE("a recovery is told while it lasts and when it is over") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  const ShardRoster nobody(1, 0, {1, 2, 3}, Ledger{});  // of whom all serve
  auto status = some_status();
  status.phase = JobPhase::recovering;
  lead.update(status, 1, nobody, 1'000'000);
  lead.update(status, 1, nobody, 3'500'000);
  CHECK(gauge(metrics, "recovering_seconds") == doctest::Approx(2.5));
  status.phase = JobPhase::training;
  lead.update(status, 1, nobody, 4'000'000);
  CHECK(gauge(metrics, "recovering_seconds") == 0);
  CHECK(metrics.histogram("ballast_lead_recovery_seconds")->sum() == doctest::Approx(3));
}

TEST_CASE("recovery clock: from when a shard was last heard of until all serve") {
  RecoveryClock clock;
  CHECK_FALSE(clock.look({JobPhase::training, 0, true}, 1'000));
  CHECK_FALSE(clock.look({JobPhase::training, 400, true}, 2'000));
  CHECK(clock.lasts(2'100) == 500);
  CHECK_FALSE(clock.look({JobPhase::training, 0, false}, 2'500));  // it is there and does not serve yet
  CHECK_FALSE(clock.look({JobPhase::recovering, 0, false}, 2'600));
  CHECK(clock.look({JobPhase::training, 0, true}, 3'000) == Micros{1'400});
  CHECK(clock.lasts(3'000) == 0);
}

TEST_CASE("recovery clock: a job that has not begun, or is over, does not recover") {
  RecoveryClock clock;
  CHECK_FALSE(clock.look({JobPhase::assembling, 9'000, false}, 10'000));
  CHECK(clock.lasts(10'000) == 0);
  CHECK_FALSE(clock.look({JobPhase::training, 500, true}, 11'000));
  CHECK_FALSE(clock.look({JobPhase::failed, 500, true}, 12'000));
  CHECK(clock.lasts(12'000) == 0);
  CHECK_FALSE(clock.look({JobPhase::finished, 0, true}, 13'000));
}

TEST_CASE("snapshot clock: from when some lane has begun it until it is complete") {
  SnapshotClock clock;
  CHECK_FALSE(clock.look({}, 0, 1'000));
  CHECK_FALSE(clock.look({20}, 0, 2'000));
  CHECK_FALSE(clock.look({20, 30}, 0, 3'000));
  CHECK(clock.look({30}, 20, 5'000) == Micros{3'000});
  CHECK_FALSE(clock.look({30}, 20, 6'000));
  CHECK(clock.look({30}, 30, 7'000) == Micros{4'000});
}

TEST_CASE(
    "snapshot clock: one that nobody writes any more has no time, and one that was not seen to begin has that between "
    "two looks") {
  SnapshotClock clock;
  CHECK_FALSE(clock.look({20}, 10, 1'000));
  CHECK_FALSE(clock.look({}, 10, 2'000));  // the job has gone back, or it could not be written
  CHECK_FALSE(clock.look({20}, 10, 8'000));
  CHECK(clock.look({}, 20, 9'000) == Micros{1'000});
  CHECK(clock.look({}, 40, 10'000) == Micros{1'000});
  CHECK_FALSE(clock.look({30}, 40, 11'000));  // it is of no use
}

TEST_CASE("the lead tells how long a snapshot took that a lane has come to") {
  Metrics metrics;
  LeadMetrics lead(&metrics);
  ShardRoster shards(1, 1, {1, 2, 3}, Ledger{});
  ShardHello hello;
  hello.lane = {0, 0};
  shards.admit(hello, 1'000'000);
  LaneReport report;
  report.open_step = 300;
  report.writing = {{2, 310}};
  auto status = some_status();
  const auto look_at = [&](Micros now) {
    shards.take_report({0, 0}, report, true);
    lead.update(status, 1, shards, now);
  };
  look_at(1'000'000);  // it is ordered
  report.open_step = 310;
  look_at(2'000'000);
  report.writing.clear();
  report.held = {{2, 310}};
  look_at(3'000'000);
  status.snapshot = 310;
  look_at(3'500'000);
  CHECK(metrics.histogram("ballast_lead_snapshot_seconds")->sum() == doctest::Approx(1.5));
}

}  // namespace
}  // namespace ballast
