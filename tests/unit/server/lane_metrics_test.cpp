#include "server/lane_metrics.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace ballast {
namespace {

// Of how many steps a worker's push times were told.
std::uint64_t pushes_of(Metrics& metrics, const std::string& worker) {
  const auto histogram = metrics.histogram("ballast_shard_worker_phase_seconds", {worker, "push"});
  std::uint64_t count = 0;
  for (std::size_t bucket = 0; bucket < Histogram::kBuckets; ++bucket) {
    count += histogram->count(bucket);
  }
  return count;
}

double dropped_of(Metrics& metrics) { return metrics.counter("ballast_metrics_dropped_series_total")->value(); }

struct LaneMetricsFixture {
  // A worker that joins and contributes once.
  void pass(SessionId session, const std::string& name) {
    lane.welcomed(session, name);
    contribute(session);
  }
  void contribute(SessionId session) {
    Push push;
    push.step = ++step;
    lane.received(session, push, 4);
    lane.contributed(session, push, now);
  }
  [[nodiscard]] bool shows(const std::string& name) const {
    return metrics.text().find("_lateness_seconds_sum{worker=\"" + name + "\"") != std::string::npos;
  }
  [[nodiscard]] std::uint64_t observed(const std::string& name) { return pushes_of(metrics, name); }
  [[nodiscard]] double dropped() { return dropped_of(metrics); }

  Metrics metrics;
  LaneMetrics lane{&metrics, {0, 0}};
  Micros now = 1'000'000;
  Step step = 0;
};

TEST_CASE("the workers of a long life are forgotten, the longest dead first, and new ones have their series") {
  LaneMetricsFixture at;
  at.pass(1, "constant");
  for (SessionId session = 2; session <= 2 * kMaxSessions; ++session) {
    at.now += 20'000;
    at.pass(session, "w" + std::to_string(session));
    at.contribute(1);
  }
  CHECK(at.shows("constant"));
  CHECK(at.shows("w" + std::to_string(2 * kMaxSessions)));
  CHECK_FALSE(at.shows("w2"));
  CHECK(at.dropped() == 0);
}

TEST_CASE("a worker has its series under the name of its hello once the lane has welcomed it, not before") {
  LaneMetricsFixture at;
  at.lane.received(7, LaneHello{"greets", "", ""}, 0);
  at.contribute(7);
  CHECK_FALSE(at.shows("greets"));
  at.lane.sent(8, LaneWelcome{});  // another session
  at.contribute(7);
  CHECK_FALSE(at.shows("greets"));
  at.lane.sent(7, LaneWelcome{});
  at.contribute(7);
  CHECK(at.shows("greets"));
}

TEST_CASE("as many as a lane lets in have series; one more takes the place of who was not heard of for longest") {
  LaneMetricsFixture at;
  for (SessionId session = 1; session <= kMaxSessions; ++session) {
    at.pass(session, "w" + std::to_string(session));
  }
  at.contribute(1);
  at.pass(5'000, "late");
  CHECK(at.shows("late"));
  CHECK(at.shows("w1"));
  CHECK_FALSE(at.shows("w2"));
}

TEST_CASE("the lanes of a server observe a worker in the same series, which are bounded whatever their number") {
  constexpr std::size_t kLanes = 16;
  constexpr SessionId kWorkers = 1'000;
  Metrics metrics;
  const auto tallies = std::make_shared<WorkerTallies>(&metrics);
  std::vector<std::unique_ptr<LaneMetrics>> lanes;
  std::size_t size = 0;  // of the page, when the first lane has heard of all workers
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    lanes.push_back(std::make_unique<LaneMetrics>(&metrics, LaneId{0, lane}, tallies));
    for (SessionId session = 1; session <= kWorkers; ++session) {
      Push push;
      push.step = 3;
      lanes.back()->welcomed(session, "w" + std::to_string(session));
      lanes.back()->contributed(session, push, 1'000'000 + session);
    }
    size = lane == 0 ? metrics.text().size() : size;
  }
  CHECK(dropped_of(metrics) == 0);
  CHECK(pushes_of(metrics, "w1") == kLanes);
  CHECK(pushes_of(metrics, "w1000") == kLanes);
  CHECK(metrics.text().size() < size + size / 10);
}

TEST_CASE("a worker's first contribution, which makes its series, counts in them") {
  LaneMetricsFixture at;
  at.pass(300, "w300");
  CHECK(at.metrics.counter("ballast_shard_worker_bytes_total", {"w300"})->value() == 4);
  at.contribute(300);
  CHECK(at.metrics.counter("ballast_shard_worker_bytes_total", {"w300"})->value() == 8);
}

TEST_CASE("a worker's series stay while another session of its name is remembered") {
  LaneMetricsFixture at;
  at.pass(1, "same");
  at.pass(2, "same");
  for (SessionId session = 3; session <= kMaxSessions; ++session) {
    at.pass(session, "w" + std::to_string(session));
  }
  at.now += LaneMetrics::kDeadAfter;
  at.contribute(2);
  at.pass(5'000, "late");  // in the place of session 1
  CHECK(at.shows("late"));
  CHECK(at.shows("same"));
}

TEST_CASE("of two workers that contribute under one name each has series of its own, named as the lead names them") {
  LaneMetricsFixture at;
  at.pass(0xAB, "same");  // the lower session, whichever came first, has the name itself
  at.now += 1000;
  at.pass(1, "same");
  CHECK_FALSE(at.shows("same@00000000000000ab"));  // the first one may be dead: a worker that was started again
  at.now += 1000;
  at.contribute(0xAB);
  at.contribute(1);
  CHECK(at.shows("same@00000000000000ab"));
  CHECK_FALSE(at.shows("same@0000000000000001"));
  CHECK(at.observed("same") == 3);
  CHECK(at.observed("same@00000000000000ab") == 1);
}

TEST_CASE("a worker that was started again goes on in the series of its name") {
  LaneMetricsFixture at;
  at.pass(1, "same");
  for (SessionId session = 2; session < 6; ++session) {
    at.now += 1000;
    at.pass(session, "same");
    at.now += 1000;
    at.contribute(session);
  }
  CHECK(at.metrics.text().find("same@") == std::string::npos);
  CHECK(at.observed("same") == 9);
}

TEST_CASE("who is left of two workers of one name has the name again, and no series of the other kind stay") {
  LaneMetricsFixture at;
  at.pass(1, "same");
  at.now += 1000;
  at.pass(2, "same");
  at.now += 1000;
  at.contribute(1);
  at.contribute(2);
  CHECK(at.shows("same@0000000000000002"));
  at.now += LaneMetrics::kDeadAfter;
  at.contribute(2);
  CHECK_FALSE(at.shows("same@0000000000000002"));
  CHECK(at.observed("same") == 4);
}

TEST_CASE("contributions of sessions that the lane has not taken in count for nobody") {
  LaneMetricsFixture at;
  at.contribute(7);
  CHECK(at.metrics.text().find("ballast_shard_worker_phase_seconds") == std::string::npos);
}

Receipt receipt_of(ReceiptOutcome outcome) {
  Receipt receipt;
  receipt.outcome = outcome;
  return receipt;
}

TEST_CASE("a server's lanes count together what a worker sends and is answered") {
  Metrics metrics;
  const auto tallies = std::make_shared<WorkerTallies>(&metrics);
  LaneMetrics lanes[] = {{&metrics, {0, 0}, tallies}, {&metrics, {0, 1}, tallies}};
  for (auto& lane : lanes) {
    lane.welcomed(7, "w");
    lane.received(7, Push{}, 100);
    lane.contributed(7, Push{}, 1'000);
    lane.judged();
    lane.received(7, Push{}, 50);
    lane.sent(7, receipt_of(ReceiptOutcome::accepted));
    lane.sent(7, receipt_of(ReceiptOutcome::duplicate));
    lane.sent(7, receipt_of(ReceiptOutcome::not_yet));
    lane.sent(7, Stale{});
    lane.judged();
    lane.sent(7, Stale{});  // to a pull
    lane.sent(7, receipt_of(ReceiptOutcome::expired));
    lane.applied(7, 3);
    lane.applied(8, 9);  // nobody
  }
  const auto of_w = [&](const std::string& name, const Metrics::Labels& more = {}) {
    Metrics::Labels labels{"w"};
    labels.insert(labels.end(), more.begin(), more.end());
    return metrics.counter("ballast_shard_worker_" + name + "_total", labels)->value();
  };
  CHECK(of_w("bytes") == 300);
  CHECK(of_w("contributions", {"accepted"}) == 2);
  CHECK(of_w("contributions", {"duplicate"}) == 2);
  CHECK(of_w("contributions", {"expired"}) == 2);
  CHECK(of_w("contributions", {"stale"}) == 2);
  CHECK(of_w("updates") == 2);
  CHECK(of_w("staleness") == 6);
  CHECK(pushes_of(metrics, "w") == 2);  // once by each
}

TEST_CASE("refusals count by reason, and for who has contributed; for nobody otherwise") {
  LaneMetricsFixture at;
  at.pass(1, "known");
  at.lane.sent(1, Refused{RefusalCode::wrong_target, "no"});
  at.lane.sent(2, Refused{RefusalCode::unknown_session, "no"});
  at.lane.unreadable_of_worker(RefusalCode::malformed);
  const auto refusals = [&](const std::string& worker, const std::string& reason) {
    return at.metrics.counter("ballast_shard_worker_refusals_total", {worker, reason})->value();
  };
  CHECK(refusals("known", "wrong_target") == 1);
  CHECK(refusals("", "unknown_session") == 1);
  CHECK(refusals("", "malformed") == 1);
}

TEST_CASE("what lanes count together stays as long as one of them knows the worker") {
  Metrics metrics;
  WorkerTallies tallies(&metrics);
  auto one = tallies.of("w");
  auto other = tallies.of("w");
  CHECK(one == other);
  one->bytes->add(5);
  one.reset();
  CHECK(metrics.counter("ballast_shard_worker_bytes_total", {"w"})->value() == 5);
  other.reset();
  CHECK(metrics.text().find(R"("w")") == std::string::npos);
  tallies.of("w")->bytes->add(2);
  CHECK(metrics.counter("ballast_shard_worker_bytes_total", {"w"})->value() == 0);  // it has gone again
}

TEST_CASE("forgotten workers have no series of the whole server either, and twins have theirs") {
  LaneMetricsFixture at;
  at.pass(1, "same");
  at.now += 1000;
  at.pass(2, "same");
  at.now += 1000;
  at.contribute(1);
  at.contribute(2);
  const auto counts = [&](const std::string& name) {
    return at.metrics.text().find("ballast_shard_worker_bytes_total{worker=\"" + name + "\"}") != std::string::npos;
  };
  CHECK(counts("same"));
  CHECK(counts("same@0000000000000002"));
  at.now += LaneMetrics::kDeadAfter;
  at.contribute(2);
  CHECK_FALSE(counts("same@0000000000000002"));
  for (SessionId session = 3; session <= 2 * kMaxSessions; ++session) {
    at.now += 20'000;
    at.pass(session, "w" + std::to_string(session));
  }
  CHECK_FALSE(counts("same"));
  CHECK_FALSE(counts("w3"));
  CHECK(counts("w" + std::to_string(2 * kMaxSessions)));
}

TEST_CASE("stage clock: each moment counts once, and what is within a stage goes back to it") {
  StageClock clock;
  clock.enter(LaneStage::waiting, 1'000);  // nothing is known of before
  CHECK(clock.enter(LaneStage::reading, 1'400) == LaneStage::waiting);
  const auto outer = clock.enter(LaneStage::summing, 1'500);
  clock.enter(outer, 1'800);
  clock.enter(LaneStage::waiting, 2'000);
  CHECK(clock.spent(static_cast<std::size_t>(LaneStage::waiting)) == 400);
  CHECK(clock.spent(static_cast<std::size_t>(LaneStage::reading)) == 300);
  CHECK(clock.spent(static_cast<std::size_t>(LaneStage::summing)) == 300);
  CHECK(clock.spent(static_cast<std::size_t>(LaneStage::other)) == 0);
}

}  // namespace
}  // namespace ballast
