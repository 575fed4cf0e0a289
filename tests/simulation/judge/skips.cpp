#include "tests/simulation/judge/skips.h"

#include <algorithm>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

namespace {

bool is_faulty(const LifeSpec& life, Step step) {
  return std::any_of(life.non_finite_gradients.begin(), life.non_finite_gradients.end(),
                     [&](const LifeFault& fault) { return fault.step == step; });
}

}  // namespace

Slot first_fault(const LifeSpec& life, Step step, ChunkId chunk) {
  Slot first = kNoSlot;
  for (const auto& fault : life.non_finite_gradients) {
    if (fault.step == step && fault.chunk == chunk) {
      first = std::min(first, fault.slot);
    }
  }
  return first;
}

void check_skipped(const LifeSpec& life, NonFinite policy, const Ledger& ledger) {
  for (std::size_t i = 0; i < ledger.skipped.size(); ++i) {
    const auto range = ledger.skipped[i];
    require(range.from < range.until && range.until <= life.steps, "an empty range of steps is skipped");
    require(i == 0 || ledger.skipped[i - 1].until < range.from, "skipped ranges touch or are out of order");
    for (Step step = range.from; step < range.until; ++step) {
      // With rollback steps before the fault are left out as well.
      const bool may_be = is_faulty(life, step) || policy == NonFinite::rollback;
      require(may_be && is_faulty(life, range.until - 1), "a step is skipped though its gradient is finite");
    }
  }
}

}  // namespace ballast::simulation
