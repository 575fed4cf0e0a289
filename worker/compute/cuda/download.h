// Values that the host is given of each pass.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "worker/compute/cuda/context.h"
#include "worker/compute/cuda/memory.h"
#include "worker/compute/cuda/status.h"

namespace ballast::cuda {

// Always: they travel beside what is computed later.
template <typename T>
class Download {
 public:
  Download(std::size_t count, std::string_view what)
      : values_(count, what), received_(count, what), arrived_(make_event()) {}

  [[nodiscard]] T* data() const { return values_.data(); }  // on the device

  // Copies what was computed until now.
  void begin(Context& context, std::string_view what) {
    context.download_after_compute(what);
    check(
        cudaMemcpyAsync(received_.data(), values_.data(), values_.bytes(), cudaMemcpyDeviceToHost, context.download()),
        what, "download");
    check(cudaEventRecord(arrived_.get(), context.download()), what, "download");
  }
  [[nodiscard]] std::span<const T> await(std::string_view what) const {
    check(cudaEventSynchronize(arrived_.get()), what, "download");
    return received_.values();
  }

 private:
  DeviceBuffer<T> values_;
  PinnedBuffer<T> received_;
  Event arrived_;
};

// Only for who asks, room on the host included: training does not.
class Predictions {
 public:
  Predictions(std::size_t count, std::string_view what) : values_(count, what) {}

  [[nodiscard]] double* data() const { return values_.data(); }  // on the device
  void change() { fetched_ = false; }
  // Of the last change.
  [[nodiscard]] std::span<const double> fetch(const Context& context, std::string_view what) const {
    if (!fetched_) {
      received_.resize(values_.bytes() / sizeof(double));
      check(
          cudaMemcpyAsync(received_.data(), values_.data(), values_.bytes(), cudaMemcpyDeviceToHost, context.compute()),
          what, "download");
      context.finish(what);
      fetched_ = true;
    }
    return received_;
  }

 private:
  DeviceBuffer<double> values_;
  mutable std::vector<double> received_;
  mutable bool fetched_ = false;
};

}  // namespace ballast::cuda
