// Max pooling in the layout that its input has; oneDNN keeps the winners' places for the backward pass.
#include <utility>

#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/primitive.h"

namespace ballast::cpu {
namespace {

using dnnl::memory;

class MaxPool2dOperation : public Operation {
 public:
  MaxPool2dOperation(const Context& context, const dnnl::pooling_forward::primitive_desc& description,
                     const CpuTensor& x, const CpuTensor& y, const MaxPool2d& pool) {
    const memory winners(description.workspace_desc(), context.engine);
    forward_ = Primitive::make<dnnl::pooling_forward>(
        context, description, {{DNNL_ARG_SRC, x.value()}, {DNNL_ARG_DST, y.value()}, {DNNL_ARG_WORKSPACE, winners}});
    if (x.with_gradient()) {
      const dnnl::pooling_backward::primitive_desc backward({dnnl::algorithm::pooling_max,
                                                             x.gradient().get_desc(),
                                                             y.gradient().get_desc(),
                                                             {pool.stride, pool.stride},
                                                             {pool.window, pool.window},
                                                             {0, 0},
                                                             {0, 0}},
                                                            with_own_scratchpad(), context.engine, description);
      backward_input_ = Primitive::make<dnnl::pooling_backward>(
          context, backward,
          {{DNNL_ARG_DIFF_DST, y.gradient()}, {DNNL_ARG_WORKSPACE, winners}, {DNNL_ARG_DIFF_SRC, x.gradient()}});
    }
  }

  void forward() override { forward_.run(); }
  void backward_input() override { backward_input_.run(); }

 private:
  Primitive forward_;
  Primitive backward_input_;
};

}  // namespace

Prepared make_max_pool2d(const Context& context, CpuTensor& x, const MaxPool2d& pool) {
  const Shape from = x.shape();
  const Shape to{from.n, from.c, sliding_outputs(from.h, pool.window, pool.stride, 0),
                 sliding_outputs(from.w, pool.window, pool.stride, 0)};
  const dnnl::pooling_forward::primitive_desc description({dnnl::prop_kind::forward_training,
                                                           dnnl::algorithm::pooling_max,
                                                           x.value().get_desc(),
                                                           describe(to, memory::format_tag::any),
                                                           {pool.stride, pool.stride},
                                                           {pool.window, pool.window},
                                                           {0, 0},
                                                           {0, 0}},
                                                          with_own_scratchpad(), context.engine);
  auto y = std::make_unique<CpuTensor>(context, to, description.dst_desc(), x.with_gradient());
  auto operation = std::make_unique<MaxPool2dOperation>(context, description, x, *y, pool);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
