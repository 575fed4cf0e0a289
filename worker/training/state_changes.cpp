#include "worker/training/state_changes.h"

#include <algorithm>
#include <utility>

namespace ballast {

namespace {

class StateChanges : public Model {
 public:
  StateChanges(std::unique_ptr<Model> model, const Arena& arena, StatisticsTravel travel)
      : model_(std::move(model)), arena_(arena), blends_(travel == StatisticsTravel::as_changes) {}

  BatchResult train(const SlotTask& task, const Batch& batch, const WeightArena& weights, std::span<float> gradients,
                    const GradientReady& ready) override {
    if (batch.count == 0) {
      return model_->train(task, batch, weights, gradients, ready);
    }
    const float share = static_cast<float>(batch.count) / static_cast<float>(task.step_examples);
    return model_->train(task, batch, weights, gradients, [&](std::size_t parameter) {
      const auto& [offset, elements] = arena_.extents[parameter];
      if (arena_.parameters[parameter].group == Group::state) {
        change(arena_.parameters[parameter].momentum, share, weights.values.subspan(offset, elements),
               gradients.subspan(offset, elements));
      }
      ready(parameter);
    });
  }
  BatchResult evaluate(const Batch& batch, const WeightArena& weights) override {
    return model_->evaluate(batch, weights);
  }
  void predict(const Batch& batch, const WeightArena& weights, std::span<float> probabilities) override {
    model_->predict(batch, weights, probabilities);
  }
  [[nodiscard]] ComputeTimes last_times() const override { return model_->last_times(); }
  void pin(std::span<float> arena) override { model_->pin(arena); }

 private:
  void change(float momentum, float share, std::span<const float> before, std::span<float> made) const {
    if (momentum != 0 && !blends_) {
      return;
    }
    for (std::size_t i = 0; i < made.size(); ++i) {
      const float change = made[i] - before[i];
      made[i] = share * (momentum == 0 ? change : momentum * change);
    }
  }

  std::unique_ptr<Model> model_;
  const Arena& arena_;
  bool blends_;  // statistics
};

}  // namespace

std::unique_ptr<Model> with_state_changes(std::unique_ptr<Model> model, const Arena& arena, StatisticsTravel travel) {
  const bool has_state =
      std::ranges::any_of(arena.parameters, [](const auto& parameter) { return parameter.group == Group::state; });
  if (!has_state) {
    return model;
  }
  return std::make_unique<StateChanges>(std::move(model), arena, travel);
}

}  // namespace ballast
