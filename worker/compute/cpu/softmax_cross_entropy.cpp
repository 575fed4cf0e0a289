// Softmax cross entropy. Few classes are computed in double: a handful of values for each row. Many are not: their
// exponentials are floats, made in vectors in the place of the gradient, and only sums are in double.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/softmax_loops.h"
#include "worker/compute/cpu/vectors.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

constexpr std::size_t kFewClasses = 32;

// What a row's probabilities are compared with: class j counts (label == j ? of_label : 0) + of_each * weight of j.
struct Target {
  std::size_t label = 0;
  double of_label = 0;  // 0: the row has no label
  double of_each = 0;
  double sum = 0;  // over all classes
};

// A row's softmax: probability j is exp(logit j - largest) / total.
struct Softmax {
  float largest = 0;
  double total = 0;
};

class SoftmaxOperation : public LossOperation {
 public:
  SoftmaxOperation(const Context& context, const CpuTensor& logits, const ExampleShape& example,
                   const SoftmaxCrossEntropy& loss)
      : context_(context),
        loss_(loss),
        all_weights_(loss.class_weights.empty()
                         ? static_cast<double>(logits.shape().features())
                         : std::accumulate(loss.class_weights.begin(), loss.class_weights.end(), 0.0)),
        labelled_steps_(example.labels == Labels::steps),
        examples_(logits.shape().n),
        steps_(logits.shape().steps),
        rows_(logits.shape().rows()),
        classes_(logits.shape().features()),
        logits_(context, logits.value(), plain(logits.shape())),
        gradient_(context, logits.gradient(), plain(logits.shape())),
        targets_(rows_),
        softmaxes_(rows_),
        losses_(rows_) {
    if (classes_ <= kFewClasses) {
      probabilities_.resize(rows_ * classes_);
    }
  }

  void forward() override {
    take_labels();
    logits_.refresh();
    share_out_pieces(rows_, rows_of_piece(classes_), context_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        if (classes_ <= kFewClasses) {
          compute_few(row);
        } else {
          softmaxes_[row] = made_of(exponentials_of_row(logits(row), classes_, gradient(row)));
        }
        losses_[row] = targets_[row].sum == 0 ? 0 : loss_of(row);
      }
    });
    sums_.loss_sum = 0;
    for (const double loss : losses_) {
      sums_.loss_sum += loss;
    }
    sums_.correct = count_correct();
  }

  [[nodiscard]] LossSums sums() const override { return sums_; }

  // Of many classes only where they are asked for: training does not.
  [[nodiscard]] std::span<const double> predictions() const override {
    if (classes_ > kFewClasses) {
      probabilities_.resize(rows_ * classes_);
      for (std::size_t i = 0; i < probabilities_.size(); ++i) {
        const Softmax& softmax = softmaxes_[i / classes_];
        probabilities_[i] =
            std::exp(static_cast<double>(floats(logits_.memory())[i]) - static_cast<double>(softmax.largest)) /
            softmax.total;
      }
    }
    return probabilities_;
  }

  void backward(float scale) override {
    share_out_pieces(rows_, rows_of_piece(classes_), context_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        if (targets_[row].sum == 0) {
          std::fill_n(gradient(row), classes_, 0.0F);
        } else if (classes_ <= kFewClasses) {
          go_back_few(row, static_cast<double>(scale));
        } else {
          go_back_many(row, static_cast<double>(scale));
        }
      }
    });
    gradient_.deliver();
  }

 private:
  void take_labels() {
    const auto labels = context_.pass->batch.labels;
    check_labels(labels, rows_, classes_, labelled_steps_);
    for (std::size_t example = 0; example < examples_; ++example) {
      const auto own = labels.subspan(example * steps_, steps_);
      const auto labelled = static_cast<double>(own.size()) - static_cast<double>(std::ranges::count(own, -1));
      for (std::size_t step = 0; step < steps_; ++step) {
        targets_[example * steps_ + step] = own[step] < 0 ? Target{} : target_of(own[step], 1.0 / labelled);
      }
    }
  }

  // `share` of an example's loss is this row's.
  [[nodiscard]] Target target_of(std::int32_t label, double share) const {
    Target target;
    const auto smoothing = static_cast<double>(loss_.smoothing);
    target.label = static_cast<std::size_t>(label);
    target.of_label = share * (1.0 - smoothing) * weight(target.label);
    target.of_each = share * smoothing / static_cast<double>(classes_);
    target.sum = target.of_label + target.of_each * all_weights_;
    return target;
  }

  void compute_few(std::size_t row) {
    const std::span logits(this->logits(row), classes_);
    const auto largest = *std::ranges::max_element(logits);
    double* const probabilities = &probabilities_[row * classes_];
    double total = 0;
    for (std::size_t j = 0; j < classes_; ++j) {
      probabilities[j] = std::exp(static_cast<double>(logits[j]) - static_cast<double>(largest));
      total += probabilities[j];
    }
    for (std::size_t j = 0; j < classes_; ++j) {
      probabilities[j] /= total;
    }
    softmaxes_[row] = {largest, total};
  }

  static Softmax made_of(const ExponentialSum& made) { return {made.largest, made.sum}; }

  // The sum over the classes of what each counts times -log of its probability.
  [[nodiscard]] double loss_of(std::size_t row) const {
    const Target& target = targets_[row];
    const auto surprise = [&, log_total = std::log(softmaxes_[row].total)](std::size_t j) {
      return log_total - (static_cast<double>(logits(row)[j]) - static_cast<double>(softmaxes_[row].largest));
    };
    double loss = target.of_label * surprise(target.label);
    if (target.of_each > 0) {
      double of_each = 0;
      for (std::size_t j = 0; j < classes_; ++j) {
        of_each += weight(j) * surprise(j);
      }
      loss += target.of_each * of_each;
    }
    return loss;
  }

  void go_back_few(std::size_t row, double scale) {
    const Target& target = targets_[row];
    for (std::size_t j = 0; j < classes_; ++j) {
      const double wanted = (target.label == j ? target.of_label : 0.0) + target.of_each * weight(j);
      const double difference = target.sum * probabilities_[row * classes_ + j] - wanted;
      gradient(row)[j] = static_cast<float>(difference * scale);
    }
  }

  // The gradient's place holds the exponentials.
  void go_back_many(std::size_t row, double scale) {
    const Target& target = targets_[row];
    const double factor = target.sum / softmaxes_[row].total * scale;
    const double each = target.of_each * scale;
    const double of_label = static_cast<double>(gradient(row)[target.label]) * factor -
                            (target.of_label * scale + each * weight(target.label));
    scale_row(gradient(row), classes_, static_cast<float>(factor), static_cast<float>(each),
              loss_.class_weights.empty() ? nullptr : loss_.class_weights.data());
    gradient(row)[target.label] = static_cast<float>(of_label);
  }

  // Of each example, by its last row that has a label.
  [[nodiscard]] std::uint32_t count_correct() const {
    std::uint32_t correct = 0;
    for (std::size_t example = 0; example < examples_; ++example) {
      std::size_t row = (example + 1) * steps_;
      while (row > example * steps_ && context_.pass->batch.labels[row - 1] < 0) {
        --row;
      }
      if (row > example * steps_) {
        const std::span logits(this->logits(row - 1), classes_);
        const auto chosen = std::ranges::max_element(logits) - logits.begin();
        correct += static_cast<std::size_t>(chosen) == targets_[row - 1].label ? 1 : 0;
      }
    }
    return correct;
  }

  [[nodiscard]] double weight(std::size_t label) const {
    return loss_.class_weights.empty() ? 1.0 : static_cast<double>(loss_.class_weights[label]);
  }
  [[nodiscard]] const float* logits(std::size_t row) const { return floats(logits_.memory()) + row * classes_; }
  [[nodiscard]] float* gradient(std::size_t row) const { return floats(gradient_.memory()) + row * classes_; }

  const Context& context_;
  SoftmaxCrossEntropy loss_;
  double all_weights_;
  bool labelled_steps_;
  std::size_t examples_;
  std::size_t steps_;
  std::size_t rows_;
  std::size_t classes_;
  Incoming logits_;
  Outgoing gradient_;
  std::vector<Target> targets_;
  std::vector<Softmax> softmaxes_;
  std::vector<double> losses_;                 // by row
  mutable std::vector<double> probabilities_;  // rows x classes; of many classes empty until they are asked for
  LossSums sums_;
};

}  // namespace

std::unique_ptr<LossOperation> make_loss(const Context& context, CpuTensor& prediction, const ExampleShape& example,
                                         const SoftmaxCrossEntropy& loss) {
  return std::make_unique<SoftmaxOperation>(context, prediction, example, loss);
}

}  // namespace ballast::cpu
