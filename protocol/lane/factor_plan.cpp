#include "protocol/lane/factor_plan.h"

namespace ballast {

void FactorPlan::begin(Version first) {
  start_at(first);
  until_ = std::numeric_limits<Version>::max();
  number_ = {};
}

void FactorPlan::start_at(Version first) {
  first_ = first;
  factors_.clear();
  prospect_.reset();
}

void FactorPlan::follow(LeadNumber number, Version until) {
  number_ = number;
  until_ = until;
}

void FactorPlan::extend(Version first, const std::vector<StepFactors>& factors, Version oldest) {
  const Version known = this->known();
  if (first + factors.size() <= known || (first > known && first > oldest)) {
    return;
  }
  if (first > known) {
    start_at(first);
  }
  // Factors that are known stay as they are: some chunks may have been updated with them already.
  for (Version version = this->known(); version < first + factors.size(); ++version) {
    factors_.push_back(factors[version - first]);
  }
  prospect_.reset();
}

void FactorPlan::foresee(Version version, const std::optional<Prospect>& prospect) {
  if (prospect && version == known()) {
    prospect_ = prospect;
  }
}

std::optional<Prospect> FactorPlan::prospect(Version version) const {
  if (version >= first_ && version < known()) {
    return prospect_of(factors_[version - first_]);
  }
  return version == known() ? prospect_ : std::nullopt;
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
