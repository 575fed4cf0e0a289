#include "protocol/worker/ordered_evaluation.h"

namespace ballast {

namespace {

bool is_of(const EvaluationResult& result, const std::optional<Evaluation>& evaluation) {
  return evaluation && evaluation->split == result.split && evaluation->item == result.item &&
         evaluation->version == result.version;
}

}  // namespace

void OrderedEvaluation::take(const std::optional<Evaluation>& evaluation) {
  is_done_ = is_done_ && evaluation == ordered_;
  ordered_ = evaluation;
  if (result_ && !is_of(*result_, evaluation)) {
    result_.reset();
  }
}

void OrderedEvaluation::done(const EvaluationResult& result) {
  is_done_ = is_done_ || is_of(result, ordered_);
  result_ = result;
}

void OrderedEvaluation::again() {
  is_done_ = false;
  result_.reset();
}

void OrderedEvaluation::gone(Version version) {
  if (ordered_ && ordered_->version <= version) {
    ordered_.reset();
  }
}

}  // namespace ballast
