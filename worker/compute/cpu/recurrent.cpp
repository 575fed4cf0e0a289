// LSTM and GRU, in one direction or both.
#include <utility>
#include <vector>

#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/recurrent_direction.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

constexpr std::size_t kParameters = 4;  // of a direction

class RecurrentOperation : public Operation {
 public:
  RecurrentOperation(const Context& context, const LayerTask& task, const Cell& cell, std::size_t units,
                     const CpuTensor& y)
      : context_(context),
        units_(units),
        x_shape_(task.inputs[0]->shape()),
        x_(context, as_cpu(*task.inputs[0]).value(), plain(x_shape_)),
        y_(y.value()),
        y_gradient_(y.gradient()),
        steps_(x_shape_),
        packed_x_(x_shape_.elements()) {
    for (std::size_t begin = 0; begin < task.parameters.size(); begin += kParameters) {
      directions_.emplace_back(context, cell, units, x_shape_, task.parameters.subspan(begin, kParameters), begin > 0);
    }
    const CpuTensor& x = as_cpu(*task.inputs[0]);
    if (x.with_gradient()) {
      x_gradient_ = Outgoing(context, x.gradient(), plain(x_shape_));
      packed_x_gradient_.resize(packed_x_.size());
    }
  }

  void forward() override {
    x_.refresh();
    steps_.pack(context_.pass->batch);
    steps_.gather(floats(x_.memory()), features(), features(), packed_x_.data(), context_.threads);
    for (std::size_t i = 0; i < directions_.size(); ++i) {
      directions_[i].forward(steps_, packed_x_.data());
      steps_.scatter(directions_[i].h(), units_, floats(y_) + i * units_, y_stride(), context_.threads);
    }
    went_back_ = false;
  }

  void backward_parameters() override {
    go_back();
    for (auto& direction : directions_) {
      direction.write_parameter_gradients(steps_, packed_x_.data());
    }
  }

  void backward_input() override {
    go_back();
    for (std::size_t i = 0; i < directions_.size(); ++i) {
      directions_[i].write_input_gradient(steps_, packed_x_gradient_.data(), i == 0 ? Into::replace : Into::add);
    }
    steps_.scatter(packed_x_gradient_.data(), features(), floats(x_gradient_.memory()), features(), context_.threads);
    x_gradient_.deliver();
  }

 private:
  // Through all steps, once for each forward: parameters and input take their gradients from it.
  void go_back() {
    if (std::exchange(went_back_, true)) {
      return;
    }
    for (std::size_t i = 0; i < directions_.size(); ++i) {
      steps_.gather(floats(y_gradient_) + i * units_, y_stride(), units_, directions_[i].h_gradient(),
                    context_.threads);
      directions_[i].backward(steps_);
    }
  }

  [[nodiscard]] std::size_t features() const { return x_shape_.features(); }
  [[nodiscard]] std::size_t y_stride() const { return directions_.size() * units_; }

  const Context& context_;
  std::size_t units_;
  Shape x_shape_;
  Incoming x_;
  dnnl::memory y_;
  dnnl::memory y_gradient_;
  Outgoing x_gradient_;
  PackedSteps steps_;
  std::vector<RecurrentDirection> directions_;
  std::vector<float> packed_x_;           // rows x features
  std::vector<float> packed_x_gradient_;  // rows x features
  bool went_back_ = false;
};

Prepared make_recurrent(const Context& context, const LayerTask& task, const Cell& cell, std::size_t units) {
  const Shape to = fit(task);
  auto y = std::make_unique<CpuTensor>(context, to, plain(to), true);
  auto operation = std::make_unique<RecurrentOperation>(context, task, cell, units, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const Lstm& lstm) {
  return make_recurrent(context, task, kLstmCell, lstm.units);
}

Prepared make(const Context& context, const LayerTask& task, const Gru& gru) {
  return make_recurrent(context, task, kGruCell, gru.units);
}

}  // namespace ballast::cpu
