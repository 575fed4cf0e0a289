// The lead's decisions on steps, and the plans that tell the shards of them.
#include <algorithm>
#include <utility>

#include "common/protocol/lead.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

namespace {

void add_skipped(std::vector<StepRange>& skipped, StepRange range) {
  for (auto known = skipped.begin(); known != skipped.end();) {
    if (known->from <= range.until && range.from <= known->until) {
      range = {std::min(range.from, known->from), std::max(range.until, known->until)};
      known = skipped.erase(known);
    } else {
      ++known;
    }
  }
  skipped.push_back(range);
  std::sort(skipped.begin(), skipped.end(), [](StepRange left, StepRange right) { return left.from < right.from; });
}

}  // namespace

bool Lead::is_skipped(Step step) const {
  const auto& skipped = book_.durable().skipped;
  return std::any_of(skipped.begin(), skipped.end(), [&](StepRange range) { return range.contains(step); });
}

StepFactors Lead::factors(Version version) const {
  if (is_ledgered()) {
    return config_.factors(version / config_.slots, version);
  }
  const Step step = version;
  if (const auto known = decided_.find(step); known != decided_.end()) {
    return known->second;
  }
  std::uint64_t updates = step;
  for (const auto& range : book_.durable().skipped) {
    updates -= std::min(range.until, step) - std::min(range.from, step);
  }
  auto factors = config_.factors(step, updates);
  factors.skip = is_skipped(step);
  return factors;
}

// What a shard reports as used is what the others use: a lead without memory decides nothing a second time.
void Lead::adopt_decisions(const LaneReport& report) {
  for (const auto& known : report.decided) {
    decided_.try_emplace(known.step, known.factors);
    decided_next_ = std::max(decided_next_, known.step + 1);
  }
  decided_.erase(decided_.begin(), decided_.lower_bound(open_step() < 2 ? 0 : open_step() - 2));
}

void Lead::take_measures() {
  for (const auto& [id, lane] : lanes_) {
    for (const auto& measure : lane.report.measures) {
      decisions_.take(measure);
    }
  }
}

void Lead::decide() {
  if (phase_ != Phase::training) {
    return;
  }
  if (!config_.decisions.decides()) {
    for (const auto& [id, lane] : lanes_) {
      for (const auto& measure : lane.report.measures) {
        if (!measure.finite && !is_skipped(measure.step) && measure.step >= lane.report.open_step) {
          return on_fault(measure);
        }
      }
    }
    return;
  }
  Step next = decided_next_;
  while (is_skipped(next) && next < barrier_) {
    decided_.emplace(next, factors(next));
    ++next;
  }
  decisions_.open(next);
  take_measures();
  const auto* fault = decisions_.fault();
  if (fault == nullptr && decisions_.complete()) {
    auto decision = factors(next);
    decision.scales = decisions_.scales();
    gradient_norm_ = decisions_.norm();
    decided_.insert_or_assign(next, std::move(decision));
    ++next;
  }
  if (std::exchange(decided_next_, next) != next) {
    send_plans();
  }
  if (fault != nullptr) {
    on_fault(*fault);
  }
}

std::string Lead::describe(const ChunkMeasure& fault) const {
  return "step " + std::to_string(fault.step) + ": the gradient of " + config_.parameter_name(fault.parameter) +
         " (chunk " + std::to_string(fault.chunk) + ") is not finite, " +
         (fault.slot == kNoSlot ? "though that of every slot is: their sum overflows"
                                : "first in slot " + std::to_string(fault.slot));
}

void Lead::on_fault(const ChunkMeasure& fault) {
  const auto& skipped = book_.current().skipped;
  if (std::any_of(skipped.begin(), skipped.end(), [&](StepRange range) { return range.contains(fault.step); })) {
    return;  // decided; not durable yet
  }
  trouble_ = describe(fault);
  switch (config_.decisions.non_finite) {
    case NonFinite::halt:
      return fail(
          describe(fault) + " (training.non_finite: halt). Resume with training.non_finite: skip" +
          (is_ledgered() ? "" : " or rollback") +
          ", or start anew with a lower learning rate or with clipping; ballast export and training.init_from keep "
          "what is trained");
    case NonFinite::skip:
      add_skipped(book_.edit().skipped, {fault.step, fault.step + 1});
      return;
    case NonFinite::rollback:
      add_skipped(book_.edit().skipped, {book_.current().complete.back().step, fault.step + 1});
      return begin_timeline();
  }
}

// ---- plans

Step Lead::plan_end() const {
  const Step end = std::min(stand(), schedule_.decided_until());
  return config_.decisions.decides() ? std::min(end, decided_next_) : end;
}

void Lead::send_plan(LaneId id, const LaneState& lane) {
  Plan plan;
  plan.timeline = timeline();
  // Of items from the first on that the lane lacks, and of many at once: a shard that has lost some may be further on
  // with others.
  const Version open = is_ledgered() ? CoveredItems(lane.report.covered).floor() : lane.report.open_step;
  plan.first = std::min(open, updates(plan_end()));
  const Version end = std::min(updates(plan_end()), plan.first + (is_ledgered() ? kMaxPlanned : config_.plan_ahead));
  // A plan whose first half is still to be used needs no renewal: the empty one is a sign of life.
  if (lane.report.planned < end && lane.report.planned < plan.first + config_.plan_ahead / 2 + 1) {
    for (Version version = plan.first; version < end; ++version) {
      plan.factors.push_back(factors(version));
    }
  }
  plan.snapshots.assign(schedule_.ordered().begin(), schedule_.ordered().end());
  plan.keep = book_.durable().complete;
  plan.copies = copies_.told(book_.durable().copies);
  plan.statistics_through = book_.statistics_through();
  emit(SendToLane{id, lane.incarnation, std::move(plan)});
}

void Lead::send_plans() {
  for (const auto& [id, lane] : lanes_) {
    if (lane.report.serving) {  // whoever has not reported may be further on than a new lead's decisions
      send_plan(id, lane);
    }
  }
}

}  // namespace ballast
