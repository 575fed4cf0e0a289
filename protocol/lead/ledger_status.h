// What of a job's status durable records tell, for a lead and for who reads its databases without one.
#pragma once

#include <vector>

#include "protocol/ledger.h"
#include "protocol/messages.h"

namespace ballast {

// Rollbacks, skipped steps, snapshots missed, shards that came back.
void tell_ledger(const Ledger& ledger, Status& status);

// The newest evaluation of each split, and the best validation by `best_by`.
void tell_evaluations(const std::vector<EvaluationRecord>& evaluations, MetricKind best_by, Status& status);

}  // namespace ballast
