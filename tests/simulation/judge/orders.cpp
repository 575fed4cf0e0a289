#include "tests/simulation/judge/orders.h"

#include <algorithm>
#include <string>

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

void OrdersJudge::assigned(SessionId session, const Assign& assign, Timeline durable) {
  check_content(assign, durable);
  auto& known = orders_[session];
  if (assign.order < known.order || (assign.generation != 0 && assign.generation < known.generation)) {
    throw Violation("orders to session " + std::to_string(session) + " go backwards");
  }
  if (assign.order == known.order && assign.order != kNoLeadNumber && assign.generation != 0 && known.generation != 0 &&
      !(assign == known.last)) {
    throw Violation("two orders to session " + std::to_string(session) + " have the number " + words(assign.order));
  }
  known.order = assign.order;
  known.generation = std::max(known.generation, assign.generation);
  known.last = assign;
}

}  // namespace ballast::simulation
