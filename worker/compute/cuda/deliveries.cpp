#include "worker/compute/cuda/deliveries.h"

#include <stdexcept>

#include "worker/compute/cuda/status.h"

namespace ballast::cuda {
namespace {

constexpr const char* kDelivery = "a gradient on its way to the host";

}  // namespace

void Deliveries::reset() {
  while (awaited_ < begun_) {
    await();
  }
  begun_ = 0;
  awaited_ = 0;
}

void Deliveries::begin(const Extent& parameter) {
  if (begun_ == arrived_.size()) {
    arrived_.push_back(make_event());
  }
  context_.download_after_compute(kDelivery);
  check(cudaMemcpyAsync(context_.host_gradients().data() + parameter.offset, context_.gradients_at(parameter),
                        parameter.elements * sizeof(float), cudaMemcpyDeviceToHost, context_.download()),
        kDelivery);
  check(cudaEventRecord(arrived_[begun_].get(), context_.download()), kDelivery);
  ++begun_;
}

void Deliveries::await() {
  if (awaited_ == begun_) {
    throw std::logic_error("no gradient is on its way to the host");
  }
  check(cudaEventSynchronize(arrived_[awaited_].get()), kDelivery);
  ++awaited_;
}

}  // namespace ballast::cuda
