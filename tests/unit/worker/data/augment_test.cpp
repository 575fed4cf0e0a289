#include "worker/data/augment.h"

#include <doctest/doctest.h>

#include <set>
#include <utility>
#include <vector>

namespace ballast {
namespace {

TEST_CASE("an image moves by whole pixels and repeats its edge") {
  const ExampleShape shape{.channels = 2, .height = 2, .width = 3, .classes = 10};
  const std::vector<float> image = {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
  std::vector<float> moved(image.size());
  shift_image(image, moved, shape, {.right = 1, .down = 0});
  CHECK(moved == std::vector<float>{1, 1, 2, 4, 4, 5, 10, 10, 20, 40, 40, 50});
  shift_image(image, moved, shape, {.right = 0, .down = -1});
  CHECK(moved == std::vector<float>{4, 5, 6, 4, 5, 6, 40, 50, 60, 40, 50, 60});
  shift_image(image, moved, shape, {.right = -5, .down = 5});
  CHECK(moved == std::vector<float>{3, 3, 3, 3, 3, 3, 30, 30, 30, 30, 30, 30});
  shift_image(image, moved, shape, {});
  CHECK(moved == image);
}

TEST_CASE("shifts take every value within the bound, and depend on seed, epoch and example") {
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (std::uint32_t example = 0; example < 500; ++example) {
    const auto shift = draw_shift(1, 2, example, 2);
    seen.emplace(shift.right, shift.down);
    const auto again = draw_shift(1, 2, example, 2);
    CHECK(again.right == shift.right);
    CHECK(again.down == shift.down);
  }
  CHECK(seen.size() == 25);
  CHECK(seen.begin()->first == -2);
  CHECK(seen.rbegin()->first == 2);
  const auto differs = [](std::uint64_t seed, std::uint64_t epoch) {
    for (std::uint32_t example = 0; example < 20; ++example) {
      const auto one = draw_shift(1, 2, example, 2);
      const auto other = draw_shift(seed, epoch, example, 2);
      if (one.right != other.right || one.down != other.down) {
        return true;
      }
    }
    return false;
  };
  CHECK(differs(2, 2));
  CHECK(differs(1, 3));
}

}  // namespace
}  // namespace ballast
