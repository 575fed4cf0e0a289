// An arena in host memory, in whole pages of its own: a device that copies it can have them pinned.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace ballast {

class HostArena {
 public:
  // Zero at first.
  explicit HostArena(std::size_t elements) : elements_(elements) {
    const std::size_t bytes = (elements * sizeof(float) + kPage - 1) / kPage * kPage;
    values_.reset(static_cast<float*>(std::aligned_alloc(kPage, bytes)));
    if (!values_) {
      throw std::bad_alloc();
    }
    std::memset(values_.get(), 0, bytes);
  }

  [[nodiscard]] std::span<float> values() const { return {values_.get(), elements_}; }

 private:
  static constexpr std::size_t kPage = 4096;

  struct Free {
    void operator()(float* values) const { std::free(values); }
  };
  std::size_t elements_;
  std::unique_ptr<float, Free> values_;
};

}  // namespace ballast
