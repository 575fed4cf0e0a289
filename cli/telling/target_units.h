// The units of numbers to be predicted, whose errors evaluations tell as the network sees them.
#pragma once

#include <string>
#include <vector>

#include "common/job/spec.h"
#include "protocol/messages.h"
#include "protocol/metrics.h"

namespace ballast {

// A target: what the network predicts is (value - mean) / deviation.
struct TargetUnit {
  std::string name;
  double mean = 0;
  double deviation = 1;
  [[nodiscard]] bool is_normalised() const { return mean != 0 || deviation != 1; }
};

// Of a table's target columns, in their order; of other data, whose targets are as they are, none.
std::vector<TargetUnit> target_units(const DataSpec& data);

// What follows the metrics of an evaluation, for people: nothing where there is no squared_error; where `data` is known
// and has one target, the root mean squared error in its units; else which units the errors are in. `data` may be null.
std::string units_text(const std::vector<Metric>& metrics, const DataSpec* data);

// "test loss 0.0625, squared_error 0.0625 (errors are in normalised units; ...), at step 400" and a line's end; empty
// if the split was not evaluated.
std::string split_line(const char* name, const SplitStatus& split, const std::vector<Metric>& metrics,
                       const DataSpec* data);

}  // namespace ballast
