#include "common/job/optimizer_settings.h"

#include <stdexcept>
#include <string>

#include "common/job/clip_norms.h"

namespace ballast {
namespace {

OptimizerKind optimizer_kind(const std::string& name) {
  if (name == "sgd") {
    return OptimizerKind::sgd;
  }
  if (name == "adam") {
    return OptimizerKind::adam;
  }
  if (name == "adamw") {
    return OptimizerKind::adamw;
  }
  if (name == "adagrad") {
    return OptimizerKind::adagrad;
  }
  if (name == "rmsprop") {
    return OptimizerKind::rmsprop;
  }
  if (name == "lars") {
    return OptimizerKind::lars;
  }
  if (name == "lamb") {
    return OptimizerKind::lamb;
  }
  throw std::invalid_argument("there is no optimizer '" + name + "'");
}

OptimizerSettings settings_of(const OptimizerSpec& optimizer, const ClipSpec& clip, Group group) {
  OptimizerSettings settings;
  settings.kind = optimizer_kind(optimizer.name);
  settings.momentum = optimizer.momentum;
  settings.nesterov = optimizer.nesterov;
  settings.beta1 = optimizer.beta1;
  settings.beta2 = optimizer.beta2;
  settings.alpha = optimizer.alpha;
  settings.epsilon = epsilon_of(optimizer);
  settings.initial_accumulator = optimizer.initial_accumulator;
  settings.trust_coefficient = optimizer.trust_coefficient;
  settings.weight_decay = group == Group::decay ? optimizer.weight_decay : 0;
  if (clip.value) {
    settings.clip_value = *clip.value;
  }
  return settings;
}

}  // namespace

OptimizerSettings optimizer_settings(const TrainingSpec& training, Group group) {
  return settings_of(training.optimizer, clip_of_updates(training), group);
}

std::size_t tensors_beside_weights(const TrainingSpec& training, Group group) {
  return state_tensors(optimizer_settings(training, group)).size() + (averages_weights(training) ? 1 : 0);
}

OptimizerSettings local_optimizer_settings(const TrainingSpec& training, Group group) {
  return settings_of(training.local.optimizer, training.clip, group);
}

}  // namespace ballast
