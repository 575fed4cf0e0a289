#include "insight/reading_times.h"

#include <doctest/doctest.h>

namespace ballast::insight {
namespace {

constexpr double kLongest = 200'000;

// Two reads of each step, of 10 and 30 ms, one after the other.
std::vector<SlotRead> one_reader(std::size_t steps) {
  std::vector<SlotRead> reads;
  for (std::size_t step = 0; step < steps; ++step) {
    const auto begun = 100'000 * static_cast<double>(step);
    reads.push_back({step, begun, begun + 10'000});
    reads.push_back({step, begun + 10'000, begun + 40'000});
  }
  return reads;
}

TEST_CASE("reading times: what a step's reads took, for each of its slots") {
  auto reads = one_reader(3);
  reads[5].done += 20'000;
  const auto times = reading_times(reads, {2, 2, 2}, kLongest, true);
  CHECK(times.by_step == std::vector<double>{20'000, 20'000, 30'000});
  CHECK(times.each == doctest::Approx(70'000.0 / 3));
}

TEST_CASE("reading times: several readers take as long as they are at it together") {
  auto reads = one_reader(4);
  for (const auto& read : one_reader(4)) {
    reads.push_back(read);
  }
  CHECK(reading_times(reads, {4, 4, 4, 4}, kLongest, true).each == doctest::Approx(10'000));
  for (std::size_t i = 8; i < reads.size(); ++i) {  // half of it beside the first one's
    reads[i].begun += 20'000;
    reads[i].done += 20'000;
  }
  CHECK(reading_times(reads, {4, 4, 4, 4}, kLongest, true).each == doctest::Approx(15'000));
}

TEST_CASE("reading times: what was read for nothing counts where it was waited for") {
  const auto reads = one_reader(2);
  CHECK(reading_times(reads, {1, 2}, kLongest, true).by_step == std::vector<double>{40'000, 20'000});
  CHECK(reading_times(reads, {1, 2}, kLongest, false).by_step == std::vector<double>{20'000, 20'000});
}

TEST_CASE("reading times: one that stood still counts as the usual one") {
  auto reads = one_reader(3);
  reads.push_back({2, 300'000, 2'300'000});
  const auto times = reading_times(reads, {2, 2, 3}, kLongest, true);
  CHECK(times.each < 40'000);
}

TEST_CASE("reading times: a step without slots has the mean, and none at all, or no reads, tell nothing") {
  CHECK(reading_times(one_reader(1), {2, 0}, kLongest, true).by_step == std::vector<double>{20'000, 20'000});
  CHECK(reading_times(one_reader(2), {0, 0}, kLongest, true).each == 0);
  CHECK(reading_times({}, {2, 2}, kLongest, true).each == 0);
}

}  // namespace
}  // namespace ballast::insight
