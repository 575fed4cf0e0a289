// Whose messages do not end, and what becomes of the key.
#include "server/unended_messages.h"

#include <doctest/doctest.h>

#include "server/barred_keys.h"

namespace ballast {
namespace {

using Rests = std::vector<Intake::Rest>;

constexpr std::uint64_t kMuch = kMuchUnended;
const std::string kHere = "10.0.0.1";

TEST_CASE("one key alone has much that is of no whole message") {
  CHECK(sole_sender({}) == std::nullopt);
  CHECK(sole_sender({{kHere, "a", kMuch - 1}}) == std::nullopt);
  CHECK(sole_sender({{kHere, "a", kMuch}}) == "a");
  CHECK(sole_sender({{kHere, "a", kMuch}, {kHere, "b", kMuch - 1}}) == "a");
  CHECK(sole_sender({{kHere, "a", kMuch}, {"10.0.0.2", "b", kMuch}}) == std::nullopt);
  CHECK(has_much({{kHere, "a", kMuch}, {"10.0.0.2", "b", kMuch}}));
  CHECK_FALSE(has_much({{kHere, "a", kMuch - 1}, {"10.0.0.2", "b", kMuch - 1}}));
}

TEST_CASE("a key's connections count together, wherever they come from") {
  CHECK(sole_sender({{kHere, "a", kMuch / 2}, {"10.0.0.2", "a", kMuch / 2}, {kHere, "b", kMuch / 2}}) == "a");
}

TEST_CASE("a connection that has said nothing whole has the key that was let in from there and not heard") {
  const auto named = [](const ConnectionCounts& let_in, const ConnectionCounts& heard) {
    Rests rests = {{kHere, std::nullopt, kMuch}, {kHere, "a", 100}};
    name_silent(rests, let_in, heard);
    CHECK(rests.back().key == "a");
    return rests.front().key;
  };
  CHECK(named({{{kHere, "b"}, 1}}, {}) == "b");
  CHECK(named({{{kHere, "a"}, 2}, {{kHere, "b"}, 1}}, {{{kHere, "a"}, 2}}) == "b");
  CHECK(named({{{kHere, "a"}, 2}, {{kHere, "b"}, 3}}, {{{kHere, "a"}, 2}, {{kHere, "b"}, 2}}) == "b");
  // Of two it may be either's, and of nobody who was let in nobody's.
  CHECK(named({{{kHere, "a"}, 2}, {{kHere, "b"}, 1}}, {{{kHere, "a"}, 1}}) == "");
  CHECK(named({{{kHere, "a"}, 2}}, {{{kHere, "a"}, 2}}) == "");
  CHECK(named({{{"10.0.0.2", "b"}, 1}}, {}) == "");
}

TEST_CASE("connections that are over and were never heard are counted by key, those that stand are left out") {
  Unheard unheard;
  count_unheard(unheard, {}, {{{kHere, "a"}, 2}, {{kHere, "b"}, 3}, {{"10.0.0.2", "b"}, 1}},
                {{{kHere, "a"}, 2}, {{kHere, "b"}, 1}});
  CHECK(unheard == Unheard{{"b", 3}});
  unheard.clear();
  count_unheard(unheard, {{kHere, std::nullopt, 5}, {kHere, "a", 5}}, {{{kHere, "a"}, 2}, {{kHere, "b"}, 3}},
                {{{kHere, "a"}, 1}});
  CHECK(unheard == Unheard{{"b", 2}});  // one stands, and may be either's
}

TEST_CASE("the key that most connections had that were never heard") {
  CHECK(most_unheard({}) == std::nullopt);
  CHECK(most_unheard({{"a", 2}}) == std::nullopt);
  CHECK(most_unheard({{"a", 3}}) == "a");
  CHECK(most_unheard({{"a", 1}, {"b", 3}}) == "b");
  CHECK(most_unheard({{"a", 2}, {"b", 3}}) == std::nullopt);
}

TEST_CASE("beside much that cannot be told apart nobody is blamed") {
  CHECK(sole_sender({{kHere, "a", kMuch}, {"10.0.0.2", "", kMuch}}) == std::nullopt);
  CHECK(sole_sender({{kHere, "a", kMuch}, {"10.0.0.2", "", 100}}) == "a");
}

TEST_CASE("a key is refused from the second time on, each time for twice as long") {
  BarredKeys keys;
  Micros now = 1'000'000'000;
  CHECK(keys.blame("a", now) == 0);
  CHECK_FALSE(keys.is_barred("a", now));
  auto span = BarredKeys::kShortest;
  for (int i = 0; i < 10; ++i) {
    CAPTURE(i);
    CHECK(keys.blame("a", now) == span);
    CHECK(keys.is_barred("a", now + span - 1));
    CHECK(keys.blame("a", now + span - 1) == 1);  // of a connection from before: no longer for that
    CHECK_FALSE(keys.is_barred("a", now + span));
    CHECK_FALSE(keys.is_barred("b", now));
    now += span;
    span = std::min(2 * span, BarredKeys::kLongest);
  }
}

TEST_CASE("a key that has kept still for an hour begins anew") {
  BarredKeys keys;
  CHECK(keys.blame("a", 0) == 0);
  CHECK(keys.blame("a", BarredKeys::kLongest) == 0);
  CHECK(keys.blame("a", BarredKeys::kLongest + 1) == BarredKeys::kShortest);
  CHECK(keys.blame("a", 2 * BarredKeys::kLongest) == 2 * BarredKeys::kShortest);
  CHECK(keys.blame("a", 3 * BarredKeys::kLongest + 2 * BarredKeys::kShortest) == 0);
}

}  // namespace
}  // namespace ballast
