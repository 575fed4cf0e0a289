#include "common/job/optimizer_settings.h"

#include <stdexcept>
#include <string>

namespace ballast {
namespace {

OptimizerKind kind_of(const std::string& name) {
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
  throw std::invalid_argument("training.optimizer.name: there is no optimizer '" + name + "'");
}

}  // namespace

OptimizerSettings optimizer_settings(const TrainingSpec& training, Group group) {
  const auto& optimizer = training.optimizer;
  OptimizerSettings settings;
  settings.kind = kind_of(optimizer.name);
  settings.momentum = optimizer.momentum;
  settings.nesterov = optimizer.nesterov;
  settings.beta1 = optimizer.beta1;
  settings.beta2 = optimizer.beta2;
  settings.alpha = optimizer.alpha;
  settings.epsilon = epsilon_of(optimizer);
  settings.initial_accumulator = optimizer.initial_accumulator;
  settings.weight_decay = group == Group::decay ? optimizer.weight_decay : 0;
  if (training.clip.value) {
    settings.clip_value = *training.clip.value;
  }
  return settings;
}

}  // namespace ballast
