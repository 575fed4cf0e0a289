// Losses of each output by itself: the squared error of numbers, and the logistic loss of classes of which an example
// may have several. In double, a few values for each example.
#include <cmath>
#include <vector>

#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/vectors.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

struct Squared {
  static constexpr bool kZeroOrOne = false;
  static double loss(double y, double target) { return (y - target) * (y - target); }
  static double derivative(double y, double target) { return 2.0 * (y - target); }
  static double prediction(double y) { return y; }
};

struct Logistic {
  static constexpr bool kZeroOrOne = true;
  // log(1 + e^z), z = y or -y, without overflow.
  static double loss(double y, double target) {
    const double z = target > 0.5 ? -y : y;
    return (z > 0 ? z : 0.0) + std::log1p(std::exp(-std::abs(z)));
  }
  static double derivative(double y, double target) { return prediction(y) - target; }
  static double prediction(double y) { return 1.0 / (1.0 + std::exp(-y)); }
};

template <typename Rule>
class OutputLoss : public LossOperation {
 public:
  OutputLoss(const Context& context, const CpuTensor& y, bool of_input)
      : context_(context),
        of_input_(of_input),
        examples_(y.shape().n),
        outputs_(y.shape().elements() / y.shape().n),
        y_(context, y.value(), plain(y.shape())),
        gradient_(context, y.gradient(), plain(y.shape())),
        losses_(examples_) {}

  void forward() override {
    check_targets(targets(), examples_, outputs_, Rule::kZeroOrOne);
    y_.refresh();
    share_out(examples_, context_.threads, [&](std::size_t example) {
      double sum = 0;
      for (std::size_t i = example * outputs_; i < (example + 1) * outputs_; ++i) {
        sum += Rule::loss(y(i), static_cast<double>(targets()[i]));
      }
      losses_[example] = sum / static_cast<double>(outputs_);
    });
    sums_.loss_sum = 0;
    for (const double loss : losses_) {
      sums_.loss_sum += loss;
    }
  }

  [[nodiscard]] LossSums sums() const override { return sums_; }

  // Only where they are asked for: training does not.
  [[nodiscard]] std::span<const double> predictions() const override {
    predictions_.resize(examples_ * outputs_);
    for (std::size_t i = 0; i < predictions_.size(); ++i) {
      predictions_[i] = Rule::prediction(y(i));
    }
    return predictions_;
  }

  void backward(float scale) override {
    const double of_each = static_cast<double>(scale) / static_cast<double>(outputs_);
    share_out_pieces(examples_ * outputs_, kPiece, context_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        floats(gradient_.memory())[i] =
            static_cast<float>(Rule::derivative(y(i), static_cast<double>(targets()[i])) * of_each);
      }
    });
    gradient_.deliver();
  }

 private:
  [[nodiscard]] std::span<const float> targets() const {
    return of_input_ ? context_.pass->batch.features : context_.pass->batch.targets;
  }
  [[nodiscard]] double y(std::size_t i) const { return static_cast<double>(floats(y_.memory())[i]); }

  const Context& context_;
  bool of_input_;
  std::size_t examples_;
  std::size_t outputs_;  // of an example
  Incoming y_;
  Outgoing gradient_;
  std::vector<double> losses_;               // by example
  mutable std::vector<double> predictions_;  // empty until they are asked for
  LossSums sums_;
};

}  // namespace

std::unique_ptr<LossOperation> make_loss(const Context& context, CpuTensor& prediction, const ExampleShape& /*example*/,
                                         const SquaredError& loss) {
  return std::make_unique<OutputLoss<Squared>>(context, prediction, loss.of_input);
}

std::unique_ptr<LossOperation> make_loss(const Context& context, CpuTensor& prediction, const ExampleShape& /*example*/,
                                         const LogisticLoss& /*loss*/) {
  return std::make_unique<OutputLoss<Logistic>>(context, prediction, false);
}

}  // namespace ballast::cpu
