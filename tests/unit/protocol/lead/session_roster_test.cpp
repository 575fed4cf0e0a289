#include "protocol/lead/session_roster.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr LearntDeadline::Bounds kSessionSilence{100, 200, 1'000};

SessionRoster session_roster(std::uint32_t at_most = 4) { return {at_most, kSessionSilence}; }

}  // namespace

TEST_CASE("a session lives from its hello on, and is heard while it lives") {
  auto sessions = session_roster();
  CHECK(sessions.heard(7, 1) == nullptr);
  REQUIRE(sessions.hello(7, "one", 1) != nullptr);
  CHECK(sessions.any_live());
  REQUIRE(sessions.heard(7, 50) != nullptr);
  CHECK(sessions.at(7).heard_at == 50);
  sessions.lose(7);
  CHECK(sessions.heard(7, 60) == nullptr);
  CHECK_FALSE(sessions.any_live());
  REQUIRE(sessions.hello(7, "one", 70) != nullptr);
  CHECK(sessions.heard(7, 80) != nullptr);
}

TEST_CASE("those that get work are listed in the order in which they joined, as long as they live") {
  auto sessions = session_roster();
  for (const SessionId id : {3, 1, 2}) {
    sessions.hello(id, "worker", 0);
    sessions.join(id);
  }
  CHECK(sessions.joined() == std::vector<SessionId>{3, 1, 2});
  CHECK(sessions.lose(1));
  CHECK_FALSE(sessions.lose(1));
  CHECK(sessions.joined() == std::vector<SessionId>{3, 2});
  CHECK_FALSE(sessions.at(1).ready);
  sessions.hello(4, "never ready", 0);
  CHECK_FALSE(sessions.lose(4));
}

TEST_CASE("who went without a goodbye is lost, and who is refused is not") {
  auto sessions = session_roster();
  sessions.hello(1, "one", 0)->said_goodbye = true;
  sessions.lose(1);
  CHECK(sessions.lost() == 0);
  sessions.hello(2, "two", 0);
  sessions.lose(2);
  CHECK(sessions.lost() == 1);
  sessions.hello(3, "three", 0);
  sessions.refuse(3, "other data", 5);
  CHECK(sessions.lost() == 1);
  CHECK(sessions.refused() == 1);
  CHECK(sessions.heard(3, 6) == nullptr);
  CHECK(sessions.at(3).refusal == "other data");
  sessions.hello(4, "three", 7);  // with the right data
  sessions.join(4);
  CHECK(sessions.at(3).refusal.empty());
}

TEST_CASE("the one dead for longest makes room, and nobody who lives") {
  auto sessions = session_roster(2);
  sessions.hello(1, "one", 0);
  sessions.hello(2, "two", 10);
  sessions.heard(1, 10);
  sessions.heard(2, 10);
  CHECK(sessions.hello(3, "three", 20) == nullptr);
  CHECK(sessions.hello(1, "one", 20) != nullptr);  // known already
  sessions.lose(1);
  sessions.lose(2);
  CHECK(sessions.hello(3, "three", 30) != nullptr);
  CHECK(sessions.all().contains(1));
  CHECK_FALSE(sessions.all().contains(2));
}

TEST_CASE("who has said hello and nothing since makes room, before anybody who has spoken, and after the dead") {
  auto sessions = session_roster(3);
  sessions.hello(1, "worker", 0);
  sessions.heard(1, 5);
  sessions.hello(2, "mute", 10);
  sessions.hello(3, "mute", 20);
  sessions.unreachable(2);
  CHECK(sessions.hello(4, "worker", 30) != nullptr);
  CHECK_FALSE(sessions.all().contains(2));
  CHECK(sessions.suspects().empty());
  CHECK(sessions.heard(4, 31) != nullptr);
  for (SessionId stranger = 100; stranger < 200; ++stranger) {  // again and again: they take each other's place alone
    CHECK(sessions.hello(stranger, "mute", 40) != nullptr);
  }
  CHECK(sessions.heard(1, 50) != nullptr);
  CHECK(sessions.heard(4, 50) != nullptr);
  sessions.lose(1);
  CHECK(sessions.hello(5, "worker", 60) != nullptr);
  CHECK_FALSE(sessions.all().contains(1));
  CHECK(sessions.all().contains(199));
}

TEST_CASE("who is silent for longer than it may is named, but not for time in which the lead did not listen") {
  auto sessions = session_roster();
  sessions.hello(1, "one", 0);
  sessions.hello(2, "two", 0);
  sessions.heard(2, 150);
  CHECK(sessions.silent(200).empty());
  CHECK(sessions.silent(201) == std::vector<SessionId>{1});
  auto slept = sessions;
  slept.forgive(500);
  CHECK(slept.silent(700).empty());
  CHECK(sessions.silent(700) == std::vector<SessionId>{1, 2});
}

TEST_CASE("changes among those that joined are told once, and once at a moment") {
  auto sessions = session_roster();
  CHECK_FALSE(sessions.take_changes(10));
  sessions.hello(7, "one", 10);
  CHECK_FALSE(sessions.take_changes(10));
  sessions.join(7);
  CHECK(sessions.take_changes(10));
  CHECK_FALSE(sessions.take_changes(10));
  sessions.lose(7);
  CHECK_FALSE(sessions.take_changes(10));
  CHECK(sessions.take_changes(11));
  CHECK_FALSE(sessions.take_changes(12));
}

TEST_CASE("a session to whom nobody is connected is suspected until it is heard of, and not lost") {
  auto sessions = session_roster();
  sessions.hello(7, "one", 1);
  sessions.join(7);
  CHECK(sessions.unreachable(7));
  CHECK_FALSE(sessions.unreachable(7));  // it was already
  CHECK(sessions.suspects() == std::set<SessionId>{7});
  CHECK(sessions.joined() == std::vector<SessionId>{7});
  CHECK(sessions.lost() == 0);
  sessions.heard(7, 2);
  CHECK(sessions.suspects().empty());
  CHECK(sessions.unreachable(7));
}

TEST_CASE("nobody is suspected who does not live") {
  auto sessions = session_roster();
  CHECK_FALSE(sessions.unreachable(7));
  sessions.hello(7, "one", 1);
  sessions.unreachable(7);
  sessions.lose(7);
  CHECK(sessions.suspects().empty());
  CHECK_FALSE(sessions.unreachable(7));
}

TEST_CASE("who is silent for three of its intervals, and for the least time, is suspected") {
  const SessionRoster::Silence limits{250, 70};
  auto sessions = session_roster();
  sessions.hello(1, "often", 0);
  sessions.hello(2, "rarely", 0);
  sessions.hello(3, "not ready", 0);
  sessions.join(1);
  sessions.join(2);
  for (Micros now = 10; now <= 1'000; now += 10) {
    sessions.heard(1, now);
    if (now % 100 == 0) {
      sessions.heard(2, now);
    }
  }
  sessions.suspect_silent(1'250, limits);
  CHECK(sessions.suspects().empty());
  sessions.suspect_silent(1'251, limits);
  CHECK(sessions.suspects() == std::set<SessionId>{1});
  sessions.suspect_silent(1'300, limits);
  CHECK(sessions.suspects() == std::set<SessionId>{1});
  sessions.suspect_silent(1'301, limits);
  CHECK(sessions.suspects() == std::set<SessionId>{1, 2});
  sessions.heard(1, 1'302);
  sessions.suspect_silent(1'303, limits);
  CHECK(sessions.suspects() == std::set<SessionId>{2});
}

TEST_CASE("who is silent for a while, and not suspected yet, is to be told something") {
  const SessionRoster::Silence limits{250, 70};
  auto sessions = session_roster();
  sessions.hello(1, "one", 0);
  sessions.hello(2, "not ready", 0);
  sessions.join(1);
  CHECK(sessions.suspect_silent(70, limits).empty());
  CHECK(sessions.suspect_silent(71, limits) == std::vector<SessionId>{1});
  CHECK(sessions.suspect_silent(250, limits) == std::vector<SessionId>{1});
  CHECK(sessions.suspect_silent(251, limits).empty());
}
