// One value under several names, each with a gradient of its own; these are summed in the order of the names.
#include <utility>

#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/operations.h"

namespace ballast::cpu {
namespace {

class Fork : public Operation {
 public:
  Fork(const Context& context, const CpuTensor& x, std::span<const std::unique_ptr<Tensor>> outputs)
      : context_(context), sum_(x.gradient()) {
    for (const auto& output : outputs) {
      parts_.push_back(as_cpu(*output).gradient());
    }
  }

  void forward() override {}

  void backward_input() override {
    const auto n = sum_.get_desc().get_size() / sizeof(float);
    auto* const sum = static_cast<float*>(sum_.get_data_handle());
    const auto part = [&](std::size_t i) { return static_cast<const float*>(parts_[i].get_data_handle()); };
    add_loop(part(0), part(1), sum, n, context_.threads);
    for (std::size_t i = 2; i < parts_.size(); ++i) {
      add_loop(sum, part(i), sum, n, context_.threads);
    }
  }

 private:
  const Context& context_;
  dnnl::memory sum_;
  std::vector<dnnl::memory> parts_;
};

}  // namespace

Forked make_fork(const Context& context, CpuTensor& x, std::size_t uses) {
  Forked forked;
  for (std::size_t i = 0; i < uses; ++i) {
    forked.outputs.push_back(std::make_unique<CpuTensor>(context, x));
  }
  forked.operation = std::make_unique<Fork>(context, x, forked.outputs);
  return forked;
}

}  // namespace ballast::cpu
