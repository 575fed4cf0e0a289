#include "tests/simulation/judge/slots_of_worker.h"

#include <string>

#include "tests/simulation/judge/violation.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

void OrderedSlots::heard(const Assign& assign) {
  auto& orders = orders_[assign.timeline];
  orders.standing.push_back(assign.rounds.standing);
  if (assign.rounds.now) {
    auto& slots = orders.now.try_emplace(assign.rounds.now->step, slots_).first->second;
    for (const auto range : assign.rounds.now->ranges) {
      slots.insert(range);
    }
  }
}

void OrderedSlots::computes(Timeline timeline, Step step, const std::vector<SlotRange>& ranges) const {
  SlotSet others(slots_);
  for (const auto range : ranges) {
    others.insert(range);
  }
  if (const auto known = orders_.find(timeline); known != orders_.end()) {
    for (const auto& standing : known->second.standing) {
      if (standing.from <= step && step < standing.until) {
        others.erase(standing.slots);
      }
    }
    if (const auto now = known->second.now.find(step); now != known->second.now.end()) {
      others.erase(now->second);
    }
  }
  if (!others.empty()) {
    throw Violation("slots " + words(others.runs()) + " of step " + std::to_string(step) +
                    " are computed by a worker that has not been ordered to");
  }
}

void BegunSlots::leaves(ChunkId chunk, Node node) {
  auto& left = left_.at(chunk);
  require(!left.contains_some_of(node), "a slot leaves in two sums of a computation");
  left.insert(node);
}

void BegunSlots::end() const {
  for (ChunkId chunk = 0; chunk < left_.size(); ++chunk) {
    auto kept = begun_;
    kept.erase(left_[chunk]);
    if (!kept.empty()) {
      throw Violation("a computation has begun slots " + words(kept.runs()) + ", and is over without chunk " +
                      std::to_string(chunk) + " of them");
    }
  }
}

}  // namespace ballast::simulation
