#include "protocol/lane/open_pulls.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using namespace ballast;

namespace {

constexpr WantedVersion kSix{6, {}};
constexpr WantedVersion kSeven{7, {}};
constexpr WantedVersion kAverage{6, {}, true};

}  // namespace

TEST_CASE("a place is in the set once, and the first one is found whichever word it is in") {
  ChunkPlaces places;
  CHECK(places.empty());
  CHECK_FALSE(places.first().has_value());
  CHECK(places.insert(200));
  CHECK_FALSE(places.insert(200));
  CHECK(places.insert(64));
  CHECK(places.count() == 2);
  CHECK(places.first() == 64U);
  CHECK(places.erase(64));
  CHECK_FALSE(places.erase(64));
  CHECK_FALSE(places.erase(9'999));
  CHECK(places.first() == 200U);
  CHECK_FALSE(places.contains(9'999));
}

TEST_CASE("a chunk waits for one version of its weights and one of its average, those asked for last") {
  OpenPulls pulls;
  pulls.wait(3, kSix);
  pulls.wait(3, kSeven);
  pulls.wait(3, kAverage);
  pulls.wait(4, kSix);
  CHECK(pulls.lowest_awaited() == kSix.version);
  CHECK(pulls.came_to(3, 6) == std::vector<WantedVersion>{kAverage});
  CHECK(pulls.came_to(3, 9) == std::vector<WantedVersion>{kSeven});
  CHECK(pulls.came_to(3, 9).empty());
  CHECK(pulls.lowest_awaited() == kSix.version);  // of chunk 4
  pulls.wait_no_more(4, true);
  CHECK(pulls.lowest_awaited() == kSix.version);
  pulls.wait_no_more(4, false);
  CHECK_FALSE(pulls.lowest_awaited().has_value());
}

TEST_CASE("what is deferred goes by the version that was asked for first, then by place, and once for each chunk") {
  OpenPulls pulls;
  pulls.defer(8, kSeven);
  pulls.defer(2, kSix);
  pulls.defer(5, kSeven);
  pulls.defer(8, kSix);
  CHECK(pulls.deferred() == 3);
  std::vector<std::pair<std::uint32_t, Version>> taken;
  while (const auto first = pulls.first_deferred()) {
    taken.emplace_back(first->place, first->wanted.version);
    pulls.take(*first);
  }
  CHECK(taken == std::vector<std::pair<std::uint32_t, Version>>{{5, 7}, {2, 6}, {8, 6}});
  CHECK(pulls.deferred() == 0);
}

TEST_CASE("beyond the most versions the one that was asked for first is forgotten with all that it wants") {
  OpenPulls pulls;
  for (Version version = 0; version < OpenPulls::kMost; ++version) {
    pulls.wait(static_cast<std::uint32_t>(version), {version, {}});
    pulls.defer(static_cast<std::uint32_t>(version), {version, {}});
  }
  CHECK(pulls.lowest_awaited() == 0U);
  pulls.wait(70, {99, {}});
  CHECK(pulls.lowest_awaited() == 1U);
  CHECK(pulls.deferred() == OpenPulls::kMost - 1);
  CHECK(pulls.came_to(0, 100).empty());
  for (std::uint32_t place = 1; place < OpenPulls::kMost; ++place) {
    CHECK(pulls.came_to(place, 100).size() == 1);
  }
  CHECK(pulls.came_to(70, 100).size() == 1);
  CHECK(pulls.first_deferred()->place == 1);
}
