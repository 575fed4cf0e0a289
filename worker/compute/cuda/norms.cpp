// Batch, layer and group normalization: one computation over different sets of values.
#include <string>
#include <utility>
#include <vector>

#include "worker/compute/cuda/kernels/norms.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

enum Parameter : std::size_t { kWeight, kBias, kRunningMean, kRunningVariance };

class NormOperation : public Operation {
 public:
  NormOperation(Context& context, const LayerTask& task, const NormShape& shape, float epsilon, const CudaTensor& y)
      : context_(context),
        what_(name_of(task.layer) + " of " + to_string(y.shape())),
        shape_(shape),
        epsilon_(static_cast<double>(epsilon)),
        x_(as_cuda(*task.inputs[0]).value()),
        x_gradient_(as_cuda(*task.inputs[0]).gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()),
        mean_(shape.moments.sets, what_),
        variance_(shape.moments.sets, what_) {
    for (const ParameterPlace& place : task.parameters) {
      parameters_.push_back(place.extent);
    }
    context_.reserve_workspace(shape_.scratch() * sizeof(double), what_);
  }

  void forward() override {
    if (has_state() && !context_.pass().training) {
      check(launch_running_moments(shape_, weights(kRunningMean), weights(kRunningVariance), moments(),
                                   context_.compute()),
            what_, "forward");
    } else {
      check(launch_moments(shape_, x_, moments(), scratch(), context_.compute()), what_, "forward");
    }
    check(launch_normalize(shape_, inputs(), moments(), weights(kBias), y_, context_.compute()), what_, "forward");
  }

  void backward_parameters() override {
    check(launch_norm_parameters(shape_, inputs(), moments(), y_gradient_, gradients(kWeight), gradients(kBias),
                                 scratch(), context_.compute()),
          what_, "gradient of the parameters");
    if (has_state()) {
      check(launch_statistics(shape_, moments(), gradients(kRunningMean), gradients(kRunningVariance),
                              context_.compute()),
            what_, "statistics");
    }
  }

  void backward_input() override {
    check(launch_norm_backward(shape_, inputs(), moments(), y_gradient_, x_gradient_, scratch(), context_.compute()),
          what_, "gradient of the input");
  }

 private:
  [[nodiscard]] bool has_state() const { return parameters_.size() > kRunningMean; }
  [[nodiscard]] const float* weights(Parameter which) const { return context_.weights_at(parameters_[which]); }
  [[nodiscard]] float* gradients(Parameter which) const { return context_.gradients_at(parameters_[which]); }
  [[nodiscard]] NormInputs inputs() const { return {x_, weights(kWeight), epsilon_}; }
  [[nodiscard]] NormMoments moments() const { return {mean_.data(), variance_.data()}; }
  [[nodiscard]] double* scratch() const { return static_cast<double*>(context_.workspace()); }

  Context& context_;
  std::string what_;
  NormShape shape_;
  double epsilon_;
  std::vector<Extent> parameters_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
  DeviceBuffer<double> mean_;
  DeviceBuffer<double> variance_;
};

std::size_t plane_of(const Shape& x) { return std::size_t{x.h} * x.w; }
Sets by_channel(const Shape& x) { return {x.rows(), x.c, plane_of(x)}; }

// What is given back reads x, so y has memory of its own.
Prepared make_norm(Context& context, const LayerTask& task, const NormShape& shape, float epsilon) {
  auto y = std::make_unique<CudaTensor>(fit(task), true);
  auto operation = std::make_unique<NormOperation>(context, task, shape, epsilon, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace

Prepared make(Context& context, const LayerTask& task, const BatchNorm& norm) {
  const Shape& x = task.inputs[0]->shape();
  return make_norm(context, task, {by_channel(x), by_channel(x)}, norm.epsilon);
}

Prepared make(Context& context, const LayerTask& task, const LayerNorm& norm) {
  const Shape& x = task.inputs[0]->shape();
  return make_norm(context, task, {{1, x.rows(), x.features()}, {x.rows(), x.features(), 1}}, norm.epsilon);
}

Prepared make(Context& context, const LayerTask& task, const GroupNorm& norm) {
  const Shape& x = fit(task);
  const std::size_t of_group = x.c / norm.groups * plane_of(x);
  return make_norm(context, task, {{1, x.rows() * norm.groups, of_group}, by_channel(x)}, norm.epsilon);
}

}  // namespace ballast::cuda
