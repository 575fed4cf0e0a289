// Lanes that are further apart than honest work can bring them: the lead asks, says so, bars and takes back.
#include <doctest/doctest.h>

#include "tests/unit/protocol/lead/lead_fixture.h"

using namespace ballast;
using namespace ballast::two_shards;

namespace {

constexpr SessionId kTearer = 66;

// Shard 0 is at `ahead`, brought there by a stranger; shard 1 at `behind`. For so long, with reports of both.
lead::Actions stand_apart(Fixture& fixture, Micros span, Step ahead, Step behind, SessionId by = kTearer) {
  lead::Actions last;
  for (Micros passed = 0; passed < span; passed += 50 * kMilli) {
    auto report = fixture.state(0, ahead);
    report.rounds.reached = ahead;
    report.rounds.reached_by = {by};
    fixture.lane(0, report);
    auto other = fixture.state(1, behind);
    other.rounds.reached = behind;
    fixture.lane(1, other);
    last = fixture.lead.step(lead::Tick{fixture.now += 50 * kMilli});
  }
  return last;
}

bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

// The shards follow the new timeline.
void begin_next(Fixture& fixture) {
  fixture.written();
  ++fixture.timeline;
  fixture.reports(fixture.lead.ledger().base.step);
  fixture.settle();
  fixture.beat();
}

Refused answer_to_hello(Fixture& fixture, SessionId session) {
  const Message hello = WorkerHello{"again"};
  for (const auto& action : fixture.lead.step(lead::FromWorker{session, &hello})) {
    if (const auto* send = std::get_if<lead::SendToWorker>(&action)) {
      if (const auto* refused = std::get_if<Refused>(&send->message)) {
        return *refused;
      }
    }
  }
  return {};
}

}  // namespace

TEST_CASE("a lane that stays two versions behind is asked anew, and what it says then counts") {
  Fixture fixture(config());
  fixture.train();
  stand_apart(fixture, 200 * kMilli, 6, 4);
  CHECK(fixture.lead.timeline() == 1);
  const auto number = fixture.plan[1].number;
  // It follows the plan of the number before until it gets the new one, however often it reports.
  for (int i = 0; i < 10; ++i) {
    auto old = fixture.state(1, 4);
    old.plan = number;
    fixture.lane(1, old);
    fixture.lead.step(lead::Tick{fixture.now += 50 * kMilli});
  }
  CHECK(fixture.plan[1].number > number);
  CHECK(fixture.plan[1].until == 40);  // the same end
  CHECK(fixture.lead.timeline() == 1);
  stand_apart(fixture, 50 * kMilli, 6, 4);
  CHECK(fixture.lead.timeline() == 2);
  CHECK(fixture.lead.status().rollback_causes.torn == 1);
  const auto trouble = fixture.lead.status().trouble;
  for (const auto* word :
       {"shard 0, lane 0 is at version 6", "shard 1, lane 0 is at version 4", "session 66", "step 0"}) {
    CHECK_MESSAGE(has(trouble, word), trouble, " lacks ", word);
  }
}

TEST_CASE("a report of versions that the job never comes to counts for nothing") {
  Fixture fixture(config());
  fixture.train();
  for (int i = 0; i < 40; ++i) {
    auto report = fixture.state(0, 4);
    report.rounds.reached = 41;
    const auto refused = to_lanes<Refused>(fixture.lane(0, report));
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].code == RefusalCode::out_of_range);
    fixture.lane(1, fixture.state(1, 4));
    fixture.lead.step(lead::Tick{fixture.now += 50 * kMilli});
  }
  CHECK(fixture.lead.timeline() == 1);
}

TEST_CASE("lanes that are one version apart, or get on, are not torn") {
  Fixture fixture(config());
  fixture.train();
  stand_apart(fixture, 2'000 * kMilli, 5, 4);
  for (Step step = 4; step < 8; ++step) {
    stand_apart(fixture, 250 * kMilli, step + 2, step);  // each time by an old report of the one behind
  }
  CHECK(fixture.lead.timeline() == 1);
  CHECK(fixture.lead.status().trouble.empty());
}

TEST_CASE("who brought a lane ahead is barred, and every plan says so") {
  Fixture fixture(config());
  fixture.train();
  stand_apart(fixture, 600 * kMilli, 6, 4);
  REQUIRE(fixture.lead.timeline() == 2);
  begin_next(fixture);
  CHECK(fixture.plan[0].barred == std::vector<SessionId>{kTearer});
  CHECK(fixture.plan[1].barred == std::vector<SessionId>{kTearer});
  CHECK(answer_to_hello(fixture, kTearer).code == RefusalCode::wrong_bits);
  CHECK(answer_to_hello(fixture, kTearer + 1).text.empty());
  CHECK(fixture.lead.phase() == Lead::Phase::training);
}

TEST_CASE("a worker that the lead knows is named and lost when it is barred") {
  Fixture fixture(config());
  fixture.train();
  stand_apart(fixture, 600 * kMilli, 6, 4, kWorker);
  REQUIRE(fixture.lead.timeline() == 2);
  CHECK(has(fixture.lead.status().trouble, "worker worker"));
  for (const auto& session : fixture.lead.status().sessions) {
    CHECK_FALSE(session.live);
    CHECK_FALSE(session.refusal.empty());
  }
  CHECK(fixture.lead.status().lost_workers == 0);
  CHECK(answer_to_hello(fixture, kWorker).code == RefusalCode::wrong_bits);
}

// Names are free: whoever does it again under another finds no lane that goes ahead of the others.
TEST_CASE("from the second time on a step is planned when all lanes are at it") {
  Fixture fixture(config());
  fixture.train();
  const auto planned = [&](std::uint32_t shard) {
    return fixture.plan[shard].first + fixture.plan[shard].factors.size();
  };
  fixture.planned = 0;
  fixture.reports(2);
  CHECK(planned(0) == 20);
  for (int i = 0; i < 2; ++i) {
    stand_apart(fixture, 600 * kMilli, 6, 4, kTearer + static_cast<SessionId>(i));
    REQUIRE(fixture.lead.timeline() == static_cast<Timeline>(i) + 2);
    CHECK(has(fixture.lead.status().trouble, "from now on") == (i == 1));
    begin_next(fixture);
  }
  fixture.planned = 0;
  fixture.reports(0);
  CHECK(planned(0) == 1);
  fixture.lane(0, fixture.state(0, 1));
  CHECK(planned(0) == 1);
  fixture.lane(1, fixture.state(1, 1));
  CHECK(planned(0) == 2);  // told at once: nobody asks for it
  CHECK(planned(1) == 2);
}
