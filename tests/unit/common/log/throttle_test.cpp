#include "common/log/throttle.h"

#include <doctest/doctest.h>

#include <string>

namespace ballast {
namespace {

using std::chrono::seconds;

constexpr std::size_t kBurst = 3;

struct Fixture {
  bool say(const std::string& kind, const std::string& line = "line") {
    return throttle.admit(kind, kBurst, 7, line, now);
  }
  int say_often(const std::string& kind, int times) {
    int written = 0;
    for (int i = 0; i < times; ++i) {
      written += say(kind, "line " + std::to_string(i)) ? 1 : 0;
    }
    return written;
  }

  Throttle throttle;
  Throttle::Time now = Throttle::Time(seconds(1000));
};

TEST_CASE("the first lines of a kind are written, the others are counted and told when the window is over") {
  Fixture at;
  CHECK(at.say_often("refused {}", 1000) == kBurst);
  CHECK(at.throttle.due(at.now).empty());
  at.now += Throttle::kWindow - seconds(1);
  CHECK(at.throttle.due(at.now).empty());
  at.now += seconds(1);
  const auto told = at.throttle.due(at.now);
  REQUIRE(told.size() == 1);
  CHECK(told[0].count == 1000 - kBurst);
  CHECK(told[0].over == Throttle::kWindow);
  CHECK(told[0].newest == "line 999");
  CHECK(told[0].tag == 7);
  CHECK(at.throttle.due(at.now).empty());
}

TEST_CASE("long lines are held back before there are as many as short ones may be") {
  Throttle throttle;
  const Throttle::Time now{seconds(1000)};
  const std::string line(4096, 'x');
  std::size_t written = 0;
  for (int i = 0; i < 2000; ++i) {
    written += throttle.admit("joined", 2000, 7, line, now) ? line.size() : 0;
  }
  CHECK(written == Throttle::kMostBytes);
  CHECK(throttle.admit("another", 2000, 7, std::string(2 * Throttle::kMostBytes, 'x'), now));
}

TEST_CASE("a flood that goes on is one line and one count in windows that grow to a minute") {
  Fixture at;
  at.say_often("refused {}", 100);
  int written = 0;
  int told = 0;
  std::uint64_t held = 0;
  for (int second = 0; second < 600; ++second) {
    at.now += seconds(1);
    for (const auto& lines : at.throttle.due(at.now)) {
      ++told;
      held += lines.count;
    }
    written += at.say_often("refused {}", 100);
  }
  CHECK(written <= 13);
  CHECK(told <= 13);
  for (const auto& lines : at.throttle.all()) {
    held += lines.count;
  }
  CHECK(held + static_cast<std::uint64_t>(written) + kBurst == 601 * 100);
}

TEST_CASE("a kind that was quiet for a window is as new, and no kind speaks for another") {
  Fixture at;
  CHECK(at.say_often("one", 10) == kBurst);
  CHECK(at.say_often("other", 2) == 2);
  at.now += Throttle::kWindow;
  CHECK(at.throttle.due(at.now).size() == 1);
  CHECK(at.say_often("one", 10) == 1);
  CHECK(at.say_often("other", 10) == kBurst);
  at.now += Throttle::kLongestWindow;
  CHECK(at.throttle.due(at.now).size() == 2);
  at.now += Throttle::kLongestWindow;
  CHECK(at.throttle.due(at.now).empty());
  CHECK(at.throttle.next() == Throttle::Time::max());
  CHECK(at.say_often("one", 10) == kBurst);
}

TEST_CASE("kinds beyond those that are counted are written") {
  Fixture at;
  for (std::size_t kind = 0; kind < Throttle::kMostKinds; ++kind) {
    at.say("kind " + std::to_string(kind));
  }
  CHECK(at.say_often("one more", 100) == 100);
  at.now += Throttle::kWindow;
  at.throttle.due(at.now);
  CHECK(at.say_often("one more", 100) == kBurst);
}

}  // namespace
}  // namespace ballast
