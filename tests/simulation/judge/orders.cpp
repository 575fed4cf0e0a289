#include "tests/simulation/judge/orders.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/simulation/judge/violation.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

void check_slots(const LifeSpec& life, SlotRange range) {
  if (range.begin > range.end || range.end > life.slots) {
    throw Violation("slots " + words(range) + " of " + std::to_string(life.slots));
  }
}

void check_ranges(const LifeSpec& life, Step step, const std::vector<SlotRange>& ranges) {
  if (ranges.empty() || step >= life.steps) {
    throw Violation("a worker computes nothing, or beyond the job's end: step " + std::to_string(step));
  }
  for (const auto range : ranges) {
    check_slots(life, range);
    require(!range.empty(), "a worker computes an empty range");
  }
}

void OrdersJudge::check_content(const Assign& assign, Timeline durable) const {
  check_slots(life_, assign.rounds.standing.slots);
  if (assign.rounds.standing.until > life_.steps || assign.rounds.standing.from > assign.rounds.standing.until) {
    throw Violation("a standing order for steps " + std::to_string(assign.rounds.standing.from) + " to " +
                    std::to_string(assign.rounds.standing.until));
  }
  if (assign.timeline != 0 && assign.timeline != durable) {
    throw Violation("an order of timeline " + std::to_string(assign.timeline) + ", which is not the durable ledger's");
  }
  if (assign.rounds.now) {
    require(assign.rounds.now->step < life_.steps, "an order for a step that the job does not have");
    SlotSet known(life_.slots);
    for (const auto range : assign.rounds.now->ranges) {
      check_slots(life_, range);
      if (range.empty() || known.contains_some_of(range)) {
        throw Violation("an order for no slots, or for the same ones twice: " + words(assign.rounds.now->ranges));
      }
      known.insert(range);
    }
  }
  if (assign.evaluation) {
    const auto examples = assign.evaluation->split == Split::test ? life_.test_examples : life_.validation_examples;
    require(assign.evaluation->begin < assign.evaluation->end && assign.evaluation->end <= examples,
            "an evaluation item outside its split");
  }
}

// Of a life that the ledger lists, and no older than another one.
bool OrdersJudge::takes(std::uint32_t lane, const LaneReport& report, const Ledger& durable) {
  auto& newest = brought_.sequences[{lane, report.incarnation}];
  if (report.sequence <= newest) {
    return false;
  }
  newest = report.sequence;
  return durable.incarnations.at(lane / life_.lanes) == report.incarnation;
}

// What sessions have brought, the lead knows by the reports that it takes and acts on: not by those of other lives, by
// those that a newer one has overtaken, or by what it hears while it has no work to give out, as when it has just
// begun.
void OrdersJudge::heard(std::uint32_t lane, const LaneReport& report, const Ledger& durable) {
  auto& heard = brought_.heard;
  if (report.timeline != durable.timeline || !report.serving) {
    return;
  }
  // A lead that hears many reports in a turn may have acted on one that the next has overtaken.
  brought_.unpaying[lane] = report.rounds.unpaying;
  std::ranges::for_each(report.rounds.unpaying, [&](SessionId session) { forget_brought(session); });
  for (const auto& entry : report.slots_by_session) {
    brought_.known.insert(entry.session);
  }
  if (!takes(lane, report, durable) || report.slots_by_session.empty()) {
    return;
  }
  if (heard.timeline != report.timeline) {
    heard.timeline = report.timeline;
    heard.to_act_on.clear();
    heard.lately.clear();
    brought_.before_tick.clear();
    brought_.acted_on.clear();
  }
  heard.open = report.open_step;
  for (const auto& entry : report.slots_by_session) {
    // What it brought before this lead knew it, the lead takes note of by a later report.
    const auto [known, is_first] = heard.slots.try_emplace(entry.session, entry.slots);
    const bool is_noted = !is_first && !brought_.greeted.contains(entry.session);
    if (is_noted && entry.slots > known->second) {
      heard.to_act_on[entry.session] = report.open_step;
    }
    known->second = entry.slots;
  }
}

void OrdersJudge::settled(Lead::Phase before, Lead::Phase after) {
  auto& heard = brought_.heard;
  for (const auto& [session, step] : std::exchange(heard.to_act_on, {})) {
    if (before == Lead::Phase::training && after == Lead::Phase::training) {
      heard.lately[session] = step;
    }
  }
}

void OrdersJudge::said_hello(SessionId session) {
  forget_brought(session);
  brought_.greeted.insert(session);
  brought_.leaving.erase(session);
}

void OrdersJudge::said_progress(SessionId session, const Heartbeat& beat) {
  brought_.greeted.erase(session);
  if (beat.progress.leaving) {
    brought_.leaving[session] = beat.timeline;
  } else {
    brought_.leaving.erase(session);
  }
}

void OrdersJudge::forget_brought(SessionId session) {
  for (auto* lately : {&brought_.heard.to_act_on, &brought_.heard.lately, &brought_.before_tick, &brought_.acted_on}) {
    lately->erase(session);
  }
}

// Who is said to send nothing has no credit by what it brought before, or meanwhile.
void OrdersJudge::lead_ticks() {
  brought_.acted_on = std::exchange(brought_.before_tick, brought_.heard.lately);
  for (const auto& [lane, unpaying] : brought_.unpaying) {
    std::ranges::for_each(unpaying, [&](SessionId session) { forget_brought(session); });
  }
}

// By what the lead knows for sure: what it has heard since the tick before the last one it may still have to act on.
OrdersJudge::Division OrdersJudge::new_division(const Assign& assign) const {
  Division division{assign.generation, brought_.known, {}, {}, 0, 0};
  for (const auto& [session, timeline] : brought_.leaving) {
    if (timeline == assign.timeline) {
      division.leaving.insert(session);
    }
  }
  const auto& heard = brought_.heard;
  for (const auto& [session, step] : brought_.acted_on) {
    const auto newest = heard.lately.find(session);
    if (step == heard.open && newest != heard.lately.end() && newest->second == step) {
      division.lately.insert(session);
    }
  }
  return division;
}

// Nobody waits for a session that has never brought anything, as long as somebody has just brought something; and
// never for one that leaves.
void OrdersJudge::check_division(SessionId session, const Assign& assign) {
  auto& division = brought_.division;
  if (assign.generation < division.generation || assign.rounds.standing.slots.empty()) {
    return;
  }
  if (assign.generation > division.generation) {
    division = new_division(assign);
  }
  if (division.leaving.contains(session)) {
    throw Violation("session " + std::to_string(session) + " had said that it leaves, and has a standing range");
  }
  if (!division.known.contains(session)) {
    division.with_untried = session;
  } else if (division.lately.contains(session)) {
    division.with_lately = session;
  }
  if (division.with_untried != 0 && division.with_lately != 0) {
    throw Violation("session " + std::to_string(division.with_untried) +
                    " has brought nothing yet, and has a standing range as session " +
                    std::to_string(division.with_lately) + " has");
  }
}

void OrdersJudge::assigned(SessionId session, const Assign& assign, Timeline durable) {
  check_content(assign, durable);
  check_division(session, assign);
  auto& known = orders_[session];
  if (assign.order < known.order || (assign.generation != 0 && assign.generation < known.generation)) {
    throw Violation("orders to session " + std::to_string(session) + " go backwards");
  }
  known.order = assign.order;
  known.generation = std::max(known.generation, assign.generation);
  check_said_again(session, assign, known);
}

// Without a timeline it is a sign of life, whose number is that of the order before.
void OrdersJudge::check_said_again(SessionId session, const Assign& assign, Order& known) {
  if (assign.timeline == 0) {
    return;
  }
  if (assign.order == known.said.order && !(assign == known.said)) {
    throw Violation("two orders to session " + std::to_string(session) + " have the number " + words(assign.order));
  }
  known.said = assign;
}

}  // namespace ballast::simulation
