#include "server/page/curve.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace ballast {
namespace {

Curve::Sample sample(std::uint64_t number, double loss) {
  return {number, number, loss, static_cast<double>(number), 2};
}

TEST_CASE("a point is the mean of its samples, and the last one may still change") {
  Curve curve;
  curve.add(sample(1, 4));
  CHECK(curve.size() == 1);
  curve.add(sample(2, std::numeric_limits<double>::quiet_NaN()));
  curve.add(sample(3, 2));
  REQUIRE(curve.points().size() == 1);
  CHECK(curve.points().front().loss == 3);  // of those that have one
  CHECK(curve.points().front().examples_per_second == 2);
  curve.add(sample(4, 3));
  curve.add(sample(5, std::numeric_limits<double>::quiet_NaN()));
  REQUIRE(curve.size() == 2);
  CHECK(curve.points()[0].at == 4);
  CHECK(std::isnan(curve.points()[1].loss));
  CHECK(curve.points(1).size() == 1);
  CHECK(curve.points(2).empty());
}

TEST_CASE("a curve spans all that ever came in a bounded memory") {
  Curve curve;
  constexpr std::uint64_t kSamples = 100'000;
  for (std::uint64_t i = 1; i <= kSamples; ++i) {
    curve.add(sample(i, static_cast<double>(i)));
    REQUIRE(curve.size() <= Curve::kPoints);
  }
  const auto points = curve.points();
  CHECK(points.size() > Curve::kPoints / 2 - 1);
  CHECK(curve.halvings() == 5);
  CHECK(points.back().at == kSamples);
  const auto each = Curve::kSamples << curve.halvings();
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    REQUIRE(points[i].at == each * (i + 1));
    REQUIRE(points[i].loss == static_cast<double>(each) * (static_cast<double>(i) + 0.5) + 0.5);
  }
}

}  // namespace
}  // namespace ballast
