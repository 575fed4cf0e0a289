// A lane of the second of two shards, all of whose messages the test writes itself.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/lane/lane.h"

namespace ballast::one_lane {

inline constexpr SessionId kWorker = 9;

inline LaneConfig config() {
  LaneConfig config;
  config.id = {1, 0};
  config.shards = 2;
  config.slots = 4;
  config.steps = 5;
  config.chunks = {{3, 100, false}, {5, 40, true}};
  config.spec_digest = "spec";
  config.layout_digest = "layout";
  config.address = "here";
  config.reply_window_bytes = 150;
  return config;
}

inline StepFactors rate(float learning_rate) {
  StepFactors factors;
  factors.learning_rate = learning_rate;
  return factors;
}

inline Plan plan(Timeline timeline, Step first, std::size_t steps, std::vector<Step> snapshots = {},
                 std::vector<SnapshotId> keep = {}) {
  return {timeline, first, std::vector<StepFactors>(steps, rate(0.5F)), std::move(snapshots), std::move(keep), {},
          0,        1};
}

// A lane that serves timeline 1 and knows factors for all its steps, and a session that has said hello.
class Fixture {
 public:
  explicit Fixture(LaneConfig lane_config = config()) : lane(std::move(lane_config)) {
    lane.step(lane::Tick{1'000});
    begin(1, {0, 0});
    lead(plan(1, 0, 5));
    from_worker(kWorker, LaneHello{"worker", "spec", "layout"});
  }

  lane::Actions begin(Timeline timeline, SnapshotId base) {
    lead(Confirm{1, timeline, base});
    return lane.step(lane::Begun{timeline});
  }

  lane::Actions lead(const Message& message) { return lane.step(lane::FromLead{&message}); }
  lane::Actions from_worker(SessionId session, const Message& message) {
    return lane.step(lane::FromWorker{session, &message, kNoPayload, 0});
  }
  lane::Actions push(Step step, ChunkId chunk, Node node, std::uint64_t bytes, Timeline timeline = 1,
                     bool want_next = false, SessionId session = kWorker) {
    const Message message = Push{timeline, step, chunk, node, want_next, fault, {}};
    return measured(lane.step(lane::FromWorker{session, &message, ++last_payload, bytes}));
  }

  // Answers what is to be measured, as the shell does at once.
  lane::Actions measured(lane::Actions actions) {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (const auto* measure = std::get_if<lane::Measure>(&actions[i])) {
        const ChunkMeasure found{measure->chunk, measure->step, {2.0}, finite, 4, kNoSlot};
        const auto more = lane.step(lane::Measured{found, measure->root});
        actions.insert(actions.end(), more.begin(), more.end());
      }
    }
    return actions;
  }

  Lane lane;
  PayloadId last_payload = 0;
  bool finite = true;    // what the shell finds when it measures
  Slot fault = kNoSlot;  // what workers say
};

template <typename Action>
const Action* find(const lane::Actions& actions) {
  for (const auto& action : actions) {
    if (const auto* found = std::get_if<Action>(&action)) {
      return found;
    }
  }
  return nullptr;
}

template <typename Body>
const Body* find_to_worker(const lane::Actions& actions) {
  for (const auto& action : actions) {
    if (const auto* send = std::get_if<lane::SendToWorker>(&action)) {
      if (const auto* body = std::get_if<Body>(&send->message)) {
        return body;
      }
    }
  }
  return nullptr;
}

template <typename Body>
const Body* find_to_lead(const lane::Actions& actions) {
  for (const auto& action : actions) {
    if (const auto* send = std::get_if<lane::SendToLead>(&action)) {
      if (const auto* body = std::get_if<Body>(&send->message)) {
        return body;
      }
    }
  }
  return nullptr;
}

// A refused push: told so, its payload dropped, and nothing else.
inline void check_refused(Fixture& fixture, const lane::Actions& actions, RefusalCode code, const std::string& naming) {
  REQUIRE(actions.size() == 2);
  const auto* refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == code);
  CHECK(refused->text.find(naming) != std::string::npos);
  const auto* drop = find<lane::Drop>(actions);
  REQUIRE(drop != nullptr);
  CHECK(drop->payload == fixture.last_payload);
  CHECK(fixture.lane.held_payloads() == 0);
}

}  // namespace ballast::one_lane
