// add_into against a plain scalar loop that the compiler may not vectorise, bit for bit.
#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "common/numeric/vector.h"
#include "tests/unit/numeric/samples.h"

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
    }
  }
}

}  // namespace
}  // namespace ballast
