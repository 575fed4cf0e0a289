#include "worker/data/arrays/array_faults.h"

#include <cmath>

#include "common/job/words.h"

namespace ballast {

std::string feature_fault(std::span<const double> features, double scale) {
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (!std::isfinite(static_cast<float>(features[i] * scale))) {
      return "feature " + std::to_string(i) + " is infinite or not a number (" + number_text(features[i]) + ")";
    }
  }
  return {};
}

std::string label_fault(std::span<const double> labels, const std::string& target, std::uint32_t outputs) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = labels[i];
    if (target == "class" && !(label >= 0 && label < outputs && label == std::floor(label))) {
      return "its label " + number_text(label) + " is no whole number below data.outputs (" + std::to_string(outputs) +
             ")";
    }
    if (target == "several" && label != 0 && label != 1) {
      return "label " + std::to_string(i) + " (" + number_text(label) + ") is neither 0 nor 1";
    }
    if (!std::isfinite(static_cast<float>(label))) {
      return "label " + std::to_string(i) + " is infinite or not a number (" + number_text(label) + ")";
    }
  }
  return {};
}

}  // namespace ballast
