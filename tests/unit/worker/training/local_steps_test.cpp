#include "worker/training/local_steps.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "common/job/load.h"

namespace ballast {
namespace {

using Floats = std::vector<float>;

constexpr const char* kJob =
    "job: test\nmodel: {name: mlp, hidden: [3]}\ndata: {name: glyphs, train_examples: 100}\n"
    "training: {mode: local, batch: 16, slots: 2, epochs: 1, local: {steps: 4}}\n";

Job job_with(const std::vector<std::string>& overrides = {}) { return make_job(parse_job(kJob, "test", overrides)); }

// What the inner model was asked for.
struct Call {
  SlotTask task;
  std::vector<std::int32_t> labels;
  Floats features;
  Floats weights;
};

float gradient_at(std::size_t i, float weight, std::uint32_t local_step) {
  return 0.25F * weight + 0.03F * static_cast<float>(i % 7) - 0.05F * static_cast<float>(local_step);
}

// Its gradient is gradient_at(), but for one element of one local step where a fault is wanted.
class Recorder : public Model {
 public:
  Recorder(const Arena& arena, std::vector<Call>& calls) : arena_(arena), calls_(calls) {}

  BatchResult train(const SlotTask& task, const Batch& batch, const WeightArena& weights, std::span<float> gradients,
                    const GradientReady& ready) override {
    calls_.push_back({task,
                      {batch.labels.begin(), batch.labels.end()},
                      {batch.features.begin(), batch.features.end()},
                      {weights.values.begin(), weights.values.end()}});
    for (std::size_t p = arena_.parameters.size(); p-- > 0;) {
      const auto& extent = arena_.extents[p];
      for (auto i = extent.offset; i < extent.offset + extent.elements; ++i) {
        gradients[i] = gradient_at(i, weights.values[i], task.local_step);
      }
      ready(p);
    }
    if (fault && fault_step == task.local_step) {
      gradients[*fault] = fault_value;
    }
    return {2.0 * batch.count, batch.count / 2, batch.count};
  }
  BatchResult evaluate(const Batch& batch, const WeightArena& /*weights*/) override { return {7, 1, batch.count}; }
  void predict(const Batch&, const WeightArena&, std::span<float> probabilities) override { probabilities[0] = 5; }
  [[nodiscard]] ComputeTimes last_times() const override { return {3, 4}; }

  std::optional<std::size_t> fault;
  std::uint32_t fault_step = 0;
  float fault_value = std::numeric_limits<float>::quiet_NaN();

 private:
  const Arena& arena_;
  std::vector<Call>& calls_;
};

// One slot by a model around a recorder.
class Slot8 {
 public:
  explicit Slot8(const Job& job) : job_(job), before(job.arena.elements) {
    auto recorder = std::make_unique<Recorder>(job.arena, calls);
    inner = recorder.get();
    model = with_local_steps(std::move(recorder), job);
    for (std::size_t p = 0; p < job.arena.parameters.size(); ++p) {
      const auto& extent = job.arena.extents[p];
      for (auto i = extent.offset; i < extent.offset + extent.elements; ++i) {
        before[i] = 0.01F * static_cast<float>(i % 101) - 0.4F;
      }
    }
  }

  // With so many examples; what is not a parameter's is -9 before.
  Floats train(std::uint32_t examples, std::uint32_t step_examples = 16) {
    const auto features = job_.shape.features();
    Floats values(examples * features);
    std::vector<std::int32_t> labels(examples);
    for (std::uint32_t i = 0; i < examples; ++i) {
      labels[i] = static_cast<std::int32_t>(i);
      std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(i * features), features, static_cast<float>(i));
    }
    Floats gradients(job_.arena.elements, -9.0F);
    ready.clear();
    result = model->train({5, 1, step_examples, 77}, {examples, values, labels}, before, gradients,
                          [&](std::size_t parameter) { ready.push_back(parameter); });
    return gradients;
  }

 private:
  const Job& job_;

 public:
  std::vector<Call> calls;
  Recorder* inner = nullptr;
  std::unique_ptr<Model> model;
  Floats before;
  BatchResult result;
  std::vector<std::size_t> ready;
};

// For each element of each parameter, with the parameter's index.
template <typename Visit>
void for_each_element(const Job& job, const Visit& visit) {
  for (std::size_t p = 0; p < job.arena.parameters.size(); ++p) {
    const auto& extent = job.arena.extents[p];
    for (auto i = extent.offset; i < extent.offset + extent.elements; ++i) {
      visit(p, i);
    }
  }
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST_CASE("a slot's examples are cut into mini-batches, each trained on the weights that the one before left") {
  const auto job = job_with();
  Slot8 slot(job);
  slot.train(8);
  REQUIRE(slot.calls.size() == 4);
  for (std::uint32_t h = 0; h < 4; ++h) {
    const auto& call = slot.calls[h];
    CHECK(call.labels ==
          std::vector<std::int32_t>{static_cast<std::int32_t>(2 * h), static_cast<std::int32_t>(2 * h + 1)});
    CHECK(call.features.size() == 2 * job.shape.features());
    CHECK(call.features.front() == static_cast<float>(2 * h));
    CHECK(call.features.back() == static_cast<float>(2 * h + 1));
    CHECK(call.task.step_examples == 2);  // the mean over its own examples
    CHECK(call.task.local_step == h);
    CHECK((call.task.step == 5 && call.task.slot == 1 && call.task.seed == 77));
  }
  CHECK(slot.calls[0].weights == slot.before);
  for (std::uint32_t h = 1; h < 4; ++h) {
    for_each_element(job, [&](std::size_t, std::size_t i) {
      const float weight = slot.calls[h - 1].weights[i];
      REQUIRE(bits(slot.calls[h].weights[i]) == bits(weight - 0.01F * gradient_at(i, weight, h - 1)));
    });
  }
  CHECK(slot.result.loss_sum == 16);
  CHECK(slot.result.correct == 4);
  CHECK(slot.result.examples == 8);
  CHECK(slot.model->last_times().forward_us == 12);
  CHECK(slot.model->last_times().backward_us >= 16);
  CHECK(slot.model->evaluate({3, {}, {}}, slot.before).loss_sum == 7);
}

TEST_CASE("the contribution is the change over the number of slots, and nothing else is written") {
  const auto job = job_with();
  Slot8 slot(job);
  const auto gradients = slot.train(8);
  Floats expected(gradients.size(), -9.0F);
  for_each_element(job, [&](std::size_t, std::size_t i) {
    const float weight = slot.calls[3].weights[i];
    const float after = weight - 0.01F * gradient_at(i, weight, 3);
    expected[i] = (slot.before[i] - after) / 2.0F;
  });
  CHECK(std::memcmp(gradients.data(), expected.data(), expected.size() * sizeof(float)) == 0);
  std::vector<std::size_t> last_first;
  for (auto p = job.arena.parameters.size(); p-- > 0;) {
    last_first.push_back(p);
  }
  CHECK(slot.ready == last_first);
}

TEST_CASE("the inner optimizer begins anew with each slot") {
  for (const std::string name :
       {"sgd, momentum: 0.9", "adam", "adamw", "adagrad", "rmsprop, momentum: 0.5", "lars, momentum: 0.9", "lamb"}) {
    CAPTURE(name);
    const auto text = std::string(kJob);
    const auto at = text.find("{steps: 4}");
    const auto job = make_job(parse_job(
        std::string(text).replace(at, 10, "{steps: 4, optimizer: {name: " + name + ", learning_rate: 0.1}}"), "test"));
    Slot8 slot(job);
    const auto first = slot.train(8);
    slot.train(3);
    CHECK(slot.train(8) == first);
  }
}

TEST_CASE("adamw: bias corrections count the local steps, and decay spares biases") {
  const auto job = job_with({"training.local.optimizer.name=adamw", "training.local.optimizer.learning_rate=0.1",
                             "training.local.optimizer.weight_decay=0.5", "training.local.optimizer.beta1=0.8",
                             "training.local.optimizer.beta2=0.9"});
  Slot8 slot(job);
  const auto gradients = slot.train(4);  // two local steps
  REQUIRE(slot.calls.size() == 2);
  for_each_element(job, [&](std::size_t p, std::size_t i) {
    double w = slot.before[i];
    double m = 0;
    double v = 0;
    for (std::uint32_t h = 0; h < 2; ++h) {
      const double g = gradient_at(i, slot.calls[h].weights[i], h);
      m = 0.8 * m + 0.2 * g;
      v = 0.9 * v + 0.1 * g * g;
      w *= job.arena.parameters[p].group == Group::decay ? 1 - 0.1 * 0.5 : 1;
      w -= 0.1 / (1 - std::pow(0.8, h + 1)) * m / (std::sqrt(v) / std::sqrt(1 - std::pow(0.9, h + 1)) + 1e-8);
    }
    REQUIRE(gradients[i] == doctest::Approx((slot.before[i] - w) / 2).epsilon(1e-4));
  });
}

TEST_CASE("lars and lamb: each parameter's ratio is of all of it, but for those without one") {
  for (const std::string name : {"lars", "lamb"}) {
    CAPTURE(name);
    const auto job = job_with({"training.local.optimizer.name=" + name, "training.local.optimizer.learning_rate=0.5",
                               "training.local.optimizer.weight_decay=0.25", "training.clip.value=0.1",
                               "training.parameter_groups=[{match: '*.bias', trust_ratio: false}]"});
    Slot8 slot(job);
    slot.train(4);
    REQUIRE(slot.calls.size() == 2);
    std::vector<double> of_weights(job.arena.parameters.size());
    std::vector<double> of_updates(job.arena.parameters.size());
    const auto decay = [&](std::size_t p) { return job.arena.parameters[p].group == Group::decay ? 0.25 : 0.0; };
    // Of the first step, whose corrected means are the gradient and its square.
    const auto update = [&](std::size_t p, std::size_t i) {
      const double g = std::clamp(gradient_at(i, slot.before[i], 0), -0.1F, 0.1F);
      return name == "lars" ? g : g / (std::abs(g) + 1e-6) + decay(p) * slot.before[i];
    };
    for_each_element(job, [&](std::size_t p, std::size_t i) {
      of_weights[p] += static_cast<double>(slot.before[i]) * slot.before[i];
      of_updates[p] += update(p, i) * update(p, i);
    });
    for_each_element(job, [&](std::size_t p, std::size_t i) {
      const double w = std::sqrt(of_weights[p]);
      const double u = std::sqrt(of_updates[p]);
      const double ratio = job.arena.parameters[p].name.ends_with("bias") ? 1
                           : name == "lars"                               ? 0.001 * w / (u + 0.25 * w + 1e-8)
                                                                          : w / u;
      const double way = update(p, i) + (name == "lars" ? decay(p) * slot.before[i] : 0);
      REQUIRE(slot.calls[1].weights[i] == doctest::Approx(slot.before[i] - 0.5 * ratio * way).epsilon(1e-4));
    });
  }
}

TEST_CASE("the tail of an epoch: fewer local steps, one with fewer examples, or none") {
  const auto job = job_with();
  Slot8 slot(job);
  slot.train(5, 13);
  REQUIRE(slot.calls.size() == 3);
  CHECK(slot.calls[2].task.step_examples == 1);
  CHECK(slot.calls[2].labels == std::vector<std::int32_t>{4});
  CHECK(slot.result.examples == 5);
  slot.calls.clear();
  const auto gradients = slot.train(0, 8);
  CHECK(slot.calls.empty());
  CHECK(slot.result.examples == 0);
  CHECK(slot.ready.size() == job.arena.parameters.size());
  for_each_element(job, [&](std::size_t, std::size_t i) { REQUIRE(bits(gradients[i]) == 0); });
}

// The scale that the limit on a norm makes of a gradient's elements.
float scale_of(double limit, double squares) {
  return static_cast<float>(std::min(1.0, limit / (std::sqrt(squares) + 1e-6)));
}

TEST_CASE("training.clip limits the gradients of local steps") {
  for (const std::string kind : {"value", "tensor_norm", "global_norm"}) {
    CAPTURE(kind);
    const auto job = job_with({"training.clip." + kind + "=0.05"});
    Slot8 slot(job);
    slot.train(8);
    REQUIRE(slot.calls.size() == 4);
    double all = 0;
    std::vector<double> each(job.arena.parameters.size());
    for_each_element(job, [&](std::size_t p, std::size_t i) {
      const double g = gradient_at(i, slot.before[i], 0);
      all += g * g;
      each[p] += g * g;
    });
    REQUIRE(all > 0.05 * 0.05);
    for_each_element(job, [&](std::size_t p, std::size_t i) {
      const float g = gradient_at(i, slot.before[i], 0);
      const float clipped = kind == "value"         ? std::clamp(g, -0.05F, 0.05F)
                            : kind == "tensor_norm" ? g * scale_of(0.05, each[p])
                                                    : g * scale_of(0.05, all);
      REQUIRE(slot.calls[1].weights[i] == doctest::Approx(slot.before[i] - 0.01F * clipped).epsilon(1e-6));
    });
  }
}

TEST_CASE("a gradient that is not finite shows in the contribution at its element, whatever is clipped") {
  for (const std::string clip : {"", "value", "tensor_norm", "global_norm"}) {
    for (const std::string optimizer : {"sgd", "adam", "adagrad", "rmsprop"}) {
      for (const float value : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
        CAPTURE(clip);
        CAPTURE(optimizer);
        CAPTURE(value);
        std::vector<std::string> overrides = {"training.local.optimizer.name=" + optimizer};
        if (!clip.empty()) {
          overrides.push_back("training.clip." + clip + "=0.05");
        }
        const auto job = job_with(overrides);
        Slot8 slot(job);
        const auto bad = job.arena.extents[1].offset + 1;
        slot.inner->fault = bad;
        slot.inner->fault_step = 1;
        slot.inner->fault_value = value;
        const auto gradients = slot.train(8);
        CHECK(slot.calls.size() == 2);  // it is the last step
        for_each_element(job, [&](std::size_t, std::size_t i) { REQUIRE(std::isfinite(gradients[i]) == (i != bad)); });
      }
    }
  }
}

TEST_CASE("state becomes what each step makes of it, and the slot sends its change by its share") {
  auto job = job_with();
  const auto parameter = [](std::string name, std::uint32_t elements, Group group) {
    Parameter made;
    made.name = std::move(name);
    made.shape = {elements};
    made.group = group;
    return made;
  };
  job.arena = lay_out({parameter("w", 5, Group::decay), parameter("mean", 3, Group::state)});
  Slot8 slot(job);
  const auto gradients = slot.train(4, 12);
  REQUIRE(slot.calls.size() == 2);
  const auto& extent = job.arena.extents[1];
  for (auto i = extent.offset; i < extent.offset + extent.elements; ++i) {
    CHECK(slot.calls[1].weights[i] == gradient_at(i, slot.before[i], 0));
    CHECK(gradients[i] == 4.0F / 12.0F * (gradient_at(i, slot.calls[1].weights[i], 1) - slot.before[i]));
  }
}

TEST_CASE("each local step blends its statistic into what the one before has left") {
  auto job = job_with();
  job.arena = lay_out({{"w", {5}, Group::decay, {}}, {"mean", {3}, Group::state, {}, 0.125F}});
  Slot8 slot(job);
  const auto gradients = slot.train(4, 12);
  REQUIRE(slot.calls.size() == 2);
  const auto blended = [](float old, float statistic) { return old + 0.125F * (statistic - old); };
  const auto& extent = job.arena.extents[1];
  for (auto i = extent.offset; i < extent.offset + extent.elements; ++i) {
    const float between = slot.calls[1].weights[i];
    CHECK(between == blended(slot.before[i], gradient_at(i, slot.before[i], 0)));
    CHECK(gradients[i] == 4.0F / 12.0F * (blended(between, gradient_at(i, between, 1)) - slot.before[i]));
  }
}

TEST_CASE("local steps have the rate and the decay of the first group that matches a parameter") {
  const auto job = job_with({"training.local.optimizer.learning_rate=0.5", "training.local.optimizer.weight_decay=0.25",
                             "training.parameter_groups=[{match: 'fc1.*', learning_rate: 0.125, weight_decay: 0.5}, "
                             "{match: fc*.weight, learning_rate: 0}]"});
  Slot8 slot(job);
  slot.train(4);
  REQUIRE(slot.calls.size() == 2);
  for_each_element(job, [&](std::size_t p, std::size_t i) {
    const auto& name = job.arena.parameters[p].name;
    const float rate = name.starts_with("fc1") ? 0.5F * 0.125F : name == "fc2.weight" ? 0.0F : 0.5F;
    const float decay = name.starts_with("fc1") ? 0.5F : name == "fc2.weight" ? 0.25F : 0.0F;
    const float before = slot.before[i];
    const float gradient = gradient_at(i, before, 0);
    REQUIRE(slot.calls[1].weights[i] == before - rate * (decay == 0 ? gradient : gradient + decay * before));
  });
}

}  // namespace
}  // namespace ballast
