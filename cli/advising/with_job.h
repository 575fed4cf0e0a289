// What commands about a job that does not run have in common.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "cli/telling/exit_codes.h"
#include "common/command/usage_error.h"
#include "common/job/config_error.h"
#include "common/job/job.h"
#include "common/job/load.h"
#include "worker/compute/module.h"

namespace ballast {

// The exit code: that of `work`, which is given the job; or that of a job file that is wrong, which is said.
template <typename Work>
int with_job(const std::string& file, const std::vector<std::string>& overrides, Work&& work) {
  try {
    return work(make_job(load_job(file, overrides)));
  } catch (const ConfigError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kExitBadJob;
  } catch (const BackendUnavailable& error) {
    throw UsageError(error.what());
  }
}

}  // namespace ballast
