#include "worker/compute/choose.h"

#include <stdexcept>

namespace ballast {
namespace {

std::unique_ptr<Backend> choose_cpu(const BackendRequest& request, const Say& say) {
  if (request.precision != Precision::float32) {
    say("the job asks for another precision than float32, which the cpu does not have: its bits differ from a GPU's");
  }
  return make_cpu_backend(request.threads);
}

std::unique_ptr<Backend> choose(const BackendRequest& request, const CudaFiles& files, const Say& say) {
  if (request.backend == "cpu") {
    return choose_cpu(request, say);
  }
  if (request.backend == "cuda") {
    return load_cuda_backend(files, request.device, request.precision);
  }
  if (request.backend != "auto") {
    throw std::invalid_argument("backend: '" + request.backend + "' is unknown; choose auto, cpu or cuda");
  }
  try {
    return load_cuda_backend(files, request.device, request.precision);
  } catch (const BackendUnavailable& reason) {
    say(std::string("no GPU is used: ") + reason.what());
    return choose_cpu(request, say);
  }
}

}  // namespace

Precision precision_named(const std::string& name) {
  if (name == "float32") {
    return Precision::float32;
  }
  if (name == "tf32") {
    return Precision::tf32;
  }
  throw std::invalid_argument("training.precision: '" + name + "' is unknown; choose float32 or tf32");
}

std::unique_ptr<Backend> make_backend(const BackendRequest& request, const CudaFiles& files, const Say& say) {
  auto backend = choose(request, files, say);
  say("computes on " + backend->description());
  return backend;
}

}  // namespace ballast
