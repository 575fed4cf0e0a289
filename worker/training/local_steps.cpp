#include "worker/training/local_steps.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "worker/compute/host_arena.h"
#include "worker/training/inner_optimizer.h"

namespace ballast {

namespace {

class LocalSteps : public Model {
 public:
  LocalSteps(std::unique_ptr<Model> model, const Job& job)
      : job_(job),
        optimizer_(job),
        gradient_(job.arena.elements),
        copies_{HostArena(job.arena.elements), HostArena(job.arena.elements)},
        model_(std::move(model)) {
    model_->pin(gradient_.values());
    for (const auto& copy : copies_) {
      model_->pin(copy.values());
    }
  }

  BatchResult train(const SlotTask& task, const Batch& batch, const WeightArena& weights, std::span<float> gradients,
                    const GradientReady& ready) override {
    times_ = {};
    optimizer_.begin();
    BatchResult result;
    WeightArena trained = weights;
    for (std::uint32_t step = 0; step < job_.spec.training.local.steps; ++step) {
      const auto part = mini_batch(batch, step);
      if (part.count == 0) {
        break;
      }
      const auto next = copies_[step % copies_.size()].values();
      const bool finite = train_once(task, step, part, trained, next, result);
      trained = next;  // unnamed: written anew by every slot
      if (!finite) {
        break;
      }
    }
    write_change(task, batch, weights.values, trained.values, gradients, ready);
    return result;
  }

  BatchResult evaluate(const Batch& batch, const WeightArena& weights) override {
    return model_->evaluate(batch, weights);
  }
  void predict(const Batch& batch, const WeightArena& weights, std::span<float> probabilities) override {
    model_->predict(batch, weights, probabilities);
  }
  [[nodiscard]] ComputeTimes last_times() const override { return times_; }

 private:
  [[nodiscard]] Batch mini_batch(const Batch& batch, std::uint32_t step) const {
    const auto& training = job_.spec.training;
    const std::uint32_t share = training.batch / training.slots / training.local.steps;
    const auto begin = std::min(step * share, batch.count);
    return part_of(batch, begin, std::min(share, batch.count - begin));
  }

  bool train_once(const SlotTask& task, std::uint32_t step, const Batch& part, const WeightArena& weights,
                  std::span<float> next, BatchResult& result) {
    const SlotTask local{task.step, task.slot, part.count, task.seed, step};
    const auto trained = model_->train(local, part, weights, gradient_.values(), [](std::size_t) {});
    result.loss_sum += trained.loss_sum;
    result.correct += trained.correct;
    result.examples += trained.examples;
    const auto start = std::chrono::steady_clock::now();
    const bool finite = optimizer_.step(weights.values, gradient_.values(), next);
    const auto updating = std::chrono::steady_clock::now() - start;
    times_.forward_us += model_->last_times().forward_us;
    times_.backward_us +=
        model_->last_times().backward_us +
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(updating).count());
    return finite;
  }

  // Last parameters first, as a backward pass would.
  void write_change(const SlotTask& task, const Batch& batch, std::span<const float> before,
                    std::span<const float> after, std::span<float> gradients, const GradientReady& ready) const {
    const auto slots = static_cast<float>(job_.spec.training.slots);
    const float share =
        batch.count == 0 ? 0.0F : static_cast<float>(batch.count) / static_cast<float>(task.step_examples);
    for (std::size_t parameter = job_.arena.parameters.size(); parameter-- > 0;) {
      const auto& extent = job_.arena.extents[parameter];
      const bool is_state = job_.arena.parameters[parameter].group == Group::state;
      for (auto i = extent.offset; i < extent.offset + extent.elements; ++i) {
        gradients[i] = is_state ? share * (after[i] - before[i]) : (before[i] - after[i]) / slots;
      }
      ready(parameter);
    }
  }

  const Job& job_;
  InnerOptimizer optimizer_;
  HostArena gradient_;
  std::array<HostArena, 2> copies_;  // of the weights: one is read while the other is written
  std::unique_ptr<Model> model_;     // after the arenas, which must outlive it
  ComputeTimes times_;
};

}  // namespace

std::unique_ptr<Model> with_local_steps(std::unique_ptr<Model> model, const Job& job) {
  return std::make_unique<LocalSteps>(std::move(model), job);
}

}  // namespace ballast
