#include "worker/training/micro_batches.h"

#include <algorithm>
#include <utility>

#include "worker/compute/host_arena.h"

namespace ballast {

namespace {

class MicroBatches : public Model {
 public:
  MicroBatches(std::unique_ptr<Model> model, const Arena& arena, std::uint32_t examples)
      : arena_(arena), examples_(examples), sum_(arena.elements), part_(arena.elements), model_(std::move(model)) {
    model_->pin(sum_.values());
    model_->pin(part_.values());
  }

  BatchResult train(const SlotTask& task, const Batch& batch, const WeightArena& weights, std::span<float> gradients,
                    const GradientReady& ready) override {
    if (batch.count == 0) {
      times_ = {};
      return model_->train(task, batch, weights, gradients, ready);
    }
    times_ = {};
    const auto parts = (batch.count + examples_ - 1) / examples_;
    BatchResult result;
    for (std::uint32_t part = 0; part < parts; ++part) {
      const bool last = part + 1 == parts;
      const auto begin = part * examples_;
      const auto examples = part_of(batch, begin, std::min(examples_, batch.count - begin));
      const auto share = static_cast<float>(examples.count) / static_cast<float>(batch.count);
      auto of_part = task;
      of_part.local_step = task.local_step * parts + part;
      const auto written = last ? gradients : part_.values();
      add(result, model_->train(of_part, examples, weights, written, [&](std::size_t parameter) {
        join(parameter, weights.values, share, part == 0, written);
        if (last) {
          ready(parameter);
        }
      }));
    }
    return result;
  }

  BatchResult evaluate(const Batch& batch, const WeightArena& weights) override {
    return model_->evaluate(batch, weights);
  }
  void predict(const Batch& batch, const WeightArena& weights, std::span<float> predictions) override {
    model_->predict(batch, weights, predictions);
  }
  [[nodiscard]] ComputeTimes last_times() const override { return times_; }
  void pin(std::span<float> arena) override { model_->pin(arena); }

 private:
  void add(BatchResult& sum, const BatchResult& part) {
    sum.loss_sum += part.loss_sum;
    sum.correct += part.correct;
    sum.examples += part.examples;
    times_.forward_us += model_->last_times().forward_us;
    times_.backward_us += model_->last_times().backward_us;
  }

  // What is joined so far is in sum_, and in `written` too, which is whole after the last part.
  void join(std::size_t parameter, std::span<const float> weights, float share, bool first, std::span<float> written) {
    const auto [offset, elements] = arena_.extents[parameter];
    const bool is_state = arena_.parameters[parameter].group == Group::state;
    const bool is_statistic = is_state && arena_.parameters[parameter].momentum > 0;
    const auto sum = sum_.values();
    for (auto i = offset; i < offset + elements; ++i) {
      const float old = is_state && !is_statistic ? weights[i] : 0.0F;
      const float made = is_state ? share * (written[i] - old) : written[i];
      sum[i] = !first ? sum[i] + made : is_state ? old + made : made;
      written[i] = sum[i];
    }
  }

  const Arena& arena_;
  std::uint32_t examples_;
  HostArena sum_;
  HostArena part_;
  ComputeTimes times_;
  std::unique_ptr<Model> model_;  // last: it lets go of what it has pinned
};

}  // namespace

std::unique_ptr<Model> with_micro_batches(std::unique_ptr<Model> model, const Arena& arena, std::uint32_t examples) {
  if (examples == 0) {
    return model;
  }
  return std::make_unique<MicroBatches>(std::move(model), arena, examples);
}

}  // namespace ballast
