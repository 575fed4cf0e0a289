// Who has a standing range beside whom, and what an order says when it is said again: by the judge alone.
#include <doctest/doctest.h>

#include "tests/simulation/judge/orders.h"
#include "tests/simulation/judge/violation.h"
#include "tests/unit/simulation/small_life.h"

namespace ballast::simulation {
namespace {

using doctest::Contains;
using Phase = Lead::Phase;

constexpr SessionId kBringing = 5;
constexpr SessionId kNew = 7;
constexpr std::uint32_t kCountingLane = 1;

// A lead that has heard of all in step 0 of timeline 3, where one of them has brought something.
struct Divided {
  LifeSpec life = small_life();
  OrdersJudge judge{life};
  Ledger durable;
  LaneReport report;
  Phase phase = Phase::training;
  Generation generation = 0;

  Divided() {
    durable.timeline = 3;
    durable.incarnations = {11, 12};
    report.lane = {1, 0};
    report.incarnation = 12;
    report.timeline = 3;
    report.serving = true;
    report.slots_by_session = {{kBringing, 1}};
    judge.lead_starts();
    hear();
  }
  void hear() {
    ++report.sequence;
    judge.heard(kCountingLane, report, durable);
    judge.settled(phase, phase);
  }
  void bring() {
    ++report.slots_by_session.front().slots;
    hear();
  }
  void tick(int count = 2) {
    for (int i = 0; i < count; ++i) {
      judge.lead_ticks();
    }
  }
  // A division among both.
  void divide() {
    ++generation;
    for (const auto session : {kBringing, kNew}) {
      Assign assign;
      assign.timeline = durable.timeline;
      assign.generation = generation;
      assign.order = {1, generation};
      assign.rounds.standing = {0, 4, {0, 1}};
      judge.assigned(session, assign, durable.timeline);
    }
  }
  void check_is_wrong() {
    CHECK_THROWS_WITH_AS(
        divide(), Contains("session 7 has brought nothing yet, and has a standing range as session 5 has"), Violation);
  }
};

TEST_CASE("orders: who has brought nothing has no range beside somebody who has just brought something") {
  Divided at;
  CHECK_NOTHROW(at.divide());  // what was brought before this lead, it takes note of by the next report
  at.bring();
  at.tick(1);
  CHECK_NOTHROW(at.divide());  // it may not have acted on that yet
  at.tick(1);
  at.check_is_wrong();
}

TEST_CASE("orders: whoever has ever brought something may have a range, and so may all where nobody has") {
  Divided at;
  at.report.slots_by_session.push_back({kNew, 1});
  at.bring();
  at.tick();
  CHECK_NOTHROW(at.divide());
  Divided long_ago;
  long_ago.bring();
  long_ago.tick();
  ++long_ago.report.open_step;
  long_ago.hear();
  CHECK_NOTHROW(long_ago.divide());
}

TEST_CASE("orders: what was brought by a report that the lead does not take, it knows nothing of") {
  for (const auto phase : {Phase::assembling, Phase::confirming, Phase::waiting, Phase::evaluating}) {
    Divided idle;
    idle.phase = phase;  // as a lead that has just started, and has the other shards still to hear of
    idle.bring();
    idle.tick();
    CHECK_NOTHROW(idle.divide());
  }
  Divided other_life;
  other_life.report.incarnation = 10;
  other_life.bring();
  other_life.tick();
  CHECK_NOTHROW(other_life.divide());
  Divided older;
  older.report.slots_by_session.front().slots = 3;
  older.hear();
  ++older.report.open_step;
  older.hear();
  auto late = older.report;
  late.sequence = 1;
  late.slots_by_session.front().slots = 1;
  older.judge.heard(kCountingLane, late, older.durable);
  older.hear();  // nothing has come since
  older.tick();
  CHECK_NOTHROW(older.divide());
}

TEST_CASE("orders: what the lead hears in a turn in which it goes back, it does not act on") {
  Divided at;
  ++at.report.sequence;
  ++at.report.slots_by_session.front().slots;
  at.judge.heard(kCountingLane, at.report, at.durable);
  at.tick();
  at.judge.settled(Phase::assembling, Phase::assembling);
  at.durable.timeline = 4;
  at.tick();
  CHECK_NOTHROW(at.divide());
}

TEST_CASE("orders: what was brought before goes on to count in a new timeline, until that one's reports count anew") {
  Divided at;
  at.bring();
  at.tick();
  at.durable.timeline = 4;
  at.check_is_wrong();
  Divided anew;
  anew.bring();
  anew.tick();
  anew.durable.timeline = 4;
  anew.report.timeline = 4;
  anew.hear();
  CHECK_NOTHROW(anew.divide());
}

TEST_CASE("orders: who says hello is known by what it brings once it has said more, and not while it sends nothing") {
  Divided at;
  at.bring();
  at.tick();
  at.judge.said_hello(kBringing);
  CHECK_NOTHROW(at.divide());
  at.bring();
  at.tick();
  CHECK_NOTHROW(at.divide());
  at.judge.said_progress(kBringing, {});
  at.bring();
  at.tick();
  at.check_is_wrong();
  Divided unpaying;
  unpaying.report.rounds.unpaying = {kBringing};
  unpaying.bring();
  unpaying.tick();
  CHECK_NOTHROW(unpaying.divide());
}

TEST_CASE("orders: who has said that it leaves has no range in a later division of that timeline") {
  Heartbeat leaving;
  leaving.progress.leaving = true;
  const auto divides_after = [&](auto&& say) {
    Divided at;
    at.durable.timeline = 3;
    leaving.timeline = 3;
    say(at);
    at.divide();
  };
  CHECK_THROWS_WITH_AS(divides_after([&](Divided& at) { at.judge.said_progress(kNew, leaving); }),
                       Contains("session 7 had said that it leaves, and has a standing range"), Violation);
  CHECK_NOTHROW(divides_after([&](Divided& at) {
    at.judge.said_progress(kNew, leaving);
    at.durable.timeline = 4;
  }));
  CHECK_NOTHROW(divides_after([&](Divided& at) {
    at.judge.said_progress(kNew, leaving);
    at.judge.said_hello(kNew);
  }));
  CHECK_NOTHROW(divides_after([&](Divided& at) {
    at.judge.said_progress(kNew, leaving);
    at.judge.lead_starts();
  }));
}

// While a shard is away the lead says nothing but that it lives, by the number of the order that it goes on with.
TEST_CASE("orders: what is said again after a sign of life is what was said before it") {
  const auto life = small_life();
  OrdersJudge judge{life};
  judge.lead_starts();
  Assign order;
  order.timeline = 3;
  order.generation = 1;
  order.order = {1, 1};
  order.rounds.standing = {0, 4, {0, 1}};
  Assign sign_of_life;
  sign_of_life.order = order.order;
  judge.assigned(kBringing, order, 3);
  CHECK_NOTHROW(judge.assigned(kBringing, sign_of_life, 3));
  CHECK_NOTHROW(judge.assigned(kBringing, order, 3));
  CHECK_NOTHROW(judge.assigned(kBringing, sign_of_life, 3));
  order.rounds.standing.from = 1;
  CHECK_THROWS_WITH_AS(judge.assigned(kBringing, order, 3), Contains("two orders to session 5 have the number 1.1"),
                       Violation);
  order.order = {1, 2};
  CHECK_NOTHROW(judge.assigned(kBringing, order, 3));
}

}  // namespace
}  // namespace ballast::simulation
