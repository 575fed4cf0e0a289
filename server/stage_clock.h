// Where the time of a lane's thread goes, by what it does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/metrics/series.h"
#include "common/net/clock.h"
#include "protocol/ids.h"
#include "protocol/lane/lane_events.h"

namespace ballast {

// In the order of kLaneStages.
enum class LaneStage : std::uint8_t { waiting, reading, summing, applying, replying, storing, other };

// Of what the core asks for.
inline LaneStage stage_of(const lane::Action& action) {
  return std::visit(
      []<typename Action>(const Action& /*action*/) {
        if constexpr (std::is_same_v<Action, lane::Sum>) {
          return LaneStage::summing;
        } else if constexpr (std::is_same_v<Action, lane::Measure> || std::is_same_v<Action, lane::Apply>) {
          return LaneStage::applying;
        } else if constexpr (std::is_same_v<Action, lane::SendToWorker> || std::is_same_v<Action, lane::SendWeights>) {
          return LaneStage::replying;
        } else if constexpr (std::is_same_v<Action, lane::Append> || std::is_same_v<Action, lane::TakeSnapshot> ||
                             std::is_same_v<Action, lane::SealSnapshot>) {
          return LaneStage::storing;
        } else {
          return LaneStage::other;
        }
      },
      action);
}

// Each moment counts for what the thread does then, and for nothing else. One thread.
class StageClock {
 public:
  // From `now` on it does this. What it did until then.
  LaneStage enter(LaneStage stage, Micros now) {
    spent_[static_cast<std::size_t>(stage_)] += since_ == 0 ? 0 : now - since_;
    since_ = now;
    return std::exchange(stage_, stage);
  }
  [[nodiscard]] Micros spent(std::size_t stage) const { return spent_[stage]; }

 private:
  std::array<Micros, kLaneStages.size()> spent_{};
  LaneStage stage_ = LaneStage::other;
  Micros since_ = 0;
};

// Does something within what the thread does, to which it goes back.
class WithinStage {
 public:
  WithinStage(StageClock& clock, LaneStage stage) : clock_(clock), outer_(clock_.enter(stage, monotonic_micros())) {}
  ~WithinStage() { clock_.enter(outer_, monotonic_micros()); }
  WithinStage(const WithinStage&) = delete;
  WithinStage& operator=(const WithinStage&) = delete;

 private:
  StageClock& clock_;
  LaneStage outer_;
};

}  // namespace ballast
