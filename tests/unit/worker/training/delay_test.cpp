#include "worker/training/delay.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/worker/data/files.h"
#include "tests/unit/worker/training/small_model.h"

namespace ballast {
namespace {

using namespace testing;
using std::chrono::milliseconds;

TEST_CASE("a delay is that of the worker's name, or that of all others") {
  const std::string text = "worker-0:20,*:5,worker-1:0,a:b:7";
  CHECK(parse_delay(text, "worker-0") == milliseconds(20));
  CHECK(parse_delay(text, "worker-1") == milliseconds(0));
  CHECK(parse_delay(text, "worker-2") == milliseconds(5));
  CHECK(parse_delay(text, "a:b") == milliseconds(7));
  CHECK(parse_delay("worker-0:20", "worker-1") == milliseconds(0));
  CHECK(parse_delay("", "worker-0") == milliseconds(0));
}

TEST_CASE("a delay that cannot be read is refused, whoever it is for") {
  for (const std::string text : {"worker-0", "worker-0:", "*:5ms", "*:-1", "*:123456789", "worker-1:1,,*:2"}) {
    CAPTURE(text);
    const auto refusal = error_of([&] { parse_delay(text, "worker-1"); });
    CHECK(refusal.find("BALLAST_DELAY") == 0);
    CHECK(refusal.find("NAME:MILLISECONDS") != std::string::npos);
  }
}

TEST_CASE("a delayed model takes the time, says so, and gives the same gradients") {
  const auto arena = small_arena();
  const auto plain = small_model(arena);
  const auto delayed = with_delay(small_model(arena), milliseconds(30));
  const std::vector<float> weights(arena.elements, 0.5F);
  const std::vector<std::int32_t> labels(2);
  std::vector<float> expected(arena.elements);
  std::vector<float> found(arena.elements);
  plain->train({3, 1, 8, 1}, {2, {}, labels}, weights, expected, [](std::size_t) {});
  const auto begin = std::chrono::steady_clock::now();
  delayed->train({3, 1, 8, 1}, {2, {}, labels}, weights, found, [](std::size_t) {});
  CHECK(std::chrono::steady_clock::now() - begin >= milliseconds(30));
  CHECK(delayed->last_times().forward_us >= 30'000);
  CHECK(found == expected);
}

}  // namespace
}  // namespace ballast
