#include "common/job/descents.h"

#include <algorithm>

#include "common/job/optimizer_settings.h"
#include "common/job/parameter_groups.h"

namespace ballast {

namespace {

template <typename SettingsOf>
Descents descents_by(const std::vector<ParameterGroup>& groups, const std::vector<Parameter>& parameters,
                     const SettingsOf& settings_of) {
  Descents descents;
  for (const auto& parameter : parameters) {
    Descent descent{settings_of(parameter.group), 1};
    if (const auto* group = group_of(groups, parameter)) {
      descent.rate = static_cast<float>(group->learning_rate);
      descent.optimizer.weight_decay = group->weight_decay.value_or(descent.optimizer.weight_decay);
      descent.optimizer.trust_ratio = group->trust_ratio.value_or(true);
    }
    const auto known = std::ranges::find(descents.kinds, descent);
    descents.of_parameter.push_back(static_cast<std::uint32_t>(known - descents.kinds.begin()));
    if (known == descents.kinds.end()) {
      descents.kinds.push_back(descent);
    }
  }
  return descents;
}

}  // namespace

Descents descents(const TrainingSpec& training, const std::vector<Parameter>& parameters) {
  const std::vector<ParameterGroup> none;
  return descents_by(training.mode == Mode::local ? none : training.parameter_groups, parameters,
                     [&](Group group) { return optimizer_settings(training, group); });
}

Descents local_descents(const TrainingSpec& training, const std::vector<Parameter>& parameters) {
  return descents_by(training.parameter_groups, parameters,
                     [&](Group group) { return local_optimizer_settings(training, group); });
}

}  // namespace ballast
