#include "worker/training/gradient_fault.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/worker/data/files.h"
#include "tests/unit/worker/training/small_model.h"

namespace ballast {
namespace {

using namespace testing;

constexpr Slot kSlots = 4;

// The gradients of one slot, as they are when each parameter is said to be ready.
std::vector<float> train(Model& model, const Arena& arena, Step step, Slot slot) {
  const std::vector<float> weights(arena.elements, 0.5F);
  const std::vector<std::int32_t> labels(2);
  std::vector<float> gradients(arena.elements);
  std::vector<float> when_ready(arena.elements);
  model.train({step, slot, 8, 1}, {2, {}, labels}, weights, gradients, [&](std::size_t parameter) {
    const auto [offset, elements] = arena.extents[parameter];
    for (auto i = offset; i < offset + elements; ++i) {
      when_ready[i] = gradients[i];
    }
  });
  return when_ready;
}

std::string refusal(const std::string& text) {
  const auto arena = small_arena();
  return error_of([&] { parse_gradient_faults(text, arena, kSlots); });
}

TEST_CASE("a fault spoils one element of one parameter in one slot of one step") {
  const auto arena = small_arena();
  const auto sound = small_model(arena);
  const auto faulty =
      with_gradient_faults(small_model(arena), arena, parse_gradient_faults("nan@3:1:b,huge@3:2:bias", arena, kSlots));
  for (Step step = 2; step < 5; ++step) {
    for (Slot slot = 0; slot < kSlots; ++slot) {
      auto expected = train(*sound, arena, step, slot);
      auto found = train(*faulty, arena, step, slot);
      if (step == 3 && slot == 1) {
        CHECK(std::isnan(found[arena.extents[1].offset]));
        found[arena.extents[1].offset] = expected[arena.extents[1].offset];
      }
      if (step == 3 && slot == 2) {
        expected[arena.extents[2].offset] = std::numeric_limits<float>::max();
      }
      CHECK(found == expected);
    }
  }
  const std::vector<float> weights(arena.elements, 0.5F);
  const std::vector<std::int32_t> labels(2);
  CHECK(faulty->evaluate({2, {}, labels}, weights).loss_sum == sound->evaluate({2, {}, labels}, weights).loss_sum);
}

TEST_CASE("faults are read as documented") {
  const auto arena = small_arena();
  const auto faults = parse_gradient_faults("inf@0:3:a,nan@123456789012:0:bias", arena, kSlots);
  REQUIRE(faults.size() == 2);
  CHECK(std::isinf(faults[0].value));
  CHECK(faults[0].step == 0);
  CHECK(faults[0].slot == 3);
  CHECK(faults[0].parameter == 0);
  CHECK(std::isnan(faults[1].value));
  CHECK(faults[1].step == 123456789012U);
  CHECK(faults[1].parameter == 2);
  CHECK(parse_gradient_faults("", arena, kSlots).empty());
}

TEST_CASE("what is no fault is refused with what it may be") {
  CHECK(contains(refusal("zero@3:1:a"), "BALLAST_FAULT: zero@3:1:a: kinds are nan, inf and huge"));
  CHECK(contains(refusal("nan@x:1:a"), "'x' is no step; say KIND@STEP:SLOT:PARAMETER"));
  CHECK(contains(refusal("nan@3"), "'' is no slot"));
  CHECK(contains(refusal("nan@3:-1:a"), "'-1' is no slot"));
  CHECK(contains(refusal("nan@3:4:a"), "a step has 4 slots, numbered from 0"));
  CHECK(contains(refusal("nan@3:1:c"), "no parameter 'c'; it has a, b, bias"));
  CHECK(contains(refusal("nan@3:1:a,,"), "kinds are"));
}

TEST_CASE("without faults the model is left as it is; the environment brings them to every process") {
  const auto arena = small_arena();
  auto model = small_model(arena);
  const Model* const before = model.get();
  {
    const Environment none("BALLAST_FAULT", "");
    model = with_gradient_faults(std::move(model), arena, kSlots);
    CHECK(model.get() == before);
  }
  const Environment some("BALLAST_FAULT", "nan@0:0:a");
  model = with_gradient_faults(std::move(model), arena, kSlots);
  CHECK(std::isnan(train(*model, arena, 0, 0)[0]));
}

}  // namespace
}  // namespace ballast
