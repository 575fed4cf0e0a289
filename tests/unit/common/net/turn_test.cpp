#include "common/net/turn.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

TEST_CASE("a turn is over when it has spent its bytes, or its time, and the next begins anew") {
  Turn turn;
  turn.begin(1'000);
  CHECK_FALSE(turn.over(1'000));
  turn.spend(Turn::kBytes - 1);
  CHECK_FALSE(turn.over(1'000));
  turn.spend(1);
  CHECK(turn.over(1'000));
  turn.begin(2'000);
  CHECK_FALSE(turn.over(1'999 + Turn::kTime));
  CHECK(turn.over(2'000 + Turn::kTime));
}

TEST_CASE("a header's bytes cost more of a turn than a payload's: what they name is looked up and answered") {
  Turn turn;
  turn.begin(1'000);
  turn.spend_header(Turn::kBytes / Turn::kHeaderByte - 1);
  CHECK_FALSE(turn.over(1'000));
  turn.spend_header(1);
  CHECK(turn.over(1'000));
}

}  // namespace
}  // namespace ballast
