#include "server/lead_connection.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

const Message kTurnedAway = Refused{RefusalCode::not_taken, "another life of shard 1 is there"};

TEST_CASE("a lead's refusal to take a server is told once, and again after the lead took it") {
  RefusalNews news;
  CHECK(news.of(kTurnedAway)->find("another life of shard 1") != std::string::npos);
  CHECK_FALSE(news.of(kTurnedAway));
  CHECK_FALSE(news.of(Confirm{}));
  CHECK(news.of(kTurnedAway));
}

TEST_CASE("another reason is told, and a refusal of another kind is not") {
  RefusalNews news;
  REQUIRE(news.of(kTurnedAway));
  CHECK(news.of(Refused{RefusalCode::not_taken, "it is of another job"}));
  CHECK_FALSE(news.of(Refused{RefusalCode::malformed, "a field is missing"}));
}

}  // namespace
}  // namespace ballast
