// Values that come from the host with each pass: memory of the device, and a place in pinned memory to copy from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "worker/compute/cuda/context.h"
#include "worker/compute/cuda/memory.h"
#include "worker/compute/cuda/status.h"

namespace ballast::cuda {

template <typename T>
class Upload {
 public:
  Upload(std::size_t count, std::string_view what) : values_(count, what), staged_(count, what), read_(make_event()) {}

  // Where the host writes the next values; waits until the device has read the last ones.
  [[nodiscard]] std::span<T> stage(std::string_view what) {
    check(cudaEventSynchronize(read_.get()), what, "upload");
    return staged_.values();
  }
  // What was staged; what is queued from now on has it.
  void send(Context& context, std::string_view what) {
    context.upload(values_.data(), staged_.data(), values_.bytes(), what);
    check(cudaEventRecord(read_.get(), context.upload_stream()), what, "upload");
  }
  void send(Context& context, std::span<const T> values, std::string_view what) {
    std::ranges::copy(values, stage(what).data());
    send(context, what);
  }

  [[nodiscard]] const T* data() const { return values_.data(); }              // on the device
  [[nodiscard]] std::span<const T> sent() const { return staged_.values(); }  // on the host

 private:
  DeviceBuffer<T> values_;
  PinnedBuffer<T> staged_;
  Event read_;
};

// How many steps of each example are its own, of a value that has so many.
class Lengths {
 public:
  Lengths(const Shape& shape, std::string_view what) : steps_(shape.steps), lengths_(shape.n, what) {}

  // Of the pass that runs.
  void send(Context& context, std::string_view what) {
    const auto given = context.pass().batch.lengths;
    const auto staged = lengths_.stage(what);
    for (std::size_t i = 0; i < staged.size(); ++i) {
      staged[i] = given.empty() ? steps_ : std::min(given[i], steps_);
    }
    lengths_.send(context, what);
  }
  [[nodiscard]] const std::uint32_t* data() const { return lengths_.data(); }
  [[nodiscard]] std::span<const std::uint32_t> sent() const { return lengths_.sent(); }

 private:
  std::uint32_t steps_;
  Upload<std::uint32_t> lengths_;
};

}  // namespace ballast::cuda
