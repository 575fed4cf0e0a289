#include "worker/compute/cuda/context.h"

#include <dlfcn.h>

#include <string>

#include "worker/compute/cuda/device.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/module.h"

namespace ballast::cuda {
namespace {

// What cuBLAS asks for on recent devices. Memory of its own makes its results the same from run to run.
constexpr std::size_t kCublasWorkspace = std::size_t{32} << 20U;

Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return Stream(stream);
}

// libcudnn.so itself is a small library. It loads its parts when they are first called and ends the whole process where
// one is not found.
void require_parts_of_cudnn() {
  for (const std::string part : {"graph", "ops", "cnn", "heuristic", "engines_precompiled"}) {
    const std::string library = "libcudnn_" + part + ".so." + std::to_string(CUDNN_MAJOR);
    if (::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr) {
      throw BackendUnavailable("cuDNN is not whole: " + library + " cannot be loaded: " + ::dlerror());
    }
  }
}

CudnnHandle make_cudnn(cudaStream_t stream) {
  require_parts_of_cudnn();
  cudnnHandle_t made = nullptr;
  check(cudnnCreate(&made), "starting cuDNN");
  CudnnHandle handle(made);
  check(cudnnSetStream(handle.get(), stream), "starting cuDNN");
  return handle;
}

CublasHandle make_cublas(cudaStream_t stream) {
  cublasHandle_t made = nullptr;
  check(cublasCreate(&made), "starting cuBLAS");
  CublasHandle handle(made);
  check(cublasSetStream(handle.get(), stream), "starting cuBLAS");
  check(cublasSetAtomicsMode(handle.get(), CUBLAS_ATOMICS_NOT_ALLOWED), "starting cuBLAS");
  return handle;
}

// The flag forbids cuBLAS to add partial sums in the type of the result where that is shorter than float32. Here it is
// float32 as well: the flag says that sums of products of bfloat16 stay so.
cublasMath_t cublas_math_of(Precision precision) {
  switch (precision) {
    case Precision::tf32:
      return CUBLAS_TF32_TENSOR_OP_MATH;
    case Precision::bfloat16:
      return static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
    default:
      return CUBLAS_DEFAULT_MATH;
  }
}

}  // namespace

Event make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  return Event(event);
}

Context::Context(std::uint32_t device, Precision precision)
    : device_(open_device(device, precision)),
      precision_(precision),
      compute_(make_stream()),
      upload_(make_stream()),
      download_(make_stream()),
      uploaded_(make_event()),
      computed_(make_event()),
      cudnn_(make_cudnn(compute_.get())),
      cublas_(make_cublas(compute_.get())),
      cublas_workspace_(kCublasWorkspace, "cuBLAS") {
  check(cublasSetMathMode(cublas_.get(), cublas_math_of(precision)), "starting cuBLAS");
  check(cublasSetWorkspace(cublas_.get(), cublas_workspace_.data(), cublas_workspace_.bytes()), "starting cuBLAS");
}

// What is queued may still use the memory and the descriptors that go now.
Context::~Context() {
  cudaSetDevice(device_);
  cudaDeviceSynchronize();
}

void Context::use_device() const { check(cudaSetDevice(device_), "choosing the device"); }

void Context::upload(void* to, const void* from, std::size_t bytes, std::string_view what) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, upload_.get()), what, "upload");
  check(cudaEventRecord(uploaded_.get(), upload_.get()), what, "upload");
  check(cudaStreamWaitEvent(compute_.get(), uploaded_.get()), what, "upload");
}

void Context::upload_after_compute(std::string_view what) {
  check(cudaEventRecord(computed_.get(), compute_.get()), what, "upload");
  check(cudaStreamWaitEvent(upload_.get(), computed_.get()), what, "upload");
}

void Context::download_after_compute(std::string_view what) {
  check(cudaEventRecord(computed_.get(), compute_.get()), what, "download");
  check(cudaStreamWaitEvent(download_.get(), computed_.get()), what, "download");
}

void Context::finish(std::string_view what) const { check(cudaStreamSynchronize(compute_.get()), what); }

void Context::reserve_arenas(std::size_t elements) {
  if (elements > weights_.size()) {
    held_weights_.forget();
  }
  make_room(weights_, elements, "the weights");
  make_room(gradients_, elements, "the gradients");
}

void Context::bind_weights(const WeightArena& weights) {
  upload_after_compute("the weights");
  if (held_weights_.are(weights)) {
    return;
  }
  held_weights_.forget();
  make_room(weights_, weights.values.size(), "the weights");
  upload(weights_.data(), weights.values.data(), weights.values.size_bytes(), "the weights");
  held_weights_.become(weights);
}

void Context::bind_gradients(std::span<float> gradients) {
  make_room(gradients_, gradients.size(), "the gradients");
  host_gradients_ = gradients;
}

void Context::reserve_workspace(std::size_t bytes, std::string_view what) { make_room(workspace_, bytes, what); }

void Context::reserve_scratch(Part part, std::size_t elements, std::string_view what) {
  make_room(scratch_[static_cast<std::size_t>(part)], elements, what);
}

template <typename T>
void Context::make_room(DeviceBuffer<T>& buffer, std::size_t elements, std::string_view what) {
  if (elements > buffer.size()) {
    finish(what);
    buffer = {};  // before the larger one, which may need its room
    buffer = DeviceBuffer<T>(elements, what);
  }
}

}  // namespace ballast::cuda
