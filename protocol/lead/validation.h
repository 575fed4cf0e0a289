// What follows from the evaluations of the validation split. Pure functions of all evaluations so far.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/ledger.h"

namespace ballast {

// Null if there is none.
const EvaluationRecord* find_evaluation(const std::vector<EvaluationRecord>& evaluations, Split split, Step step);
const EvaluationRecord* newest_evaluation(const std::vector<EvaluationRecord>& evaluations, Split split);
// The highest validation accuracy; the earlier one of equals.
const EvaluationRecord* best_validation(const std::vector<EvaluationRecord>& evaluations);

// Whether the last `patience` validations in a row did not exceed the best before them by more than `min_delta` of
// accuracy. Never with a patience of 0.
bool is_out_of_patience(const std::vector<EvaluationRecord>& evaluations, std::uint32_t patience, double min_delta);

}  // namespace ballast
