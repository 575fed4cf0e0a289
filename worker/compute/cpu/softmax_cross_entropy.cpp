// Softmax and the negative logarithm of the label's probability, in double: a handful of values for each example.
#include <algorithm>
#include <cmath>
#include <vector>

#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

class SoftmaxOperation : public LossOperation {
 public:
  SoftmaxOperation(const Context& context, const CpuTensor& logits)
      : context_(context),
        shape_(logits.shape()),
        examples_(logits.shape().rows()),
        classes_(logits.shape().features()),
        logits_(context, logits.value(), plain(logits.shape())),
        gradient_(context, logits.gradient(), plain(logits.shape())),
        probabilities_(examples_ * classes_),
        labels_(examples_) {}

  void forward() override {
    const auto labels = context_.pass->batch.labels;
    check_labels(labels, examples_, classes_);
    std::ranges::copy(labels, labels_.begin());
    logits_.refresh();
    const auto* logits = static_cast<const float*>(logits_.memory().get_data_handle());
    sums_ = {};
    for (std::size_t i = 0; i < examples_; ++i) {
      add_example(std::span(logits + i * classes_, classes_), i);
    }
  }

  [[nodiscard]] LossSums sums() const override { return sums_; }
  [[nodiscard]] std::span<const double> predictions() const override { return probabilities_; }

  void backward(float scale) override {
    auto* gradient = static_cast<float*>(gradient_.memory().get_data_handle());
    for (std::size_t i = 0; i < examples_; ++i) {
      for (std::size_t j = 0; j < classes_; ++j) {
        const bool right = static_cast<std::size_t>(labels_[i]) == j;
        const double difference = probabilities_[i * classes_ + j] - (right ? 1.0 : 0.0);
        gradient[i * classes_ + j] = static_cast<float>(difference * static_cast<double>(scale));
      }
    }
    gradient_.deliver();
  }

 private:
  void add_example(std::span<const float> logits, std::size_t example) {
    const auto largest = std::ranges::max_element(logits);
    double* const probabilities = &probabilities_[example * classes_];
    double total = 0;
    for (std::size_t j = 0; j < classes_; ++j) {
      probabilities[j] = std::exp(static_cast<double>(logits[j]) - static_cast<double>(*largest));
      total += probabilities[j];
    }
    for (std::size_t j = 0; j < classes_; ++j) {
      probabilities[j] /= total;
    }
    const auto label = static_cast<std::size_t>(labels_[example]);
    sums_.loss_sum += std::log(total) - (static_cast<double>(logits[label]) - static_cast<double>(*largest));
    sums_.correct += static_cast<std::size_t>(largest - logits.begin()) == label ? 1 : 0;
  }

  const Context& context_;
  Shape shape_;
  std::size_t examples_;
  std::size_t classes_;
  Incoming logits_;
  Outgoing gradient_;
  std::vector<double> probabilities_;  // examples x classes
  std::vector<std::int32_t> labels_;
  LossSums sums_;
};

}  // namespace

std::unique_ptr<LossOperation> make_loss(const Context& context, CpuTensor& prediction, const ExampleShape& /*example*/,
                                         const SoftmaxCrossEntropy& /*loss*/) {
  return std::make_unique<SoftmaxOperation>(context, prediction);
}

}  // namespace ballast::cpu
