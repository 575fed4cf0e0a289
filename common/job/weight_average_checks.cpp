#include "common/job/weight_average_checks.h"

namespace ballast {

void check_weight_average(const JobSpec& spec,
                          const std::function<void(const std::string& key, const std::vector<std::string>& with,
                                                   const std::string& text)>& mistake) {
  const auto& training = spec.training;
  const auto& average = training.weight_average;
  const std::string decay = "training.weight_average.decay";
  const std::string begins = "training.weight_average.begins_at_step";
  if (average.decay && is_item_mode(training.mode)) {
    mistake(decay, {"training.mode"},
            std::string("a moving average of the weights with training.mode: ") + name_of(training.mode) +
                " is impossible: chunks have their updates at different times, so that there is no step whose weights "
                "would be averaged; use training.mode: sync or local, or remove it");
  }
  if (!average.begins_at_step) {
    return;
  }
  if (!average.decay) {
    mistake(begins, {decay}, "means nothing without an average; set training.weight_average.decay, or remove it");
  } else if (training.max_steps && *average.begins_at_step >= *training.max_steps) {
    mistake(begins, {"training.max_steps"},
            std::to_string(*average.begins_at_step) + " is no less than training.max_steps (" +
                std::to_string(*training.max_steps) +
                "), so nothing would ever be averaged; lower it or raise training.max_steps");
  }
}

}  // namespace ballast
