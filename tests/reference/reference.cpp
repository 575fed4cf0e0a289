// Deliberately naive: written from the definitions, sharing neither the tree nor the round nor the update with the
// cluster, so that an error would have to be made twice.
#include "tests/reference/reference.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/job/model_graph.h"
#include "tests/reference/content.h"
#include "tests/reference/update.h"
#include "worker/data/pipeline.h"
#include "worker/models/model.h"

namespace ballast::reference {

namespace {

using Floats = std::vector<float>;

class Trainer {
 public:
  explicit Trainer(const Job& job)
      : job_(job),
        dataset_(open_dataset(job.spec.data, "")),
        pipeline_(*dataset_, job.spec.training),
        model_(make_model(job.spec.model, job.shape, job.arena, on_cpu(job.spec.training.threads_per_slot))),
        weights_(initial_weights(job)),
        update_(job) {}

  Result run(const std::set<std::uint64_t>& skipped) {
    std::uint64_t updates = 0;
    for (std::uint64_t step = 0; step < job_.steps.steps; ++step) {
      if (step % job_.steps.steps_per_epoch == 0) {
        loss_sum_ = 0;
        examples_ = 0;
      }
      auto gradient = gradient_of(step, 0, job_.spec.training.slots);
      if (!skipped.contains(step)) {
        update_.apply(step, updates++, gradient, weights_);
      }
      if ((step + 1) % job_.steps.steps_per_epoch == 0) {
        epoch_loss_ = loss_sum_ / examples_;
      }
    }
    return result();
  }

 private:
  // The gradient's sum over slots [begin, end): left half plus right half, the left one the largest power of two of
  // slots that leaves something to the right.
  Floats gradient_of(std::uint64_t step, std::uint32_t begin, std::uint32_t end) {
    if (end - begin == 1) {
      return slot_gradient(step, begin);
    }
    std::uint32_t left_slots = 1;
    while (2 * left_slots < end - begin) {
      left_slots *= 2;
    }
    auto left = gradient_of(step, begin, begin + left_slots);
    const auto right = gradient_of(step, begin + left_slots, end);
    for (std::size_t i = 0; i < left.size(); ++i) {
      left[i] = left[i] + right[i];
    }
    return left;
  }

  Floats slot_gradient(std::uint64_t step, std::uint32_t slot) {
    if (job_.spec.training.mode == Mode::local) {
      return slot_change(step, slot);
    }
    Floats gradient(job_.arena.elements);
    const auto examples = pipeline_.take(step, slot);
    const SlotTask task{step, slot, examples_of_step(job_.spec.training, job_.sizes.train, step),
                        job_.spec.training.seed};
    const auto batch = compute(task, examples.batch(), weights_, gradient);
    loss_sum_ += batch.loss_sum;
    examples_ += batch.examples;
    const auto share = static_cast<float>(batch.examples) / static_cast<float>(task.step_examples);
    each_of_state([&](std::size_t i, float momentum) {
      const float change = gradient[i] - weights_[i];
      gradient[i] = batch.examples == 0 ? 0.0F : share * (momentum == 0 ? change : momentum * change);
    });
    return gradient;
  }

  // All at once, or with training.micro_batch so many examples at a time.
  BatchResult compute(const SlotTask& task, const Batch& batch, const Floats& weights, Floats& gradient) {
    const auto at_once = job_.spec.training.micro_batch;
    if (at_once == 0 || batch.count == 0 || !has_graph(job_.spec.model)) {
      return model_->train(task, batch, weights, gradient, [](std::size_t) {});
    }
    std::vector<Floats> gradients;
    std::vector<float> shares;
    BatchResult sum;
    const auto parts = (batch.count + at_once - 1) / at_once;
    for (std::uint32_t begin = 0; begin < batch.count; begin += at_once) {
      const auto count = std::min(at_once, batch.count - begin);
      auto of_part = task;  // each draws its own numbers
      of_part.local_step = task.local_step * parts + begin / at_once;
      gradients.emplace_back(job_.arena.elements);
      shares.push_back(static_cast<float>(count) / static_cast<float>(batch.count));
      const auto part =
          model_->train(of_part, part_of(batch, begin, count), weights, gradients.back(), [](std::size_t) {});
      sum.loss_sum += part.loss_sum;
      sum.correct += part.correct;
      sum.examples += part.examples;
    }
    gradient = joined(gradients, shares, weights);
    return sum;
  }

  // Gradients are added in order. A running statistic is the mean of the parts' by their shares; another buffer goes
  // from its value by each part's change, by its share.
  [[nodiscard]] Floats joined(const std::vector<Floats>& parts, const std::vector<float>& shares,
                              const Floats& weights) const {
    Floats all = parts[0];
    for (std::size_t part = 1; part < parts.size(); ++part) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = all[i] + parts[part][i];
      }
    }
    each_of_state([&](std::size_t i, float momentum) {
      const float from = momentum > 0 ? 0.0F : weights[i];
      all[i] = from;
      for (std::size_t part = 0; part < parts.size(); ++part) {
        all[i] = all[i] + shares[part] * (parts[part][i] - from);
      }
    });
    return all;
  }

  template <typename See>
  void each_of_state(const See& see) const {
    for (std::size_t p = 0; p < job_.arena.parameters.size(); ++p) {
      const auto& [offset, elements] = job_.arena.extents[p];
      for (auto i = offset; job_.arena.parameters[p].group == Group::state && i < offset + elements; ++i) {
        see(i, job_.arena.parameters[p].momentum);
      }
    }
  }

  // With local steps: what a slot takes off the weights, over the number of slots. Of state its change, by its share.
  Floats slot_change(std::uint64_t step, std::uint32_t slot) {
    const auto& training = job_.spec.training;
    const auto examples = pipeline_.take(step, slot);
    const std::size_t in_slot = examples.count;
    const std::size_t at_once = training.batch / training.slots / training.local.steps;
    auto update = Update::of_local_steps(job_);
    auto weights = weights_;
    for (std::uint32_t local = 0; local * at_once < in_slot; ++local) {
      const auto begin = local * at_once;
      train_on(examples, begin, std::min(in_slot, begin + at_once), {step, slot, 0, training.seed, local}, update,
               weights);
    }
    auto change = weights;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      change[i] = (weights_[i] - weights[i]) / static_cast<float>(training.slots);
    }
    const auto share =
        static_cast<float>(in_slot) / static_cast<float>(examples_of_step(training, job_.sizes.train, step));
    each_of_state([&](std::size_t i, float) { change[i] = share * (weights[i] - weights_[i]); });
    return change;
  }

  void train_on(const SlotExamples& examples, std::size_t begin, std::size_t end, SlotTask task, Update& update,
                Floats& weights) {
    const auto count = end - begin;
    task.step_examples = static_cast<std::uint32_t>(count);
    const auto batch = part_of(examples.batch(), static_cast<std::uint32_t>(begin), task.step_examples);
    Floats gradient(job_.arena.elements);
    const auto trained = compute(task, batch, weights, gradient);
    loss_sum_ += trained.loss_sum;
    examples_ += trained.examples;
    update.apply(task.local_step, task.local_step, gradient, weights);
  }

  Result result() {
    Result result;
    result.weights_sha256 = weights_digest(job_, weights_);
    result.optimizer_sha256 = state_digest(job_, update_.state());
    result.evaluated_sha256 = weights_digest(job_, update_.evaluated(weights_));
    result.train_loss = epoch_loss_.value_or(loss_sum_ / examples_);
    const auto correct = count_correct();
    result.evaluated = job_.sizes.test > 0;
    result.test_accuracy = result.evaluated ? correct / job_.sizes.test : 0;
    return result;
  }

  double count_correct() {
    constexpr std::uint32_t kAtOnce = 64;
    double correct = 0;
    const auto weights = update_.evaluated(weights_);
    for (std::uint32_t begin = 0; begin < job_.sizes.test; begin += kAtOnce) {
      const auto count = std::min(kAtOnce, job_.sizes.test - begin);
      const auto examples = read_examples(*dataset_, DataSplit::test, begin, count);
      correct += model_->evaluate(examples.batch(), weights).correct;
    }
    return correct;
  }

  const Job& job_;
  std::unique_ptr<Dataset> dataset_;
  Pipeline pipeline_;
  std::unique_ptr<Model> model_;
  Floats weights_;
  Update update_;
  double loss_sum_ = 0;  // of the epoch
  double examples_ = 0;
  std::optional<double> epoch_loss_;  // of the last whole epoch
};

}  // namespace

Result train(const Job& job, const std::set<std::uint64_t>& skipped) { return Trainer(job).run(skipped); }

}  // namespace ballast::reference
