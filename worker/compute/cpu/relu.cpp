// ReLU in place, whatever the layout: its derivative follows from its result, and nobody else reads its input.
#include <utility>

#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/primitive.h"

namespace ballast::cpu {
namespace {

class ReluOperation : public Operation {
 public:
  ReluOperation(const Context& context, const CpuTensor& x) {
    constexpr auto kAlgorithm = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
    const auto& desc = x.value().get_desc();
    const dnnl::eltwise_forward::primitive_desc description({dnnl::prop_kind::forward_training, kAlgorithm, desc},
                                                            with_own_scratchpad(), context.engine);
    forward_ = Primitive::make<dnnl::eltwise_forward>(context, description,
                                                      {{DNNL_ARG_SRC, x.value()}, {DNNL_ARG_DST, x.value()}});
    if (x.with_gradient()) {
      const dnnl::eltwise_backward::primitive_desc backward({kAlgorithm, desc, desc}, with_own_scratchpad(),
                                                            context.engine, description);
      backward_input_ = Primitive::make<dnnl::eltwise_backward>(
          context, backward,
          {{DNNL_ARG_DST, x.value()}, {DNNL_ARG_DIFF_DST, x.gradient()}, {DNNL_ARG_DIFF_SRC, x.gradient()}});
    }
  }

  void forward() override { forward_.run(); }
  void backward_input() override { backward_input_.run(); }

 private:
  Primitive forward_;
  Primitive backward_input_;
};

}  // namespace

Prepared make_relu(const Context& context, CpuTensor& x) {
  return {std::make_unique<ReluOperation>(context, x), std::make_unique<CpuTensor>(x, std::in_place)};
}

}  // namespace ballast::cpu
