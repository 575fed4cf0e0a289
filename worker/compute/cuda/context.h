// What the operations of the cuda backend share: one device, its streams, the libraries' handles and the arenas there.
//
// Three streams. Work is queued on `compute`, in order; `upload` brings weights and examples to the device, `download`
// takes gradients from it, so that both run beside the computing. Events order them: whatever is computed after an
// upload waits for it, and a download waits for what was computed before it.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "common/arena/arena.h"
#include "worker/compute/backend.h"
#include "worker/compute/cuda/memory.h"
#include "worker/compute/held_weights.h"

namespace ballast::cuda {

template <auto kDestroy>
struct Destroy {
  template <typename Handle>
  void operator()(Handle* handle) const {
    kDestroy(handle);
  }
};
template <typename Handle, auto kDestroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<kDestroy>>;

// Factors on the host, to which cuBLAS and cuDNN want pointers.
inline constexpr float kOne = 1.0F;
inline constexpr float kZero = 0.0F;

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using CudnnHandle = Owned<cudnnHandle_t, cudnnDestroy>;
using CublasHandle = Owned<cublasHandle_t, cublasDestroy>;
using TensorDescriptor = Owned<cudnnTensorDescriptor_t, cudnnDestroyTensorDescriptor>;
using FilterDescriptor = Owned<cudnnFilterDescriptor_t, cudnnDestroyFilterDescriptor>;
using ConvolutionDescriptor = Owned<cudnnConvolutionDescriptor_t, cudnnDestroyConvolutionDescriptor>;

Event make_event();

// The device as its operations share it: more than 15 fields, for each stream, handle and buffer is one.
class Context {
 public:
  // Throws BackendUnavailable if the device cannot be had.
  Context(std::uint32_t device, Precision precision);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] cudaStream_t compute() const { return compute_.get(); }
  [[nodiscard]] cudaStream_t upload_stream() const { return upload_.get(); }
  [[nodiscard]] cudaStream_t download() const { return download_.get(); }
  [[nodiscard]] cudnnHandle_t cudnn() const { return cudnn_.get(); }
  [[nodiscard]] cublasHandle_t cublas() const { return cublas_.get(); }

  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] Precision precision() const { return precision_; }

  // The current device belongs to the calling thread, which may be another one than last time.
  void use_device() const;

  // Copies to the device beside what is computed; what is queued on `compute` from now on waits for it. `from` must
  // stay unchanged until then. `to` must not be in use by what was queued since upload_after_compute, which
  // bind_weights, and so every pass, begins with.
  void upload(void* to, const void* from, std::size_t bytes, std::string_view what);
  // Uploads from now on wait for what is queued on `compute` until now.
  void upload_after_compute(std::string_view what);
  // Downloads from now on wait for what is queued on `compute` until now.
  void download_after_compute(std::string_view what);
  // Waits until all that was queued on `compute` is done.
  void finish(std::string_view what) const;

  // The pass that runs.
  void begin(const Pass& pass) { pass_ = &pass; }
  [[nodiscard]] const Pass& pass() const { return *pass_; }

  void reserve_arenas(std::size_t elements);
  void bind_weights(const WeightArena& weights);
  // No gradient is on its way to the host.
  void bind_gradients(std::span<float> gradients);
  [[nodiscard]] std::span<float> host_gradients() const { return host_gradients_; }
  [[nodiscard]] const float* weights_at(const Extent& extent) const { return weights_.data() + extent.offset; }
  [[nodiscard]] float* gradients_at(const Extent& extent) const { return gradients_.data() + extent.offset; }

  // Scratch memory for values rounded to bfloat16 (factor.h), a part for each of those that a layer multiplies. Room is
  // made while operations are prepared.
  enum class Part : std::uint8_t { x, weights, y };
  void reserve_scratch(Part part, std::size_t elements, std::string_view what);
  [[nodiscard]] std::uint16_t* scratch(Part part) const { return scratch_[static_cast<std::size_t>(part)].data(); }

  // Scratch memory of the operation that runs: one for all, as they run one after the other. Room is made while
  // operations are prepared.
  void reserve_workspace(std::size_t bytes, std::string_view what);
  [[nodiscard]] void* workspace() const { return workspace_.data(); }

 private:
  template <typename T>
  void make_room(DeviceBuffer<T>& buffer, std::size_t elements, std::string_view what);

  int device_;
  Precision precision_;
  Stream compute_;
  Stream upload_;
  Stream download_;
  Event uploaded_;
  Event computed_;
  CudnnHandle cudnn_;
  CublasHandle cublas_;
  DeviceBuffer<std::byte> cublas_workspace_;
  DeviceBuffer<std::byte> workspace_;
  std::array<DeviceBuffer<std::uint16_t>, 3> scratch_;
  DeviceBuffer<float> weights_;
  HeldWeights held_weights_;
  DeviceBuffer<float> gradients_;
  std::span<float> host_gradients_;
  const Pass* pass_ = nullptr;
};

}  // namespace ballast::cuda
