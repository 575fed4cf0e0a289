#include "common/arena/initial.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace ballast {
namespace {

std::vector<float> fill(const Initial& initial, std::size_t count, std::uint64_t seed = 1, std::uint32_t parameter = 0,
                        std::uint64_t first = 0) {
  std::vector<float> values(count, -77.0F);
  fill_initial(values, initial, seed, parameter, first);
  return values;
}

TEST_CASE("zero and constant fill every element") {
  CHECK(fill({Initial::Kind::zero, 9.0F}, 5) == std::vector<float>(5, 0.0F));
  CHECK(fill({Initial::Kind::constant, 1.5F}, 5) == std::vector<float>(5, 1.5F));
}

TEST_CASE("any range of a uniform parameter has the bytes of the whole") {
  const Initial uniform{Initial::Kind::uniform, 0.25F};
  const std::vector<float> whole = fill(uniform, 103, 42, 3);
  for (const std::size_t first : {0U, 1U, 2U, 3U, 4U, 50U, 99U, 102U}) {
    for (const std::size_t count : {0U, 1U, 2U, 3U, 4U, 5U, 9U, 103U}) {
      const std::size_t size = std::min<std::size_t>(count, whole.size() - first);
      const std::vector<float> part = fill(uniform, size, 42, 3, first);
      CHECK(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
    }
  }
}

TEST_CASE("uniform values fill [-b, b) and no more") {
  const float bound = 0.3F;
  const std::vector<float> values = fill({Initial::Kind::uniform, bound}, 100000);
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    REQUIRE(value >= -bound);
    REQUIRE(value < bound);
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  CHECK(sum / 1e5 == doctest::Approx(0).scale(1).epsilon(0.002));
  CHECK(squares / 1e5 == doctest::Approx(0.3 * 0.3 / 3).epsilon(0.01));
}

TEST_CASE("seed and parameter change the values") {
  const Initial uniform{Initial::Kind::uniform, 1.0F};
  CHECK(fill(uniform, 8, 1, 0) == fill(uniform, 8, 1, 0));
  CHECK(fill(uniform, 8, 1, 0) != fill(uniform, 8, 2, 0));
  CHECK(fill(uniform, 8, 1, 0) != fill(uniform, 8, 1, 1));
}

}  // namespace
}  // namespace ballast
