#include "protocol/lead/ledger_status.h"

#include "protocol/lead/validation.h"

namespace ballast {

namespace {

void tell_split(const EvaluationRecord* evaluation, SplitStatus& split, std::vector<Metric>& metrics) {
  if (evaluation != nullptr) {
    split = {true, evaluation->step, evaluation->loss, evaluation->accuracy};
    metrics = evaluation->metrics;
  }
}

}  // namespace

void tell_ledger(const Ledger& ledger, Status& status) {
  status.rollbacks = ledger.rollbacks.total();
  status.rollback_causes = ledger.rollbacks;
  status.rolled_back_steps = ledger.rolled_back_steps;
  for (const auto& range : ledger.skipped) {
    status.skipped_steps += range.until - range.from;
  }
  status.snapshots_missed = ledger.snapshots_missed;
  status.resumed_shards = ledger.resumed_shards;
}

void tell_evaluations(const std::vector<EvaluationRecord>& evaluations, MetricKind best_by, Status& status) {
  tell_split(newest_evaluation(evaluations, Split::validation), status.validation, status.validation_metrics);
  tell_split(newest_evaluation(evaluations, Split::test), status.test, status.test_metrics);
  tell_split(best_validation(evaluations, best_by), status.best, status.best_metrics);
}

}  // namespace ballast
