// Pooling in the layout that its input has.
#include <utility>
#include <vector>

#include "worker/compute/cpu/channel_layout.h"
#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/pool_loops.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

PoolPlanes planes_of(const Shape& x, const Shape& y, const ChannelLayout& layout) {
  return {.planes = x.rows() * layout.planes_of_row(x),
          .inner = layout.inner,
          .x_height = x.h,
          .x_width = x.w,
          .y_height = y.h,
          .y_width = y.w};
}

// What every pooling reads and writes.
class Pooling : public Operation {
 public:
  Pooling(const Context& context, const PoolPlanes& planes, const CpuTensor& x, const CpuTensor& y,
          const ChannelLayout& layout)
      : context_(context),
        planes_(planes),
        x_(context, x.value(), describe(x.shape(), layout.tag)),
        y_(y.value()),
        y_gradient_(y.gradient()) {
    if (x.with_gradient()) {
      x_gradient_ = Outgoing(context, x.gradient(), describe(x.shape(), layout.tag));
    }
  }

  void forward() override {
    x_.refresh();
    pool(floats(x_.memory()), floats(y_));
  }
  void backward_input() override {
    unpool(floats(y_gradient_), floats(x_gradient_.memory()));
    x_gradient_.deliver();
  }

 protected:
  virtual void pool(const float* x, float* y) = 0;
  virtual void unpool(const float* y_gradient, float* x_gradient) = 0;
  [[nodiscard]] const PoolPlanes& planes() const { return planes_; }
  [[nodiscard]] std::uint32_t threads() const { return context_.threads; }

 private:
  const Context& context_;
  PoolPlanes planes_;
  Incoming x_;
  dnnl::memory y_;
  dnnl::memory y_gradient_;
  Outgoing x_gradient_;
};

class MaxPooling : public Pooling {
 public:
  MaxPooling(const Context& context, const PoolPlanes& planes, const CpuTensor& x, const CpuTensor& y,
             const ChannelLayout& layout)
      : Pooling(context, planes, x, y, layout), winners_(floats_in(y.value())) {}

 private:
  void pool(const float* x, float* y) override { max_pool_loop(planes(), x, y, winners_.data(), threads()); }
  void unpool(const float* y_gradient, float* x_gradient) override {
    max_pool_backward_loop(planes(), y_gradient, winners_.data(), x_gradient, threads());
  }

  std::vector<std::int32_t> winners_;
};

class AveragePooling : public Pooling {
 public:
  using Pooling::Pooling;

 private:
  void pool(const float* x, float* y) override { average_pool_loop(planes(), x, y, threads()); }
  void unpool(const float* y_gradient, float* x_gradient) override {
    average_pool_backward_loop(planes(), y_gradient, x_gradient, threads());
  }
};

// `describe_windows` sets what the planes don't follow from shapes.
template <typename Made, typename DescribeWindows>
Prepared make_pooling(const Context& context, const LayerTask& task, const DescribeWindows& describe_windows) {
  const CpuTensor& x = as_cpu(*task.inputs[0]);
  const Shape to = fit(task);
  const ChannelLayout layout = layout_of(x);
  PoolPlanes planes = planes_of(x.shape(), to, layout);
  describe_windows(planes);
  auto y = std::make_unique<CpuTensor>(context, to, describe(to, layout.tag), x.with_gradient());
  auto operation = std::make_unique<Made>(context, planes, x, *y, layout);
  return {std::move(operation), std::move(y)};
}

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const MaxPool2d& pool) {
  return make_pooling<MaxPooling>(context, task, [&](PoolPlanes& planes) {
    planes.window = pool.window;
    planes.stride = pool.stride;
    planes.padding = pool.padding;
  });
}

Prepared make(const Context& context, const LayerTask& task, const AveragePool2d& pool) {
  return make_pooling<AveragePooling>(context, task, [&](PoolPlanes& planes) {
    planes.window = pool.window;
    planes.stride = pool.stride;
    planes.padding = pool.padding;
    planes.count_padding = pool.count_padding;
  });
}

// One window for each plane.
Prepared make(const Context& context, const LayerTask& task, const GlobalPool2d& pool) {
  const auto whole = [](PoolPlanes& planes) {
    planes.window = {planes.x_height, planes.x_width};
    planes.stride = 1;
  };
  return pool.kind == GlobalPool2d::Kind::max ? make_pooling<MaxPooling>(context, task, whole)
                                              : make_pooling<AveragePooling>(context, task, whole);
}

}  // namespace ballast::cpu
