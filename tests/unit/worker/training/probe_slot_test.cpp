#include "worker/training/probe_slot.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "worker/models/check_batch.h"

namespace ballast {
namespace {

ExampleShape sentence(std::uint32_t steps) {
  ExampleShape shape;
  shape.classes = 5;
  shape.vocabulary = 1000;
  shape.steps = steps;
  shape.same_length = false;
  return shape;
}

std::vector<ExampleShape> shapes() {
  auto trees = sentence(20);
  trees.trees = true;
  trees.labels = Labels::steps;
  auto language = sentence(32);
  language.same_length = true;
  language.labels = Labels::steps;
  ExampleShape several{3, 4, 4, 6};
  several.labels = Labels::several;
  ExampleShape numbers{7, 1, 1, 2};
  numbers.labels = Labels::numbers;
  ExampleShape floats{2, 1, 1, 3, 0, 11, false};
  return {{1, 28, 28, 10}, sentence(50), sentence(1), trees, language, several, numbers, floats};
}

TEST_CASE("a probe of every kind of example is what a network takes, and the same each time") {
  for (const auto& shape : shapes()) {
    const auto slot = probe_slot(shape, 9, 1);
    CHECK(slot.count == 9);
    CHECK_NOTHROW(check_batch(slot.batch(), shape));
    const auto again = probe_slot(shape, 9, 1);
    CHECK(slot.features == again.features);
    CHECK(slot.tokens == again.tokens);
    CHECK(slot.children == again.children);
    CHECK(slot.lengths == again.lengths);
    CHECK(slot.targets == again.targets);
    const auto other = probe_slot(shape, 9, 2);
    CHECK((slot.features != other.features || slot.tokens != other.tokens));
  }
}

TEST_CASE("the probe's sequences differ in length, the first is the longest, and its trees are whole") {
  auto shape = sentence(20);
  shape.trees = true;
  const auto slot = probe_slot(shape, 12, 1);
  CHECK(slot.lengths[0] == 19);
  CHECK(slot.steps == 20);
  CHECK(std::ranges::min(slot.lengths) < 19);
  bool bends_right = false;
  for (std::uint32_t i = 0; i < slot.count; ++i) {
    const auto length = slot.lengths[i];
    CHECK(length % 2 == 1);
    const auto* children = &slot.children[std::size_t{i} * 2 * slot.steps];
    std::vector<int> parents(length);
    for (std::uint32_t node = 0; node < length; ++node) {
      for (const auto child : {children[2 * node], children[2 * node + 1]}) {
        if (child >= 0) {
          ++parents[static_cast<std::size_t>(child)];
        }
      }
      bends_right = bends_right || (children[2 * node + 1] >= 0 && children[2 * children[2 * node + 1]] >= 0);
    }
    CHECK(std::count(parents.begin(), parents.end() - 1, 1) == length - 1);  // every node but the root has one
    CHECK(parents.back() == 0);
  }
  CHECK(bends_right);
}

}  // namespace
}  // namespace ballast
