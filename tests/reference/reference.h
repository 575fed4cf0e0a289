// The sequential twin of the cluster: one process, one loop, nothing of the protocol. What a distributed run computes
// must equal this to the last bit.
#pragma once

#include <string>
#include <vector>

#include "common/job/job.h"

namespace ballast::reference {

struct Result {
  std::string weights_sha256;
  std::string optimizer_sha256;  // empty: the job has no momentum
  double train_loss = 0;         // mean over the examples of the last epoch, whole or not
  double test_accuracy = 0;
  bool evaluated = false;  // the data has a test split
};

// Trains the job from beginning to end.
Result train(const Job& job);

}  // namespace ballast::reference
