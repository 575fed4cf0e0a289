// LSTM and GRU, in one direction or both.
#include <string>
#include <utility>
#include <vector>

#include "worker/compute/cuda/kernels/sequences.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/recurrent_direction.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

constexpr std::size_t kParameters = 4;  // of a direction

class RecurrentOperation : public Operation {
 public:
  RecurrentOperation(Context& context, const LayerTask& task, const Cell& cell, std::size_t units, const CudaTensor& y)
      : context_(context),
        what_(name_of(task.layer) + " of " + to_string(task.inputs[0]->shape()) + " to " + to_string(y.shape())),
        y_shape_(y.shape()),
        x_(as_cuda(*task.inputs[0]).value()),
        x_gradient_(as_cuda(*task.inputs[0]).gradient()),
        y_(y.value()),
        lengths_(task.inputs[0]->shape(), what_) {
    const std::size_t count = task.parameters.size() / kParameters;
    directions_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const StepsOfOutput output = {y.value() + i * units, y.gradient() + i * units, count * units};
      directions_.emplace_back(context, cell, units, task.inputs[0]->shape(), output,
                               task.parameters.subspan(i * kParameters, kParameters), i > 0, what_);
    }
  }

  void forward() override {
    lengths_.send(context_, what_);
    for (auto& direction : directions_) {
      direction.forward(lengths_, x_);
    }
    check(launch_clear_padding({y_shape_.n, 1, y_shape_.steps, y_shape_.c}, lengths_.data(), y_, context_.compute()),
          what_, "clearing padding");
    went_back_ = false;
  }

  void backward_parameters() override {
    go_back();
    for (auto& direction : directions_) {
      direction.write_parameter_gradients();
    }
  }

  void backward_input() override {
    go_back();
    Into into = Into::replace;
    for (auto& direction : directions_) {
      direction.write_input_gradient(lengths_, std::exchange(into, Into::add), x_gradient_);
    }
  }

 private:
  // Through all turns, once for each forward: parameters and input take their gradients from it.
  void go_back() {
    if (std::exchange(went_back_, true)) {
      return;
    }
    for (auto& direction : directions_) {
      direction.backward(lengths_);
    }
  }

  Context& context_;
  std::string what_;
  Shape y_shape_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  Lengths lengths_;
  std::vector<RecurrentDirection> directions_;
  bool went_back_ = false;
};

Prepared make_recurrent(Context& context, const LayerTask& task, const Cell& cell, std::size_t units) {
  auto y = std::make_unique<CudaTensor>(fit(task), true);
  auto operation = std::make_unique<RecurrentOperation>(context, task, cell, units, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Lstm& lstm) {
  return make_recurrent(context, task, kLstmCell, lstm.units);
}

Prepared make(Context& context, const LayerTask& task, const Gru& gru) {
  return make_recurrent(context, task, kGruCell, gru.units);
}

}  // namespace ballast::cuda
