// `ballast render`: a job file as what starts it elsewhere.
#pragma once

#include "cli/rendering/render_options.h"

namespace ballast {

// Prints the objects, or writes them into options.output. Returns the exit code. Throws UsageError and
// std::runtime_error.
int render_kubernetes(const RenderOptions& options);

// Writes compose.yaml and job.yaml into the folder options.output, which is made if need be.
int render_compose(const RenderOptions& options);

}  // namespace ballast
