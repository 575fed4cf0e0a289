// `ballast analyze`: which worker, phase, link or shard is slower than its peers, what that costs, for how long it has,
// and what to change.
#pragma once

#include <string>

#include "protocol/ids.h"

namespace ballast {

struct AnalyzeOptions {
  std::string where;  // a run's folder, the lead's address, or a file of `ballast trace --raw`
  std::string keys;
  Step steps = 20;   // of a window
  Step windows = 3;  // that are looked at, at most
  bool all = false;  // what is as fast as its peers as well
  bool follow = false;
  bool json = false;
};

// The exit code.
int analyze(const AnalyzeOptions& options);

}  // namespace ballast
