// Pooling over the steps of each example's own length.
#include <algorithm>
#include <utility>
#include <vector>

#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/packed_steps.h"
#include "worker/compute/cpu/step_pool_loops.h"
#include "worker/compute/cpu/vectors.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

class StepPoolOperation : public Operation {
 public:
  StepPoolOperation(const Context& context, const StepPool& pool, const CpuTensor& x, const CpuTensor& y)
      : context_(context),
        kind_(pool.kind),
        steps_(x.shape().steps),
        examples_(x.shape().n),
        features_(x.shape().features()),
        x_(context, x.value(), plain(x.shape())),
        y_(y.value()),
        y_gradient_(y.gradient()),
        winners_(kind_ == StepPool::Kind::max ? examples_ * features_ : 0) {
    if (x.with_gradient()) {
      x_gradient_ = Outgoing(context, x.gradient(), plain(x.shape()));
    }
  }

  void forward() override {
    x_.refresh();
    share_out(examples_, context_.threads, [&](std::size_t example) {
      const float* const x = floats(x_.memory()) + example * steps_ * features_;
      pool(x, length(example), example, floats(y_) + example * features_);
    });
  }

  void backward_input() override {
    share_out(examples_, context_.threads, [&](std::size_t example) {
      float* const gradient = floats(x_gradient_.memory()) + example * steps_ * features_;
      std::fill_n(gradient, steps_ * features_, 0.0F);
      unpool(floats(y_gradient_) + example * features_, length(example), example, gradient);
    });
    x_gradient_.deliver();
  }

 private:
  void pool(const float* x, std::size_t length, std::size_t example, float* y) {
    switch (kind_) {
      case StepPool::Kind::average:
        return average_steps(x, length, features_, y);
      case StepPool::Kind::max:
        return largest_steps(x, length, features_, y, winners_.data() + example * features_);
      case StepPool::Kind::first:
        std::copy_n(x, features_, y);
        return;
      case StepPool::Kind::last:
        std::copy_n(x + (length - 1) * features_, features_, y);
    }
  }

  // Into what is zero.
  void unpool(const float* y_gradient, std::size_t length, std::size_t example, float* gradient) const {
    switch (kind_) {
      case StepPool::Kind::average:
        return average_steps_backward(y_gradient, length, features_, gradient);
      case StepPool::Kind::max:
        for (std::size_t i = 0; i < features_; ++i) {
          const auto step = static_cast<std::size_t>(winners_[example * features_ + i]);
          gradient[step * features_ + i] = y_gradient[i];
        }
        return;
      case StepPool::Kind::first:
        std::copy_n(y_gradient, features_, gradient);
        return;
      case StepPool::Kind::last:
        std::copy_n(y_gradient, features_, gradient + (length - 1) * features_);
    }
  }

  [[nodiscard]] std::size_t length(std::size_t example) const {
    return length_of(context_.pass->batch, example, steps_);
  }

  const Context& context_;
  StepPool::Kind kind_;
  std::size_t steps_;
  std::size_t examples_;
  std::size_t features_;
  Incoming x_;
  dnnl::memory y_;
  dnnl::memory y_gradient_;
  Outgoing x_gradient_;
  std::vector<std::int32_t> winners_;  // of a max: the step of each value
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const StepPool& pool) {
  const CpuTensor& x = as_cpu(*task.inputs[0]);
  const Shape to = fit(task);
  auto y = std::make_unique<CpuTensor>(context, to, plain(to), x.with_gradient());
  auto operation = std::make_unique<StepPoolOperation>(context, pool, x, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
