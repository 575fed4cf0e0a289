// add_into against a plain scalar loop that the compiler may not vectorise, bit for bit.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "common/numeric/vector.h"
#include "tests/unit/common/numeric/samples.h"

namespace ballast {
namespace {

TEST_CASE("add_into gives the scalar sum's bits at any alignment and size") {
  for (const std::size_t size : kSizes) {
    const std::vector<float> left = sample(size, 0);
    const std::vector<float> right = sample(size, 1);
    std::vector<float> expected(size);
    for (std::size_t i = 0; i < size; ++i) {
      volatile float sum = left[i] + right[i];
      expected[i] = sum;
    }
    for (const std::size_t shift : {0U, 1U, 3U, 4U, 17U}) {
      Shifted sums(left, shift);
      Shifted addends(right, shift / 2);
      add_into(sums.data(), addends.data(), size);
      CHECK(same_bits(sums.values(), expected));
      Shifted looked_at(left, shift);
      const auto finite = add_into_looking(looked_at.data(), addends.data(), size);
      CHECK(same_bits(looked_at.values(), expected));
      CHECK((finite.left && finite.right && finite.sum));
    }
  }
}

TEST_CASE("what is not finite is found wherever it stands, on its side, and an overflow on neither") {
  constexpr float kLargest = std::numeric_limits<float>::max();
  struct Case {
    float left;
    float right;
    Finite found;
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Case> cases = {{kLargest, 0, {}},
                                   {-kLargest, kLargest, {}},
                                   {kLargest, kLargest, {true, true, false}},
                                   {kInfinity, 1, {false, true, false}},
                                   {1, -kInfinity, {true, false, false}},
                                   {nan, 1, {false, true, false}},
                                   {1, -nan, {true, false, false}},
                                   {kInfinity, -kInfinity, {false, false, false}},
                                   {std::numeric_limits<float>::signaling_NaN(), 0, {false, true, false}},
                                   {std::numeric_limits<float>::denorm_min(), 0, {}}};
  for (const std::size_t size : {1U, 5U, 1023U, 1024U, 1025U, 5000U}) {
    for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
      for (const auto& [left_value, right_value, found] : cases) {
        std::vector<float> left(size, 0.5F);
        std::vector<float> right(size, -2.0F);
        left[at] = left_value;
        right[at] = right_value;
        CHECK(all_finite(left) == std::isfinite(left_value));
        Shifted sums(left, 3);
        Shifted addends(right, 1);
        const auto finite = add_into_looking(sums.data(), addends.data(), size);
        CHECK(finite.left == found.left);
        CHECK(finite.right == found.right);
        CHECK(finite.sum == found.sum);
      }
    }
  }
  CHECK(all_finite({}));
}

}  // namespace
}  // namespace ballast
