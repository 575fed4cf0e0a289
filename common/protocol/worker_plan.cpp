#include "common/protocol/worker_plan.h"

#include <algorithm>
#include <utility>

namespace ballast {

bool WorkerPlan::take(const Assign& assign) {
  if (assign.order <= order_ || assign.timeline < timeline_) {
    return false;
  }
  if (assign.timeline > timeline_) {
    timeline_ = assign.timeline;
    standing_.clear();
    done_.clear();
    grants_.clear();
    evaluation_.reset();
    cursor_ = assign.standing.from;
  }
  order_ = assign.order;
  extra_ = assign.extra;
  if (assign.evaluation != evaluation_) {
    evaluated_ = false;
  }
  evaluation_ = assign.evaluation;
  const auto known = std::exchange(grants_, {});
  for (const auto& grant : assign.grants) {
    const bool is_computed = std::any_of(known.begin(), known.end(),
                                         [&](const GrantState& old) { return old.grant == grant && old.computed; });
    grants_.push_back({grant, is_computed});
  }
  if (!assign.grants.empty()) {
    granted_step_ = assign.grants.back().item / slots_;
  }
  std::erase_if(standing_, [&](const Standing& old) { return old.from >= assign.standing.from; });
  for (auto& old : standing_) {
    old.until = std::min(old.until, assign.standing.from);
  }
  standing_.push_back(assign.standing);
  return true;
}

const Standing* WorkerPlan::standing_at(Step step) const {
  const auto found = std::find_if(standing_.begin(), standing_.end(), [&](const Standing& standing) {
    return standing.from <= step && step < standing.until;
  });
  return found == standing_.end() ? nullptr : &*found;
}

std::vector<SlotRange> WorkerPlan::without_done(Step step, SlotRange range) const {
  SlotSet todo(slots_);
  todo.insert(range);
  if (const auto done = done_.find(step); done != done_.end()) {
    todo.erase(done->second);
  }
  return todo.runs();
}

std::vector<SlotRange> WorkerPlan::standing_work(Step step) const {
  const auto* standing = standing_at(step);
  return standing == nullptr ? std::vector<SlotRange>{} : without_done(step, standing->slots);
}

void WorkerPlan::move_cursor() {
  for (const auto& standing : standing_) {
    if (cursor_ >= standing.until) {
      continue;
    }
    cursor_ = std::max(cursor_, standing.from);
    if (standing.slots.empty()) {
      continue;  // nothing to do there, but a newer order may fill it: the cursor stays for it
    }
    while (cursor_ < standing.until && standing_work(cursor_).empty()) {
      ++cursor_;
    }
    if (cursor_ < standing.until) {
      break;
    }
  }
  while (standing_.size() > 1 && standing_.front().until <= cursor_) {
    standing_.erase(standing_.begin());
  }
  done_.erase(done_.begin(), done_.lower_bound(cursor_ < 2 ? 0 : cursor_ - 2));
}

WorkerPlan::Target WorkerPlan::next() {
  if (evaluation_ && !evaluated_) {
    return {Target::Kind::evaluate, evaluation_->version * (ledgered_ ? slots_ : 1), 0, 0, {}, *evaluation_};
  }
  for (const auto& [grant, is_computed] : grants_) {
    if (!is_computed) {
      const auto slot = static_cast<Slot>(grant.item % slots_);
      return {Target::Kind::train, kNewestVersion, grant.clock, grant.item / slots_, {{slot, slot + 1}}, {}};
    }
  }
  move_cursor();
  if (extra_) {
    if (auto work = without_done(extra_->step, extra_->slots); !work.empty()) {
      return {Target::Kind::train, extra_->step, 0, extra_->step, std::move(work), {}};
    }
  }
  if (auto work = standing_work(cursor_); !work.empty()) {
    return {Target::Kind::train, cursor_, 0, cursor_, std::move(work), {}};
  }
  return {};
}

void WorkerPlan::computed(Step step, const std::vector<SlotRange>& ranges) {
  auto& done = done_.try_emplace(step, slots_).first->second;
  for (const auto range : ranges) {
    done.insert(range);
  }
}

std::optional<Grant> WorkerPlan::grant_after(std::uint64_t clock) const {
  const auto next = std::find_if(grants_.begin(), grants_.end(), [&](const GrantState& state) {
    return !state.computed && state.grant.clock != clock;
  });
  return next == grants_.end() ? std::nullopt : std::optional<Grant>(next->grant);
}

std::vector<Grant> WorkerPlan::computed_grants() const {
  std::vector<Grant> grants;
  for (const auto& [grant, is_computed] : grants_) {
    if (is_computed) {
      grants.push_back(grant);
    }
  }
  return grants;
}

std::size_t WorkerPlan::open_grants() const { return grants_.size() - computed_grants().size(); }

void WorkerPlan::computed(std::uint64_t clock) {
  for (auto& [grant, is_computed] : grants_) {
    is_computed = is_computed || grant.clock == clock;
  }
}

void WorkerPlan::evaluated(const EvaluationResult& result) {
  evaluated_ = evaluated_ || (evaluation_ && evaluation_->split == result.split && evaluation_->item == result.item &&
                              evaluation_->version == result.version);
}

void WorkerPlan::gone(Version version, Version held) {
  if (extra_ && extra_->step <= version) {
    extra_.reset();
  }
  if (evaluation_ && evaluation_->version <= version) {
    evaluation_.reset();
  }
  if (cursor_ <= version && held > 0) {
    // Every chunk is at held - 1 at least; and where that is gone too, it is the lane's first, the timeline's base.
    cursor_ = std::max(cursor_, version + 1 == held ? held : held - 1);
  }
}

}  // namespace ballast
