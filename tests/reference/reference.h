// The sequential twin of the cluster: one process, one loop, nothing of the protocol. What a distributed run computes
// must equal this to the last bit.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/job/job.h"

namespace ballast::reference {

struct Result {
  std::string weights_sha256;
  std::string optimizer_sha256;  // over all its state; empty: the optimizer keeps none
  std::string evaluated_sha256;  // of the weights that are evaluated: with a moving average of them, that
  double train_loss = 0;         // mean over the examples of the last whole epoch, or of the steps so far in the first
  double test_accuracy = 0;
  bool evaluated = false;  // the data has a test split
};

// Trains the job from beginning to end, but for the updates of the steps in `skipped`.
Result train(const Job& job, const std::set<std::uint64_t>& skipped);

}  // namespace ballast::reference
