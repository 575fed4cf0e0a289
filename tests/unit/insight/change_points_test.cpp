#include "insight/change_points.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace ballast::insight {
namespace {

// With a scatter of that part.
std::vector<double> scattered(std::mt19937& generator, std::size_t count, double usual, double scatter) {
  std::normal_distribution<double> distribution(usual, scatter * usual);
  std::vector<double> values(count);
  std::ranges::generate(values, [&] { return distribution(generator); });
  return values;
}

TEST_CASE("changes: none in values that are alike, few or none") {
  CHECK(last_change({}) == 0);
  CHECK(last_change({1, 5, 9}) == 0);
  CHECK(last_change(std::vector<double>(40, 7)) == 0);
  CHECK(last_change(std::vector<double>(40, 0)) == 0);
}

TEST_CASE("changes: the newest of several, at its place") {
  std::vector<double> values(12, 100);
  values.resize(20, 200);
  values.resize(31, 150);
  CHECK(last_change(values) == 20);
}

TEST_CASE("changes: one that is too new, or odd values, are none") {
  std::vector<double> values(30, 100);
  values[7] = values[8] = 2'000;
  values[27] = 900;
  CHECK(last_change(values) == 0);
  values.back() = 200;
  CHECK(last_change(values) == 0);
}

TEST_CASE("changes: chance makes none of forty values that scatter by five or ten percent") {
  std::mt19937 generator(5);
  std::size_t found = 0;
  for (int i = 0; i < 1'000; ++i) {
    found += last_change(scattered(generator, 40, 100, i % 2 == 0 ? 0.05 : 0.1)) == 0 ? 0 : 1;
  }
  CHECK(found <= 5);
}

TEST_CASE("changes: half as fast is seen beside a scatter of ten percent, to within two values") {
  std::mt19937 generator(6);
  for (int i = 0; i < 100; ++i) {
    auto values = scattered(generator, 25, 100, 0.1);
    const auto after = scattered(generator, 15, 200, 0.1);
    values.insert(values.end(), after.begin(), after.end());
    const auto at = last_change(values);
    CHECK(at >= 23);
    CHECK(at <= 27);
  }
}

}  // namespace
}  // namespace ballast::insight
