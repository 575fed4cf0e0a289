// The update of one step, written from the definitions of PyTorch's optimizers, learning rate schedules and
// clip_grad_norm_, and for lars and lamb from their papers, element by element: no vectors, nothing of common/numeric
// or common/job/schedule.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/job/job.h"

namespace ballast::reference {

// What the optimizer keeps, and the moving average of the weights: tensors as large as the arena.
class Update {
 public:
  explicit Update(const Job& job);
  // Of training.local: the steps within a slot.
  static Update of_local_steps(const Job& job);

  // `gradient` is the mean over the step's examples; of state the mean change, but within slots the new value or the
  // statistic.
  // `updates_before`: steps before this one that were not skipped.
  void apply(std::uint64_t step, std::uint64_t updates_before, std::vector<float>& gradient,
             std::vector<float>& weights);

  // The same for one chunk, by one item's gradient. Refuses clipping by norm.
  struct Item {
    float damping = 1;         // divides the step
    float staleness = 1;       // divides the change of a buffer
    bool has_examples = true;  // or it changes no state
  };
  void apply_to_chunk(const Chunk& chunk, std::uint64_t step, std::uint64_t updates_before, const Item& item,
                      std::vector<float>& gradient, std::vector<float>& weights);

  // In the order in which PyTorch lists them, then the average; none for plain SGD without one.
  [[nodiscard]] std::span<std::vector<float>> state() { return state_; }
  // What the job evaluates of these weights, the newest ones: the average of what is descended, where it has one.
  [[nodiscard]] std::vector<float> evaluated(const std::vector<float>& weights) const;

 private:
  struct Rules {
    OptimizerSpec optimizer;
    ScheduleSpec schedule;
    ClipSpec clip;
    bool within_slots = false;
    std::vector<ParameterGroup> groups;
    WeightAverageSpec average = {};
  };
  Update(const Job& job, Rules rules);

  struct Rates {
    float learning_rate = 0;
    float step_size = 0;  // adam: learning_rate / (1 - beta1^t); lamb: 1 / (1 - beta1^t)
    float root = 1;       // adam, lamb: sqrt(1 - beta2^t)
  };
  [[nodiscard]] Rates rates(std::uint64_t step, std::uint64_t updates_before) const;
  void clip(std::vector<float>& gradient) const;
  // Of the parameter: by the first group that matches it.
  struct Settings {
    float rate = 1;
    double decay = 0;
    bool has_ratio = true;
  };
  [[nodiscard]] Settings settings_of(const Parameter& parameter) const;
  void descend(std::size_t begin, std::size_t end, const Rates& rates, const Item& item,
               const std::vector<float>& ratios, const std::vector<float>& gradient, std::vector<float>& weights);
  // Of lars and lamb: the factor of each parameter's update; else 1.
  [[nodiscard]] std::vector<float> ratios(const Rates& rates, const std::vector<float>& gradient,
                                          const std::vector<float>& weights) const;
  // Of lamb: what learning rate and ratio are to multiply, of an element whose state is these.
  [[nodiscard]] float lamb_update(float w, float m, float v, const Rates& rates, double decay) const;
  void average(std::uint64_t version, const std::vector<float>& weights);
  [[nodiscard]] float changed(const Parameter& parameter, float w, float made, const Item& item) const;
  float next(std::size_t element, float w, float g, const Rates& rates);
  float next_by_trust(std::size_t element, float w, float g, const Rates& rates, double decay);

  // The optimizer's name, told apart once and not at each element.
  enum class Kind : std::uint8_t { sgd, adam, adamw, adagrad, rmsprop, lars, lamb };
  static Kind kind_of(const OptimizerSpec& optimizer);
  [[nodiscard]] bool is_by_trust() const { return kind_ == Kind::lars || kind_ == Kind::lamb; }

  const Job& job_;
  Rules rules_;
  Kind kind_;
  float epsilon_;
  std::size_t states_;  // of an element, without its average
  std::vector<std::vector<float>> state_;
};

}  // namespace ballast::reference
