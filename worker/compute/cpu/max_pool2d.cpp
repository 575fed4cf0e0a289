// Max pooling in the layout that its input has.
#include <array>
#include <utility>
#include <vector>

#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

using Tag = dnnl::memory::format_tag;

// A layout in which the values of neighbouring channels lie side by side: tag, and how many of them.
struct Layout {
  Tag tag = Tag::nchw;
  std::uint32_t inner = 1;
};

// The input's layout if it is one that the loops know; plain otherwise, into which it is then brought.
Layout layout_of(const CpuTensor& x) {
  const std::array<Layout, 3> known = {{{Tag::nChw16c, 16}, {Tag::nChw8c, 8}, {Tag::nhwc, x.shape().c}}};
  const dnnl::memory::desc actual = x.value().get_desc();
  for (const Layout& layout : known) {
    if (actual == describe(x.shape(), layout.tag)) {
      return layout;
    }
  }
  return {};
}

PoolPlanes planes_of(const Shape& x, const Shape& y, const Layout& layout, const MaxPool2d& pool) {
  const std::size_t groups = (x.c + layout.inner - 1) / layout.inner;
  return {x.rows() * groups, layout.inner, x.h, x.w, y.h, y.w, pool};
}

class MaxPool2dOperation : public Operation {
 public:
  MaxPool2dOperation(const Context& context, const Layout& layout, const CpuTensor& x, const CpuTensor& y,
                     const MaxPool2d& pool)
      : context_(context),
        planes_(planes_of(x.shape(), y.shape(), layout, pool)),
        x_(context, x.value(), describe(x.shape(), layout.tag)),
        y_(y.value()),
        y_gradient_(y.gradient()),
        winners_(y_.get_desc().get_size() / sizeof(float)) {
    if (x.with_gradient()) {
      x_gradient_ = Outgoing(context, x.gradient(), describe(x.shape(), layout.tag));
    }
  }

  void forward() override {
    x_.refresh();
    max_pool_loop(planes_, static_cast<const float*>(x_.memory().get_data_handle()),
                  static_cast<float*>(y_.get_data_handle()), winners_.data(), context_.threads);
  }

  void backward_input() override {
    max_pool_backward_loop(planes_, static_cast<const float*>(y_gradient_.get_data_handle()), winners_.data(),
                           static_cast<float*>(x_gradient_.memory().get_data_handle()), context_.threads);
    x_gradient_.deliver();
  }

 private:
  const Context& context_;
  PoolPlanes planes_;
  Incoming x_;
  dnnl::memory y_;
  dnnl::memory y_gradient_;
  Outgoing x_gradient_;
  std::vector<std::int32_t> winners_;
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const MaxPool2d& pool) {
  CpuTensor& x = as_cpu(*task.inputs[0]);
  if (pool.padding != Pair(0)) {
    throw std::invalid_argument("the cpu backend has no pooling with padding");
  }
  const Shape to = fit(task);
  const Layout layout = layout_of(x);
  auto y = std::make_unique<CpuTensor>(context, to, describe(to, layout.tag), x.with_gradient());
  auto operation = std::make_unique<MaxPool2dOperation>(context, layout, x, *y, pool);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
