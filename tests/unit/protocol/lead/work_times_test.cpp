#include "protocol/lead/work_times.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr LearntDeadline::Bounds kLatePieces{100, 5'000, 5'000};

// Brings one piece that takes so long, from `at` on; when it is done.
Micros work_one(WorkTimes& times, SessionId session, Micros at, Micros span) {
  times.begins(session, at);
  times.brings(session, at + span);
  return at + span;
}

}  // namespace

TEST_CASE("the median of the newest spans forgets old ones and heeds no single one") {
  RecentTimes times;
  CHECK_FALSE(times.median());
  for (int i = 0; i < 7; ++i) {
    times.observe(10);
  }
  times.observe(1'000);
  CHECK(times.median() == 10);
  for (int i = 0; i < 4; ++i) {
    times.observe(50);
  }
  CHECK(times.median() == 50);
}

TEST_CASE("pieces that end at one moment share the span") {
  RecentTimes times;
  times.observe(60);
  times.share();
  times.share();
  CHECK(times.median() == 20);
  times.observe(30);
  times.share();
  times.observe(70);
  CHECK(times.median() == 20);  // of 20, 15 and 70
}

TEST_CASE("late is who takes three times as long as it did before") {
  WorkTimes times(kLatePieces);
  work_one(times, 1, 0, 200);
  work_one(times, 2, 0, 1'600);
  times.begins(1, 2'000);
  times.begins(2, 2'000);
  CHECK(times.late(2'600).empty());
  CHECK(times.late(2'601) == std::vector<SessionId>{1});
  CHECK(times.is_late(1, 2'601));
  CHECK_FALSE(times.is_late(2, 6'800));
  CHECK(times.late(6'801) == std::vector<SessionId>{1, 2});
}

TEST_CASE("who has brought nothing yet is taken to be like the others, and nobody is late before the floor") {
  WorkTimes times(kLatePieces);
  times.begins(1, 0);
  CHECK_FALSE(times.is_late(1, 5'000));
  CHECK(times.is_late(1, 5'001));
  CHECK_FALSE(times.expected(1));
  work_one(times, 2, 0, 10);
  CHECK(times.expected(1) == 10);
  CHECK_FALSE(times.own(1));
  CHECK_FALSE(times.is_late(1, 100));
  CHECK(times.is_late(1, 101));
  CHECK(times.late(101) == std::vector<SessionId>{1});
}

TEST_CASE("what was learnt stays while a session rests, and who rests or is excused is not late") {
  WorkTimes times(kLatePieces);
  work_one(times, 1, 0, 200);
  times.begins(1, 200);
  times.rests(1, 300);
  CHECK_FALSE(times.is_late(1, 1'000'000));
  CHECK(times.own(1) == 200);
  CHECK(times.since(1) == 300);
  times.begins(1, 1'000'000);
  times.excuse(1);
  CHECK(times.late(2'000'000).empty());
  times.brings(1, 1'001'600);  // and then it counts
  work_one(times, 1, 2'000'000, 1'600);
  CHECK(times.own(1) == 1'600);
  times.forget(1);
  CHECK_FALSE(times.own(1));
  CHECK(times.since(1) == 0);
}

TEST_CASE("what is in hand is forgotten when the job is taken back") {
  WorkTimes times(kLatePieces);
  work_one(times, 1, 0, 200);
  times.begins(1, 200);
  times.begins(2, 200);
  times.rest_all();
  CHECK(times.late(1'000'000).empty());
  CHECK_FALSE(times.is_late(1, 1'000'000));
  times.begins(1, 1'000'000);
  CHECK(times.late(1'000'601) == std::vector<SessionId>{1});
}
