// Losses of each output by itself: the squared error of numbers, and the logistic loss of classes of which an example
// may have several. Examples' losses are summed on the host, in their order.
#include <string>

#include "worker/compute/cuda/download.h"
#include "worker/compute/cuda/kernels/losses.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/cuda/upload.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

class OutputLoss : public LossOperation {
 public:
  OutputLoss(Context& context, const CudaTensor& y, const Loss& loss, OutputRule rule, bool of_input)
      : context_(context),
        what_(name_of(loss) + " of " + to_string(y.shape())),
        rule_(rule),
        of_input_(of_input),
        shape_{y.shape().n, y.shape().elements() / y.shape().n},
        y_(y.value()),
        gradient_(y.gradient()),
        targets_(y.shape().elements(), what_),
        losses_(y.shape().n, what_),
        predictions_(y.shape().elements(), what_) {}

  void forward() override {
    const Batch& batch = context_.pass().batch;
    const auto targets = of_input_ ? batch.features : batch.targets;
    check_targets(targets, shape_.examples, shape_.outputs, rule_ == OutputRule::logistic);
    targets_.send(context_, targets, what_);
    check(
        launch_output_loss(rule_, shape_, y_, targets_.data(), predictions_.data(), losses_.data(), context_.compute()),
        what_, "forward");
    losses_.begin(context_, what_);
    predictions_.change();
  }

  [[nodiscard]] LossSums sums() const override {
    LossSums sums;
    for (const double loss : losses_.await(what_)) {
      sums.loss_sum += loss;
    }
    return sums;
  }

  [[nodiscard]] std::span<const double> predictions() const override { return predictions_.fetch(context_, what_); }

  void backward(float scale) override {
    check(launch_output_loss_backward(rule_, shape_, y_, targets_.data(), scale, gradient_, context_.compute()), what_,
          "backward");
  }

 private:
  Context& context_;
  std::string what_;
  OutputRule rule_;
  bool of_input_;
  OutputShape shape_;
  const float* y_;
  float* gradient_;
  Upload<float> targets_;
  Download<double> losses_;
  Predictions predictions_;
};

}  // namespace

std::unique_ptr<LossOperation> make_loss(Context& context, CudaTensor& prediction, const ExampleShape& /*example*/,
                                         const SquaredError& loss) {
  return std::make_unique<OutputLoss>(context, prediction, loss, OutputRule::squared, loss.of_input);
}

std::unique_ptr<LossOperation> make_loss(Context& context, CudaTensor& prediction, const ExampleShape& /*example*/,
                                         const LogisticLoss& loss) {
  return std::make_unique<OutputLoss>(context, prediction, loss, OutputRule::logistic, false);
}

}  // namespace ballast::cuda
