// What evaluations told, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages.h"
#include "protocol/metrics.h"

namespace ballast {

// "accuracy 98.88 %, loss 0.0375, top5 99.97 %, f1 0.9887"; without the accuracy where it is not told.
std::string quality_text(double loss, double accuracy, const std::vector<Metric>& metrics);

// "accuracy 98.88 %", or "loss 0.0375" where no accuracy is told; with the perplexity where there is one.
std::string headline(const SplitStatus& split, const std::vector<Metric>& metrics);

// "top5 99.97 %, f1 0.9887"; empty without metrics.
std::string metrics_text(const std::vector<Metric>& metrics);

// Of the best validation: "best by f1: 0.9887, at step 400 (validation accuracy 98.88 %, loss 0.0375, f1 0.9887)".
// `by`: what it is the best in (common/job/evaluation_metrics.h); where that is not known, "best validation accuracy
// 98.88 %, loss 0.0375, f1 0.9887, at step 400".
std::string best_text(const SplitStatus& best, const std::vector<Metric>& metrics, std::optional<MetricKind> by);

// A split's step, loss, accuracy and metrics; null if it was not evaluated.
nlohmann::ordered_json split_json(const SplitStatus& split, const std::vector<Metric>& metrics);

// By name; what is not finite is null.
nlohmann::ordered_json metrics_json(const std::vector<Metric>& metrics);

}  // namespace ballast
