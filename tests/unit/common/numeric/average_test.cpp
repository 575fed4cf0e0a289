// Moving averages of weights, element by element.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/numeric/optimizer.h"
#include "tests/unit/common/numeric/samples.h"

namespace ballast {
namespace {

// torch.lerp's formula.
float lerp_of(float average, float weight, float share) {
  const volatile float way = weight - average;
  if (share < 0.5F) {
    const volatile float part = share * way;
    return average + part;
  }
  const volatile float rest = 1.0F - share;
  const volatile float part = way * rest;
  return weight - part;
}

std::vector<InstructionSet> average_sets() {
  std::vector<InstructionSet> found;
  for (const auto set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
    if (supported(set)) {
      found.push_back(set);
    }
  }
  return found;
}

TEST_CASE("an average goes a share of its way to the weights, from the nearer end, with every instruction set") {
  for (const double decay : {0.9999, 0.999, 0.9, 0.51, 0.5, 0.3, 0.0}) {
    for (const std::size_t size : {0U, 1U, 7U, 16U, 203U}) {
      CAPTURE(decay);
      CAPTURE(size);
      const std::vector<float> weights = sample(size, 1);
      const std::vector<float> before = sample(size, 2);
      std::vector<float> expected(size);
      for (std::size_t i = 0; i < size; ++i) {
        expected[i] = lerp_of(before[i], weights[i], static_cast<float>(1 - decay));
      }
      for (const auto set : average_sets()) {
        std::vector<float> average = before;
        average_weights(weights, decay, average, set);
        CHECK(same_bits(average, expected));
      }
    }
  }
}

TEST_CASE("an average without decay is the weights, and one of equal values stays") {
  const std::vector<float> weights = sample(99, 3);
  std::vector<float> average = sample(99, 4);
  average_weights(weights, 0, average);
  CHECK(same_bits(average, weights));
  average_weights(weights, 0.999, average);
  CHECK(same_bits(average, weights));
}

TEST_CASE("an average of another size than the weights is refused") {
  const std::vector<float> weights(3);
  std::vector<float> average(4);
  CHECK_THROWS_AS(average_weights(weights, 0.9, average), std::invalid_argument);
}

}  // namespace
}  // namespace ballast
