// Predicates of gradients that are not finite: who is to blame for one, and which steps may be left out for it.
#pragma once

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Of the chunk in this step; kNoSlot: none.
[[nodiscard]] Slot first_fault(const LifeSpec& life, Step step, ChunkId chunk);
// `policy`: of the newest start of the job. Throws Violation.
void check_skipped(const LifeSpec& life, NonFinite policy, const Ledger& ledger);

}  // namespace ballast::simulation
