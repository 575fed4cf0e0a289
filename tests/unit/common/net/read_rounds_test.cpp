#include "common/net/read_rounds.h"

#include <doctest/doctest.h>

#include <string>

namespace ballast {
namespace {

constexpr int kUnread = 8;
constexpr int kWholeRound = kUnread + 2;

TEST_CASE("what waited has been read when the socket is found empty") {
  ReadRounds rounds(kUnread);
  rounds.read("one");
  const auto moment = rounds.now();
  CHECK_FALSE(rounds.is_read(moment));
  rounds.read("one");
  CHECK_FALSE(rounds.is_read(moment));
  rounds.found_empty();
  CHECK(rounds.is_read(moment));
  CHECK_FALSE(rounds.is_read(rounds.now()));
}

TEST_CASE("beside one that never stops what waited has been read when that one has given more than can wait") {
  ReadRounds rounds(kUnread);
  for (int before = 0; before < kWholeRound; ++before) {
    rounds.read("busy");
    const auto moment = rounds.now();
    auto copy = rounds;
    int given = 0;
    while (!copy.is_read(moment) && given <= 2 * kWholeRound) {
      copy.read("busy");
      copy.read("other");
      ++given;
    }
    CHECK(given >= kWholeRound);
    CHECK(given <= 2 * kWholeRound);
  }
}

TEST_CASE("many that give little together prove nothing") {
  ReadRounds rounds(kUnread);
  const auto moment = rounds.now();
  for (int i = 0; i < 1000; ++i) {
    rounds.read(std::to_string(i));
  }
  CHECK_FALSE(rounds.is_read(moment));
}

}  // namespace
}  // namespace ballast
