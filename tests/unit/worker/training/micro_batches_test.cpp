#include "worker/training/micro_batches.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "tests/numeric/draw_examples.h"

namespace ballast {
namespace {

using Floats = std::vector<float>;

Parameter parameter(const std::string& name, std::uint32_t elements, Group group, float momentum = 0) {
  Parameter made{name, {elements}, group, {}};
  made.momentum = momentum;
  return made;
}

// A weight, a running statistic and a buffer that is no statistic.
Arena arena_of_three() {
  return lay_out({parameter("weight", 20, Group::decay), parameter("mean", 3, Group::state, 0.1F),
                  parameter("buffer", 2, Group::state)});
}

// Writes a value of (first feature, element) and notes what it was told.
class Noting : public Model {
 public:
  struct Call {
    SlotTask task;
    std::uint32_t count = 0;
    float first = 0;
  };
  Noting(const Arena& arena, std::vector<Call>& calls) : arena_(arena), calls_(calls) {}

  BatchResult train(const SlotTask& task, const Batch& batch, const WeightArena& /*weights*/,
                    std::span<float> gradients, const GradientReady& ready) override {
    calls_.push_back({task, batch.count, batch.count > 0 ? batch.features[0] : 0});
    for (std::size_t i = arena_.parameters.size(); i-- > 0;) {
      const auto [offset, elements] = arena_.extents[i];
      for (auto at = offset; at < offset + elements; ++at) {
        gradients[at] = batch.count == 0 ? 0.0F : std::sin(batch.features[0] * 100 + static_cast<float>(at - offset));
      }
      ready(i);
    }
    return {static_cast<double>(batch.count), batch.count / 2, batch.count};
  }
  BatchResult evaluate(const Batch& /*batch*/, const WeightArena& /*weights*/) override { return {}; }
  void predict(const Batch& /*batch*/, const WeightArena& /*weights*/, std::span<float> /*predictions*/) override {}
  [[nodiscard]] ComputeTimes last_times() const override { return {3, 5}; }

 private:
  const Arena& arena_;
  std::vector<Call>& calls_;
};

struct MicroBatchedSlot {
  explicit MicroBatchedSlot(std::uint32_t count, std::uint32_t micro_batch)
      : examples(draw_examples({1, 2, 2, 3}, count, 4)),
        model(with_micro_batches(std::make_unique<Noting>(arena, calls), arena, micro_batch)),
        weights(arena.elements, 2.0F),
        gradients(arena.elements, 9.0F) {}

  BatchResult train() {
    return model->train({5, 1, 40, 7, 2}, examples.batch(), weights, gradients,
                        [this](std::size_t i) { order.push_back(i); });
  }

  Arena arena = arena_of_three();
  std::vector<Noting::Call> calls;
  Examples examples;
  std::unique_ptr<Model> model;
  Floats weights;
  Floats gradients;
  std::vector<std::size_t> order;
};

TEST_CASE("a slot's gradient is the sum of its micro-batches' gradients in their order") {
  MicroBatchedSlot slot(7, 3);
  const auto result = slot.train();
  REQUIRE(slot.calls.size() == 3);
  CHECK(result.examples == 7);
  CHECK(result.correct == 1 + 1 + 0);
  CHECK(result.loss_sum == 7);
  const auto value = [&](std::size_t call, std::size_t element) {
    return std::sin(slot.calls[call].first * 100 + static_cast<float>(element));
  };
  const auto [offset, elements] = slot.arena.extents[0];
  for (std::size_t i = 0; i < elements; ++i) {
    REQUIRE(slot.gradients[offset + i] == (value(0, i) + value(1, i)) + value(2, i));
  }
}

TEST_CASE("of a running statistic a slot has the mean by shares, of other state old plus the mean change") {
  MicroBatchedSlot slot(7, 3);
  slot.train();
  const float shares[] = {3.0F / 7.0F, 3.0F / 7.0F, 1.0F / 7.0F};
  const auto value = [&](std::size_t call, std::size_t element) {
    return std::sin(slot.calls[call].first * 100 + static_cast<float>(element));
  };
  for (const std::size_t parameter : {1U, 2U}) {
    const auto [offset, elements] = slot.arena.extents[parameter];
    const float old = parameter == 1 ? 0.0F : 2.0F;
    for (std::size_t i = 0; i < elements; ++i) {
      float expected = old + shares[0] * (value(0, i) - old);
      expected += shares[1] * (value(1, i) - old);
      expected += shares[2] * (value(2, i) - old);
      CHECK(slot.gradients[offset + i] == expected);
    }
  }
}

TEST_CASE("each micro-batch draws for itself, and knows the whole step's examples") {
  MicroBatchedSlot slot(7, 3);
  slot.train();
  REQUIRE(slot.calls.size() == 3);
  for (std::uint32_t part = 0; part < 3; ++part) {
    const auto& call = slot.calls[part];
    CHECK(call.task.local_step == 2 * 3 + part);
    CHECK(call.task.step_examples == 40);
    CHECK(call.task.slot == 1);
    CHECK(call.count == (part == 2 ? 1 : 3));
    CHECK(call.first == slot.examples.features[std::size_t{part} * 3 * 4]);
  }
  CHECK(slot.model->last_times().forward_us == 9);
  CHECK(slot.model->last_times().backward_us == 15);
}

TEST_CASE("gradients are ready once, when the last micro-batch has them, last parameters first") {
  MicroBatchedSlot slot(7, 3);
  slot.train();
  CHECK(slot.order == std::vector<std::size_t>{2, 1, 0});
}

TEST_CASE("a micro-batch that holds the whole slot changes nothing") {
  MicroBatchedSlot whole(6, 6);
  MicroBatchedSlot larger(6, 100);
  MicroBatchedSlot without(6, 0);
  whole.train();
  larger.train();
  without.train();
  for (const auto& [offset, elements] : {whole.arena.extents[0], whole.arena.extents[1]}) {
    for (auto i = offset; i < offset + elements; ++i) {
      REQUIRE(whole.gradients[i] == without.gradients[i]);
      REQUIRE(larger.gradients[i] == without.gradients[i]);
    }
  }
}

TEST_CASE("a slot without examples is one empty micro-batch") {
  MicroBatchedSlot slot(0, 3);
  CHECK(slot.train().examples == 0);
  CHECK(slot.calls.size() == 1);
  CHECK(slot.gradients[0] == 0.0F);
}

}  // namespace
}  // namespace ballast
