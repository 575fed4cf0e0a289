// Memory of the device, and memory of the host that the device can copy at full speed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace ballast::cuda {

// What is queued may still use what goes: a network that nobody waited for, say. CUDA promises no wait of its own.
template <auto kRelease>
struct ReleaseWhenIdle {
  void operator()(void* memory) const {
    cudaDeviceSynchronize();
    kRelease(memory);
  }
};
using FreeDevice = ReleaseWhenIdle<cudaFree>;
using FreePinned = ReleaseWhenIdle<cudaFreeHost>;
using Unpin = ReleaseWhenIdle<cudaHostUnregister>;

// Throws DeviceMemoryExhausted with what is needed and what is free.
void* allocate_device(std::size_t bytes, std::string_view what);
void* allocate_pinned(std::size_t bytes, std::string_view what);

// So many values on the device, not initialised.
template <typename T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(std::size_t count, std::string_view what)
      : count_(count), values_(static_cast<T*>(allocate_device(count * sizeof(T), what))) {}

  [[nodiscard]] T* data() const { return values_.get(); }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  std::size_t count_ = 0;
  std::unique_ptr<T, FreeDevice> values_;
};

// The same in the host's memory, pinned.
template <typename T>
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(std::size_t count, std::string_view what)
      : count_(count), values_(static_cast<T*>(allocate_pinned(count * sizeof(T), what))) {}

  [[nodiscard]] T* data() const { return values_.get(); }
  [[nodiscard]] std::span<T> values() const { return {values_.get(), count_}; }

 private:
  std::size_t count_ = 0;
  std::unique_ptr<T, FreePinned> values_;
};

// Memory of somebody else, pinned as long as this lives.
using Pin = std::unique_ptr<void, Unpin>;

}  // namespace ballast::cuda
