// An arena in host memory, in whole pages of its own: a device that copies it can have them pinned.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace ballast {

class HostArena {
 public:
  // Zero at first: the system's zero pages, so that making it takes no time and untouched parts take no memory.
  // std::bad_alloc if the system has no such range.
  explicit HostArena(std::size_t elements) : elements_(elements) {
    if (elements == 0) {
      return;
    }
    auto* const pages =
        ::mmap(nullptr, elements * sizeof(float), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {  // NOLINT: the system's macro casts
      throw std::bad_alloc();
    }
    values_ = static_cast<float*>(pages);
  }
  HostArena(HostArena&& other) noexcept
      : elements_(std::exchange(other.elements_, 0)), values_(std::exchange(other.values_, nullptr)) {}
  HostArena& operator=(HostArena&&) = delete;
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;
  ~HostArena() {
    if (values_ != nullptr) {
      ::munmap(values_, elements_ * sizeof(float));
    }
  }

  [[nodiscard]] std::span<float> values() const { return {values_, elements_}; }

 private:
  std::size_t elements_;
  float* values_ = nullptr;
};

}  // namespace ballast
