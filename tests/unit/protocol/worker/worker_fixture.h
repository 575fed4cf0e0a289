#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/worker/worker.h"

namespace ballast {

inline constexpr Micros kWorkerMilli = 1'000;

// A worker of two chunks on one lane, all of whose messages the test writes itself.
class WorkerFixture {
 public:
  explicit WorkerFixture(const WorkerPlan::Rules& mode = {}, bool averages = false) : worker(config()) {
    tick(0);
    lead(WorkerWelcome{1, "job", "spec", "layout", 1, 1, {{{0, 0}, 1, "here"}}});
    WorkerLayout layout;
    layout.slots = 4;
    layout.chunks = {{0, 0, 100}, {1, 0, 20}};
    layout.lanes = 1;
    layout.mode = mode;
    layout.averages = averages;
    worker.step(worker::Prepared{layout});
    lane(LaneWelcome{1, 1, 1'000});
  }

  static WorkerConfig config() {
    WorkerConfig config;
    config.name = "worker";
    config.lead_silence = 1'000 * kWorkerMilli;
    config.retry = {100 * kWorkerMilli, 100 * kWorkerMilli, 100 * kWorkerMilli};
    return config;
  }

  worker::Actions tick(Micros later) { return worker.step(worker::Tick{now += later}); }
  worker::Actions lead(const Message& message) { return worker.step(worker::FromLead{&message}); }
  worker::Actions lane(const Message& message, PayloadId payload = kNoPayload) {
    return worker.step(worker::FromLane{0, &message, payload});
  }
  worker::Actions assign(Step until) { return lead(Assign{{1, ++order}, 1, 1, {}, {{0, until, {0, 2}}, {}}, {}}); }
  worker::Actions weights(ChunkId chunk, Version version) { return lane(Weights{1, 1, chunk, version}, ++payloads); }

  Worker worker;
  Micros now = 5'000'000;
  std::uint64_t order = 0;
  PayloadId payloads = 100;
};

inline WorkerWelcome welcome(Timeline timeline, Incarnation incarnation, const std::string& address) {
  return {timeline, "job", "spec", "layout", 1, 1, {{{0, 0}, incarnation, address}}, timeline};
}

// A fixture that computesstep 0 of timeline 1, one of whose gradients is on its way.
class Computing : public WorkerFixture {
 public:
  Computing() {
    assign(2);
    weights(0, 0);
    weights(1, 0);
    worker.step(worker::SlotBegun{0, 0});
    worker.step(worker::SlotBegun{0, 1});
    worker.step(worker::GradientReady{0, {0, 2}, 1, 7, kNoSlot, true});
  }
};

template <typename Action>
std::vector<Action> all(const worker::Actions& actions) {
  std::vector<Action> found;
  for (const auto& action : actions) {
    if (const auto* body = std::get_if<Action>(&action)) {
      found.push_back(*body);
    }
  }
  return found;
}

template <typename Body>
std::vector<Body> to_lane(const worker::Actions& actions) {
  std::vector<Body> found;
  for (const auto& send : all<worker::SendToLane>(actions)) {
    if (const auto* body = std::get_if<Body>(&send.message)) {
      found.push_back(*body);
    }
  }
  return found;
}

inline std::optional<Heartbeat> beat_of(const worker::Actions& actions) {
  for (const auto& send : all<worker::SendToLead>(actions)) {
    if (const auto* beat = std::get_if<Heartbeat>(&send.message)) {
      return *beat;
    }
  }
  return std::nullopt;
}

}  // namespace ballast
