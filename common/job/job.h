// A job as every process sees it: the file's values and all that follows from them alone.
#pragma once

#include <string>
#include <vector>

#include "common/arena/arena.h"
#include "common/job/model_parameters.h"
#include "common/job/spec.h"
#include "common/job/steps.h"

namespace ballast {

struct Job {
  JobSpec spec;
  std::string yaml;  // the effective job file
  ExampleShape shape;
  Arena arena;
  SplitSizes sizes;
  StepPlan steps;
  std::string spec_digest;
  std::string layout_digest;
};

Job make_job(JobSpec spec);

}  // namespace ballast
