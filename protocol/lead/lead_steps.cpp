// The lead's decisions on steps, and the plans that tell the shards of them.
#include <algorithm>
#include <utility>

#include "protocol/lead/lead.h"

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

// Nobody is told of a step that is left out before that is durable.
const std::vector<StepRange>& Lead::skipped() const { return book_.durable().skipped; }

// By the turn's reports, or by the newest of all lanes.
std::vector<const ChunkMeasure*> Lead::measures(const Turn& turn, bool of_all) const {
  std::vector<const ChunkMeasure*> measures;
  const auto add = [&](const LeadLane& lane) {
    for (const auto& measure : lane.report.measures) {
      measures.push_back(&measure);
    }
  };
  if (of_all) {
    std::ranges::for_each(shards_.lanes(), [&](const auto& lane) { add(lane.second); });
  } else {
    std::ranges::for_each(turn.reported, [&](const auto& lane) { add(shards_.lanes().at(lane.first)); });
  }
  return measures;
}

// Where steps wait for no decision, a gradient that is not finite ends the job.
const ChunkMeasure* Lead::undecided_fault(const std::vector<const ChunkMeasure*>& measures) const {
  const auto fault = std::ranges::find_if(measures, [&](const ChunkMeasure* measure) {
    return !measure->finite && measure->step >= course_.open_step() && !contains(skipped(), measure->step);
  });
  return fault == measures.end() ? nullptr : *fault;
}

// With each tick by all measures: those of a report that came while nobody trained count as well.
void Lead::decide(const Turn& turn) {
  if (phase_ != Phase::training) {
    return;
  }
  if (!planner_.decides()) {
    if (const auto* fault = undecided_fault(measures(turn, turn.ticked))) {
      on_fault(*fault);
    }
    return;
  }
  if (planner_.decide(measures(turn, turn.ticked || !planner_.is_collecting()), skipped(), barrier_)) {
    send_plans();
  }
  if (const auto* fault = planner_.fault()) {
    on_fault(*fault);
  }
}

std::string Lead::describe(const ChunkMeasure& fault) const {
  return "step " + std::to_string(fault.step) + ": the gradient of " + config_.parameter_name(fault.parameter) +
         " (chunk " + std::to_string(fault.chunk) + ") is not finite, " +
         (fault.slot == kNoSlot
              ? "though that of every slot is by its statistics: their sum overflows, or somebody has brought "
                "something else"
              : "first in slot " + std::to_string(fault.slot));
}

void Lead::on_fault(const ChunkMeasure& fault) {
  if (contains(book_.current().skipped, fault.step)) {
    return;  // decided; not durable yet
  }
  trouble_ = describe(fault);
  switch (config_.decisions.non_finite) {
    case NonFinite::halt:
      return fail(
          describe(fault) + " (training.non_finite: halt). Resume with training.non_finite: " +
          std::string(course_.non_finite_remedies()) +
          ", or start anew with a lower learning rate or with clipping; ballast export and training.init_from keep "
          "what is trained");
    case NonFinite::skip:
      add_skipped(book_.edit().skipped, {fault.step, fault.step + 1});
      return;
    case NonFinite::rollback:
      add_skipped(book_.edit().skipped, {book_.current().complete.back().step, fault.step + 1});
      return begin_timeline(RollbackCause::non_finite);
  }
}

// ---- plans

Step Lead::plan_end() const {
  const Step end = planner_.known_until(std::min(limit(), schedule_.decided_until()));
  return goes_step_by_step() ? std::min(end, std::max(course_.open_step(), book_.current().base.step) + 1) : end;
}

// All plans of one number name the same end.
LeadNumber Lead::name_limit() {
  if (const Step step = limit(); step != named_.limit) {
    named_ = {step, named_.number + 1};
  }
  return {config_.life, named_.number};
}

void Lead::send_plan(LaneId id, const LeadLane& lane) {
  Plan plan;
  plan.timeline = timeline();
  plan.incarnation = lane.incarnation;
  plan.number = name_limit();
  plan.until = course_.updates(limit());
  const Version known_until = course_.updates(plan_end());
  plan.first = std::min(course_.first_missing(lane.report), known_until);
  const Version end = std::min(known_until, plan.first + course_.planned_at_once(config_.plan_ahead));
  // A plan whose first half is still to be used needs no renewal: the empty one is a sign of life.
  if (lane.report.planned < end && lane.report.planned < plan.first + config_.plan_ahead / 2 + 1) {
    for (Version version = plan.first; version < end; ++version) {
      plan.factors.push_back(planner_.factors(version, skipped()));
    }
  }
  if (plan.first + plan.factors.size() == known_until && plan_end() < config_.steps) {
    plan.prospect = planner_.prospect(plan_end(), skipped());
  }
  plan.snapshots.assign(schedule_.ordered().begin(), schedule_.ordered().end());
  plan.keep = book_.durable().complete;
  plan.copies = copies_.told(book_.durable().copies);
  plan.statistics_through = book_.statistics_through();
  plan.may_depart = may_depart(id, lane);
  plan.barred = barred_.sessions();
  emit(SendToLane{id, lane.incarnation, std::move(plan)});
}

void Lead::send_plans() {
  for (const auto& [id, lane] : shards_.lanes()) {
    if (lane.report.serving) {  // whoever has not reported may be further on than a new lead's decisions
      send_plan(id, lane);
    }
  }
}

}  // namespace ballast
