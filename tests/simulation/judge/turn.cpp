#include "tests/simulation/judge/turn.h"

#include <algorithm>
#include <variant>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

void TurnJudge::begins() {
  roots_.clear();
  planned_.clear();
  appended_.clear();
  number_ = {};
  until_ = std::numeric_limits<Version>::max();
}

void TurnJudge::turn_begins(const lane::Event& event) {
  goes_on_ = std::holds_alternative<lane::GoOn>(event);
  bytes_ = 0;
  if (const auto* measured = std::get_if<lane::Measured>(&event); measured != nullptr && !life_.items) {
    roots_[measured->measure.chunk] = {measured->measure.step, measured->measure.finite};
  } else if (const auto* committed = std::get_if<lane::Committed>(&event)) {
    committed_ = std::max(committed_, committed->ticket);
  }
}

// One that begins behind where the lane stands leaves no gap, so that nothing in it can be put off.
void TurnJudge::planned(const Plan& plan, Version open) {
  if (life_.items || plan.number < number_) {
    return;
  }
  number_ = plan.number;
  until_ = plan.until;
  if (plan.first > open) {
    return;
  }
  for (std::size_t i = 0; i < plan.factors.size(); ++i) {
    planned_.emplace(plan.first + i, plan.factors[i].skip);
  }
}

void TurnJudge::counts(ChunkId chunk) {
  require(bytes_ < event_bytes_, "a lane does more for one event than it may");
  bytes_ += life_.chunks[chunk].bytes;
  went_on_ = went_on_ || goes_on_;
}

void TurnJudge::measured(const lane::Measure& action) { counts(action.chunk); }

void TurnJudge::applied(const lane::Apply& action) {
  counts(action.chunk);
  roots_.erase(action.chunk);
  std::erase_if(appended_, [&](const auto& entry) { return entry.second == std::pair(action.chunk, action.version); });
}

void TurnJudge::turn_ends(bool has_more, const std::map<ChunkId, Micros>& waiting) const {
  require(!goes_on_ || !has_more || bytes_ > 0, "a lane that is told to go on does nothing of what it has left to do");
  if (has_more) {
    return;
  }
  for (const auto& [chunk, root] : roots_) {
    const auto planned = planned_.find(root.step);
    require(waiting.contains(chunk) || planned == planned_.end() || root.step >= until_ ||
                !(root.is_finite || planned->second),
            "an update is decided and not applied, and the lane says that it has nothing left to do");
  }
  require(!waiting.empty() || appended_.empty() || appended_.begin()->first > committed_,
          "an update is committed and not applied, and the lane says that it has nothing left to do");
}

}  // namespace ballast::simulation
