// What a job's evaluations tell, and which of it is what the best model is best in.
#pragma once

#include "common/job/spec.h"
#include "common/network/shape.h"
#include "protocol/metrics.h"

namespace ballast {

// By what the labels are and what the network ends with. Nothing but loss and accuracy of a model that computes
// nothing. Throws as model_graph does.
MetricRules metric_rules(const ModelSpec& model, const ExampleShape& example);

// training.best_by; without it, accuracy where there are right answers, otherwise the loss.
MetricKind best_by(const TrainingSpec& training, const MetricRules& rules);

}  // namespace ballast
