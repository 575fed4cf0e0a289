#include "worker/compute/choose.h"

#include <stdexcept>

namespace ballast {
namespace {

std::unique_ptr<Backend> choose(const BackendRequest& request, const CudaFiles& files, const Say& say) {
  if (request.backend == "cpu") {
    return make_cpu_backend(request.threads);
  }
  if (request.backend == "cuda") {
    return load_cuda_backend(files, request.device);
  }
  if (request.backend != "auto") {
    throw std::invalid_argument("backend: '" + request.backend + "' is unknown; choose auto, cpu or cuda");
  }
  try {
    return load_cuda_backend(files, request.device);
  } catch (const BackendUnavailable& reason) {
    say(std::string("no GPU is used: ") + reason.what());
    return make_cpu_backend(request.threads);
  }
}

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendRequest& request, const CudaFiles& files, const Say& say) {
  auto backend = choose(request, files, say);
  say("computes on " + backend->description());
  return backend;
}

}  // namespace ballast
