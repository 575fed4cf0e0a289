#include "protocol/worker/worker_plan.h"

#include <utility>

namespace ballast {

bool WorkerPlan::take(const Assign& assign) {
  // Without a timeline it is a sign of life, whose number is that of an order before.
  if (assign.timeline == 0 || std::pair(assign.timeline, assign.order) <= std::pair(timeline_, order_)) {
    return false;
  }
  const bool begins = assign.timeline > timeline_;
  if (begins) {
    evaluation_.forget_order();
  }
  timeline_ = assign.timeline;
  order_ = assign.order;
  evaluation_.take(assign.evaluation);
  visit([&](auto& own) { own.take(assign, begins); });
  return true;
}

WorkerTarget WorkerPlan::next() {
  if (const auto* evaluation = evaluation_.next()) {
    const auto version = visit([&](const auto& own) { return own.updates(evaluation->version); });
    return {WorkerTarget::Kind::evaluate, {version, {}, averages_}, 0, {}, *evaluation};
  }
  return visit([](auto& own) { return own.next(); }).value_or(WorkerTarget{});
}

// An average goes with the update after it, the weights one update later: what trains may still find them.
void WorkerPlan::gone(const Gone& gone) {
  evaluation_.gone(gone.version);
  if (!gone.averages) {
    visit([&](auto& own) { own.gone(gone.version, gone.newest); });
  }
}

}  // namespace ballast
