// What follows from the evaluations of the validation split. Pure functions of all evaluations so far.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/ledger.h"

namespace ballast {

// Null if there is none.
const EvaluationRecord* find_evaluation(const std::vector<EvaluationRecord>& evaluations, Split split, Step step);
const EvaluationRecord* newest_evaluation(const std::vector<EvaluationRecord>& evaluations, Split split);
// What an evaluation came to; none if it does not tell that.
std::optional<double> value_of(const EvaluationRecord& evaluation, MetricKind kind);
// The best validation by that metric, the earlier one of equals. One that does not tell it, or says that it is no
// number, is never the best.
const EvaluationRecord* best_validation(const std::vector<EvaluationRecord>& evaluations, MetricKind by);

// Whether the last `patience` validations in a row were not better than the best before them by more than `min_delta`.
// Never with a patience of 0.
bool is_out_of_patience(const std::vector<EvaluationRecord>& evaluations, MetricKind by, std::uint32_t patience,
                        double min_delta);

}  // namespace ballast
