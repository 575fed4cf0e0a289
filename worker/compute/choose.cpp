#include "worker/compute/choose.h"

#include <stdexcept>

namespace ballast {
namespace {

std::unique_ptr<Backend> choose_cpu(const BackendRequest& request, const Say& say) {
  if (request.precision != Precision::float32) {
    say(std::string("the job asks for precision ") + name_of(request.precision) +
        ", which the cpu does not have: it computes in float32, and its bits differ from a GPU's");
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
  for (const Precision precision : kPrecisions) {
    if (name == name_of(precision)) {
      return precision;
    }
  }
  throw std::invalid_argument("training.precision: '" + name + "' is unknown; choose float32, tf32 or bfloat16");
}

std::unique_ptr<Backend> make_backend(const BackendRequest& request, const CudaFiles& files, const Say& say) {
  auto backend = choose(request, files, say);
  say("computes on " + backend->description());
  return backend;
}

}  // namespace ballast
