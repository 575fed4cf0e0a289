#include "common/job/trust_checks.h"

#include <optional>

namespace ballast {

namespace {

using Mistake =
    std::function<void(const std::string& key, const std::vector<std::string>& with, const std::string& text)>;

// The optimizer whose gradients training.clip limits, and whose parameters training.parameter_groups are about.
struct Limited {
  const OptimizerSpec& optimizer;
  std::string name;  // the key of its name
};

Limited limited_optimizer(const TrainingSpec& training) {
  if (training.mode == Mode::local) {
    return {training.local.optimizer, "training.local.optimizer.name"};
  }
  return {training.optimizer, "training.optimizer.name"};
}

void check_whole_steps(const TrainingSpec& training, const Mistake& mistake) {
  if (!is_item_mode(training.mode) || !has_trust_ratios(training.optimizer)) {
    return;
  }
  mistake("training.optimizer.name", {"training.mode"},
          "'" + training.optimizer.name + "' with training.mode: " + name_of(training.mode) +
              " is impossible: its trust ratios need all of an update before any of it is applied; use training.mode: "
              "sync, or " +
              (training.optimizer.name == "lars" ? "sgd" : "adamw"));
}

// The update whose norm is taken would be that of the clipped gradient, so a step would wait for the lead twice.
void check_no_clip_by_norm(const TrainingSpec& training, const Mistake& mistake) {
  const auto clipped = limited_optimizer(training);
  if (!has_trust_ratios(clipped.optimizer)) {
    return;
  }
  const auto refuse = [&](const std::string& key, const std::optional<double>& limit) {
    if (limit) {
      mistake(key, {clipped.name},
              "clipping by norm with " + clipped.name + ": " + clipped.optimizer.name +
                  " is not possible: its trust ratios bound each tensor's step already, and would need the clipped "
                  "gradient's norms; use training.clip.value, or remove it");
    }
  };
  refuse("training.clip.tensor_norm", training.clip.tensor_norm);
  refuse("training.clip.global_norm", training.clip.global_norm);
}

void check_groups_of_trust(const TrainingSpec& training, const Mistake& mistake) {
  const auto [optimizer, name] = limited_optimizer(training);
  if (has_trust_ratios(optimizer)) {
    return;
  }
  for (const auto& group : training.parameter_groups) {
    if (group.trust_ratio) {
      mistake("training.parameter_groups", {name},
              "trust_ratio of group '" + group.match + "' means nothing here; it is allowed only with " + name +
                  ": lars, lamb; remove it");
    }
  }
}

}  // namespace

void check_trust_ratios(const JobSpec& spec, const Mistake& mistake) {
  check_whole_steps(spec.training, mistake);
  check_no_clip_by_norm(spec.training, mistake);
  check_groups_of_trust(spec.training, mistake);
}

}  // namespace ballast
