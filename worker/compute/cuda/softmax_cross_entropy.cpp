// Softmax cross entropy of each row. Rows' losses are summed on the host, in their order; they travel beside the
// backward pass.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "worker/compute/cuda/download.h"
#include "worker/compute/cuda/kernels/losses.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/cuda/upload.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

SoftmaxShape shape_of(const Shape& logits, const SoftmaxCrossEntropy& loss) {
  const auto classes = static_cast<std::uint32_t>(logits.features());
  const double all_weights = loss.class_weights.empty()
                                 ? static_cast<double>(classes)
                                 : std::accumulate(loss.class_weights.begin(), loss.class_weights.end(), 0.0);
  return {static_cast<std::uint32_t>(logits.rows()), classes, static_cast<double>(loss.smoothing), all_weights};
}

// More than 15 fields: what comes and goes lies on the device and on the host.
class SoftmaxOperation : public LossOperation {
 public:
  SoftmaxOperation(Context& context, const CudaTensor& logits, const ExampleShape& example,
                   const SoftmaxCrossEntropy& loss)
      : context_(context),
        what_("softmax_cross_entropy of " + to_string(logits.shape())),
        labelled_steps_(example.labels == Labels::steps),
        examples_(logits.shape().n),
        steps_(logits.shape().steps),
        shape_(shape_of(logits.shape(), loss)),
        logits_(logits.value()),
        gradient_(logits.gradient()),
        weights_(shape_.classes, what_),
        labels_(shape_.rows, what_),
        shares_(shape_.rows, what_),
        losses_(shape_.rows, what_),
        correct_(shape_.rows, what_),
        probabilities_(logits.shape().elements(), what_) {
    weights_.send(context_, loss.class_weights.empty() ? std::vector<float>(shape_.classes, 1.0F) : loss.class_weights,
                  what_);
  }

  void forward() override {
    const auto labels = context_.pass().batch.labels;
    check_labels(labels, shape_.rows, shape_.classes, labelled_steps_);
    labels_.send(context_, labels, what_);
    send_shares();
    check(launch_softmax(shape_, targets(), logits_, probabilities_.data(), losses_.data(), correct_.data(),
                         context_.compute()),
          what_, "forward");
    losses_.begin(context_, what_);
    correct_.begin(context_, what_);
    probabilities_.change();
  }

  [[nodiscard]] LossSums sums() const override {
    LossSums sums;
    for (const double loss : losses_.await(what_)) {
      sums.loss_sum += loss;
    }
    sums.correct = count_correct(correct_.await(what_));
    return sums;
  }

  [[nodiscard]] std::span<const double> predictions() const override { return probabilities_.fetch(context_, what_); }

  void backward(float scale) override {
    check(launch_softmax_backward(shape_, targets(), probabilities_.data(), scale, gradient_, context_.compute()),
          what_, "backward");
  }

 private:
  // Each labelled row's of its example's loss, the mean over these.
  void send_shares() {
    const auto shares = shares_.stage(what_);
    for (std::size_t example = 0; example < examples_; ++example) {
      const auto own = labels_.sent().subspan(example * steps_, steps_);
      const auto labelled = static_cast<double>(own.size()) - static_cast<double>(std::ranges::count(own, -1));
      std::ranges::fill(shares.subspan(example * steps_, steps_), labelled > 0 ? 1.0 / labelled : 0.0);
    }
    shares_.send(context_, what_);
  }

  // Of each example, by its last row that has a label.
  [[nodiscard]] std::uint32_t count_correct(std::span<const std::int32_t> correct) const {
    std::uint32_t sum = 0;
    for (std::size_t example = 0; example < examples_; ++example) {
      std::size_t row = (example + 1) * steps_;
      while (row > example * steps_ && labels_.sent()[row - 1] < 0) {
        --row;
      }
      sum += row > example * steps_ ? static_cast<std::uint32_t>(correct[row - 1]) : 0;
    }
    return sum;
  }

  [[nodiscard]] SoftmaxTargets targets() const { return {labels_.data(), shares_.data(), weights_.data()}; }

  Context& context_;
  std::string what_;
  bool labelled_steps_;
  std::size_t examples_;
  std::size_t steps_;
  SoftmaxShape shape_;
  const float* logits_;
  float* gradient_;
  Upload<float> weights_;
  Upload<std::int32_t> labels_;
  Upload<double> shares_;
  Download<double> losses_;
  Download<std::int32_t> correct_;
  Predictions probabilities_;
};

}  // namespace

std::unique_ptr<LossOperation> make_loss(Context& context, CudaTensor& prediction, const ExampleShape& example,
                                         const SoftmaxCrossEntropy& loss) {
  return std::make_unique<SoftmaxOperation>(context, prediction, example, loss);
}

}  // namespace ballast::cuda
