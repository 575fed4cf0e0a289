// The CUDA runtime, as far as the backend calls it.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/device_model/memory.h"
#include "tests/device_model/misuse.h"
#include "tests/device_model/streams.h"

namespace ballast::device_model {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

cudaError_t fail(cudaError_t status) {
  last_error = status;
  return status;
}

bool is_device(int device) { return device >= 0 && device < kDevices; }

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;

  void operator()() const { std::memcpy(to, from, bytes); }
  [[nodiscard]] Range target() const { return {to, bytes}; }
  [[nodiscard]] Range source() const { return {from, bytes}; }
};

// From memory that the device cannot read by itself, the bytes are taken at once.
void copy_to_device(const char* function, const Copy& copy, cudaStream_t stream) {
  require_on_device(function, "the destination", copy.target(), device_of(function, stream));
  if (is_pinned(copy.source())) {
    queue(stream, {function, {copy.target(), copy.source()}, copy, nullptr});
    return;
  }
  const auto* const bytes = static_cast<const std::byte*>(copy.from);
  const auto staged = std::make_shared<std::vector<std::byte>>(bytes, bytes + copy.bytes);
  queue(stream, {function, {copy.target()}, [=] { Copy{copy.to, staged->data(), copy.bytes}(); }, nullptr});
}

// To memory that the device cannot write by itself, the call waits.
void copy_from_device(const char* function, const Copy& copy, cudaStream_t stream) {
  require_on_device(function, "the source", copy.source(), device_of(function, stream));
  queue(stream, {function, {copy.target(), copy.source()}, copy, nullptr});
  if (!is_pinned(copy.target())) {
    finish(function, stream);
  }
}

}  // namespace
}  // namespace ballast::device_model

using namespace ballast::device_model;

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
const char* cudaGetErrorString(cudaError_t /*status*/) { return "an error of the device model"; }
const char* cudaGetErrorName(cudaError_t status) {
  return status == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "another error";
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = kDevices;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!is_device(device)) {
    return fail(cudaErrorInvalidDevice);
  }
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "device model");
  properties->major = 9;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  std::snprintf(text, static_cast<std::size_t>(bytes), "0000:%02x:00.0", static_cast<unsigned>(device));
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) {
    return fail(cudaErrorInvalidDevice);
  }
  set_current_device(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  const Call call;
  finish_device(current_device());
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const Call call;
  *free = free_memory(current_device());
  *total = kDeviceMemory;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  const Call call;
  *memory = nullptr;
  if (bytes == 0) {
    return cudaSuccess;
  }
  *memory = allocate_device(current_device(), bytes);
  return *memory == nullptr ? fail(cudaErrorMemoryAllocation) : cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  const Call call;
  if (memory != nullptr) {
    free_device("cudaFree", memory);
  }
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  const Call call;
  *memory = bytes == 0 ? nullptr : allocate_pinned(bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  const Call call;
  if (memory != nullptr) {
    free_pinned("cudaFreeHost", memory);
  }
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned /*flags*/) {
  const Call call;
  return pin(memory, bytes) ? cudaSuccess : fail(cudaErrorHostMemoryAlreadyRegistered);
}

cudaError_t cudaHostUnregister(void* memory) {
  const Call call;
  unpin("cudaHostUnregister", memory);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  const Call call;
  *stream = make_stream(current_device());
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Call call;
  destroy_stream("cudaStreamDestroy", stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Call call;
  finish("cudaStreamSynchronize", stream);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  const Call call;
  wait_for_event("cudaStreamWaitEvent", stream, event);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  const Call call;
  *event = make_event(current_device());
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Call call;
  destroy_event("cudaEventDestroy", event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const Call call;
  record("cudaEventRecord", event, stream);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Call call;
  finish("cudaEventSynchronize", event);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const Call call;
  if (bytes == 0) {
    return cudaSuccess;
  }
  if (kind == cudaMemcpyHostToDevice) {
    copy_to_device("cudaMemcpyAsync to the device", {to, from, bytes}, stream);
  } else if (kind == cudaMemcpyDeviceToHost) {
    copy_from_device("cudaMemcpyAsync to the host", {to, from, bytes}, stream);
  } else {
    misuse("cudaMemcpyAsync", "the model knows no copy of kind " + std::to_string(static_cast<int>(kind)));
  }
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  constexpr const char* kFunction = "cudaMemsetAsync";
  const Call call;
  require_on_device(kFunction, "the memory", {memory, bytes}, device_of(kFunction, stream));
  queue(stream, {kFunction, {{memory, bytes}}, [=] { std::memset(memory, value, bytes); }, nullptr});
  return cudaSuccess;
}
