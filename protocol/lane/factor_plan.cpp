#include "protocol/lane/factor_plan.h"

namespace ballast {

void FactorPlan::begin(Version first) {
  first_ = first;
  factors_.clear();
}

void FactorPlan::extend(Version first, const std::vector<StepFactors>& factors, Version oldest) {
  const Version known = end();
  if (first + factors.size() <= known || (first > known && first > oldest)) {
    return;
  }
  if (first > known) {
    begin(first);
  }
  // Factors that are known stay as they are: some chunks may have been updated with them already.
  for (Version version = end(); version < first + factors.size(); ++version) {
    factors_.push_back(factors[version - first]);
  }
}

void FactorPlan::passed(Version version) {
  while (!factors_.empty() && first_ < version) {
    factors_.pop_front();
    ++first_;
  }
}

const StepFactors* FactorPlan::find(Version version) const {
  return version >= first_ && version < end() ? &factors_[version - first_] : nullptr;
}

}  // namespace ballast
