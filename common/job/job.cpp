#include "common/job/job.h"

#include <utility>

#include "common/job/load.h"

namespace ballast {

Job make_job(JobSpec spec) {
  Job job;
  job.yaml = to_yaml(spec);
  job.shape = example_shape(spec.data);
  job.arena = lay_out(declare_parameters(spec.model, job.shape));
  job.sizes = split_sizes(spec.data);
  job.steps = plan_steps(spec.training, job.sizes.train);
  job.spec_digest = spec_digest(spec);
  job.layout_digest = layout_digest(job.arena);
  job.spec = std::move(spec);
  return job;
}

}  // namespace ballast
