// A lead with two shards of one lane and one worker, all of whose messages the test writes itself.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/lead/lead.h"

namespace ballast::two_shards {

inline constexpr Micros kMilli = 1'000;
inline constexpr SessionId kWorker = 9;

inline LeadConfig config() {
  LeadConfig config;
  config.shards = 2;
  config.slots = 2;
  config.steps = 40;
  config.steps_per_epoch = 40;
  config.evaluate_every = 10;
  config.snapshot_every = 10;
  config.spec_digest = "spec";
  config.layout_digest = "layout";
  config.factors = [](Step step, std::uint64_t updates) {
    StepFactors factors;
    factors.learning_rate = static_cast<float>(step);
    factors.step_size = static_cast<float>(updates);
    return factors;
  };
  config.decisions.chunks = 2;
  config.parameter_name = [](std::uint32_t) { return std::string("weight"); };
  return config;
}

// What a ledger says once the fixture's worker has been given work.
inline Provenance of_the_worker() { return {{"data", "worker worker"}, {{"arithmetic", "worker worker"}}, {}}; }

// Shard 1 owns the statistics.
class Fixture {
 public:
  explicit Fixture(LeadConfig lead_config) : lead(std::move(lead_config)) { lead.step(lead::Tick{now}); }

  lead::Actions lane(std::uint32_t shard, const Message& message) {
    return keep(lead.step(lead::FromLane{{shard, 0}, incarnations[shard], &message}));
  }
  lead::Actions hello(std::uint32_t shard, Timeline known = 0, Step reached = 0) {
    return lane(shard, hello_of(shard, known, reached));
  }
  // Of the shard's one database, whose lives are counted as its incarnations; it has every complete snapshot.
  ShardHello hello_of(std::uint32_t shard, Timeline known, Step reached, std::vector<ShardLife> lives = {}) {
    ShardHello hello{{shard, 0},
                     2,
                     1,
                     incarnations[shard],
                     {100 + shard, incarnations[shard]},
                     "spec",
                     "layout",
                     "",
                     "tcp://here",
                     known,
                     reached,
                     held,
                     std::move(lives)};
    const auto& complete = lead.ledger().complete;
    hello.held.insert(hello.held.end(), complete.begin(), complete.end());
    hello.held.emplace_back();
    return hello;
  }
  lead::Actions written() { return keep(lead.step(lead::LedgerWritten{})); }
  // All that is to be written, one change after the other.
  void settle() {
    for (int i = 0; i < 4; ++i) {
      written();
    }
  }
  lead::Actions client(Control::Command command) { return keep(lead.step(lead::FromClient{command})); }
  LaneReport state(std::uint32_t shard, Step open) {
    LaneReport report;
    report.lane = {shard, 0};
    report.incarnation = incarnations[shard];
    report.sequence = ++sequences[shard];
    report.timeline = timeline;
    report.serving = true;
    report.open_step = open;
    report.rounds.missing = {3};
    report.planned = planned;
    report.plan = plan[shard].number;
    report.held = held;
    report.departing = departing.contains(shard);
    if (shard == 1) {
      for (Step step = 0; step < open; ++step) {
        report.statistics.push_back({step, 1, 1, 1});
      }
    }
    return report;
  }
  void reports(Step open) {
    lane(0, state(0, open));
    lane(1, state(1, open));
  }
  lead::Actions beat() {
    Heartbeat beat;
    beat.ready = true;
    beat.fingerprint = "arithmetic";
    beat.data_digest = "data";
    beat.timeline = timeline;
    beat.placement = placement;
    const Message message = beat;
    return keep(lead.step(lead::FromWorker{kWorker, &message}));
  }
  // Both shards' hellos, the ledger, their reports, a worker.
  void train(Step open = 0) {
    hello(0, timeline - 1);
    hello(1, timeline - 1);
    written();
    reports(open);
    const Message hello = WorkerHello{"worker"};
    lead.step(lead::FromWorker{kWorker, &hello});
    beat();
    written();  // whose data and arithmetic the job's are
  }
  void evaluate(Split split, std::uint64_t correct) {
    EvaluationResult result{timeline, split, 0, order.evaluation.value().version, 1.0, correct, 10};
    const Message message = result;
    keep(lead.step(lead::FromWorker{kWorker, &message}));
    written();
  }

  Lead lead;
  Micros now = 5'000'000;
  Timeline timeline = 1;
  Version planned = 1'000;  // by every shard
  std::uint64_t placement = 0;
  std::map<std::uint32_t, std::uint64_t> sequences;  // of reports, by shard
  std::vector<Incarnation> incarnations = {1, 1};
  std::vector<SnapshotId> held;
  std::set<std::uint32_t> departing;   // shards whose servers were told to end
  Assign order;                        // the newest
  std::map<std::uint32_t, Plan> plan;  // the newest to each shard

 private:
  lead::Actions keep(lead::Actions actions) {
    for (const auto& action : actions) {
      if (const auto* send = std::get_if<lead::SendToWorker>(&action)) {
        if (const auto* assign = std::get_if<Assign>(&send->message)) {
          order = *assign;
        }
      } else if (const auto* to_lane = std::get_if<lead::SendToLane>(&action)) {
        if (const auto* newest = std::get_if<Plan>(&to_lane->message)) {
          plan[to_lane->lane.shard] = *newest;
        }
      }
    }
    return actions;
  }
};

template <typename Action>
const Action* find(const lead::Actions& actions) {
  for (const auto& action : actions) {
    if (const auto* found = std::get_if<Action>(&action)) {
      return found;
    }
  }
  return nullptr;
}

template <typename Body>
std::vector<Body> to_lanes(const lead::Actions& actions) {
  std::vector<Body> found;
  for (const auto& action : actions) {
    if (const auto* send = std::get_if<lead::SendToLane>(&action)) {
      if (const auto* body = std::get_if<Body>(&send->message)) {
        found.push_back(*body);
      }
    }
  }
  return found;
}

// Of a lead that starts with a ledger that is there.
inline LeadConfig started_again(const Ledger& ledger, LeadConfig again = config()) {
  again.memory.ledger = ledger;
  again.memory.statistics_next = ledger.base.step;
  return again;
}

}  // namespace ballast::two_shards
