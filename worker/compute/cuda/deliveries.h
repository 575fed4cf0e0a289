// Gradients on their way from the device to the host, in order.
#pragma once

#include <cstddef>
#include <vector>

#include "common/arena/arena.h"
#include "worker/compute/cuda/context.h"

namespace ballast::cuda {

class Deliveries {
 public:
  explicit Deliveries(Context& context) : context_(context) {}

  // Ends an earlier pass: waits for what it has on its way, which is nothing unless it was broken off.
  void reset();
  // Copies what was computed until now of one parameter's gradient, beside what is computed from now on.
  void begin(const Extent& parameter);
  // Waits for the oldest that was not waited for.
  void await();

 private:
  Context& context_;
  std::vector<Event> arrived_;  // of the n-th delivery of a pass; made in the first pass, used in all
  std::size_t begun_ = 0;
  std::size_t awaited_ = 0;
};

}  // namespace ballast::cuda
