// What a lane tells of sessions that send nothing of what it calls.
#include <set>

#include "tests/unit/protocol/lane/lane_fixture.h"

using namespace ballast;
using namespace ballast::one_lane;

namespace {

constexpr SessionId kSecond = 11;
constexpr PayerId kKeyOfBoth = 5;
constexpr PayerId kAnotherKey = 6;
constexpr Work kFirst{0, 3, {0, 2}};

struct CallsFixture : Fixture {
  CallsFixture() : Fixture(with_memory()) {}
  static LaneConfig with_memory() {
    auto own = config();
    own.memory_bytes = 1'000;
    own.call_overdue = 1'000;
    own.call_pause = 0;
    own.report_every = 500;
    own.idle_report_every = 500;
    return own;
  }

  lane::Actions say(SessionId session, const Message& message, PayloadId payload = kNoPayload, std::uint64_t bytes = 0,
                    PayerId payer = kKeyOfBoth) {
    return lane.step(lane::FromWorker{session, &message, payload, bytes, connections[session], payer});
  }
  // A new connection, over which one thing is offered: the number by which it is called.
  std::uint64_t is_called(SessionId session, const Work& work = kFirst, PayerId payer = kKeyOfBoth) {
    ++connections[session];
    say(session, LaneHello{"worker", "spec", "layout", true}, kNoPayload, 0, payer);
    for (const auto& action : say(session, Offers{1, {work}}, kNoPayload, 0, payer)) {
      if (const auto* send = std::get_if<lane::SendToWorker>(&action)) {
        if (const auto* call = std::get_if<Call>(&send->message)) {
          return call->number;
        }
      }
    }
    return 0;
  }
  // Nothing comes for longer than it may take.
  void wait() {
    now += 10'000;
    lane.step(lane::Tick{now, now});
    for (const auto& [session, connection] : connections) {
      lane.step(lane::ConnectionEnded{session, connection});
    }
  }
  void pay(SessionId session, std::uint64_t call, const Work& work = kFirst) {
    const Push push{
        .timeline = 1, .step = work.step, .chunk = work.chunk, .node = work.node, .phases = {}, .call = call};
    say(session, push, ++last_payload, work.chunk == 3 ? 100 : 40);
  }
  bool drops(Micros read_up_at) {
    const auto actions = lane.step(lane::Tick{now, read_up_at});
    return find<lane::DropConnection>(actions) != nullptr;
  }
  RoundReport report() { return whole_report(10'000).rounds; }
  LaneReport whole_report(Micros after) {
    now += after;
    for (const auto& action : lane.step(lane::Tick{now, now})) {
      if (const auto* send = std::get_if<lane::SendToLead>(&action)) {
        if (const auto* report = std::get_if<LaneReport>(&send->message)) {
          return *report;
        }
      }
    }
    FAIL("the lane does not report");
    return {};
  }

  std::map<SessionId, ConnectionId> connections;
  Micros now = 1'000;
};

using Sessions = std::vector<SessionId>;

}  // namespace

TEST_CASE("whoever lets a call go unpaid is told as out of good standing, and as sending nothing after the second") {
  CallsFixture at;
  REQUIRE(at.is_called(kWorker) != 0);
  at.wait();
  CHECK(at.report().out_of_standing == Sessions{kWorker});
  CHECK(at.report().unpaying.empty());
  REQUIRE(at.is_called(kWorker) != 0);
  at.wait();
  CHECK(at.report().unpaying == Sessions{kWorker});
  const auto call = at.is_called(kWorker);
  REQUIRE(call != 0);
  at.pay(kWorker, call);
  CHECK(at.report().unpaying.empty());
  CHECK(at.report().out_of_standing == Sessions{kWorker});  // it owes one more
}

TEST_CASE("a payment between two calls that are taken back counts") {
  CallsFixture at;
  REQUIRE(at.is_called(kWorker) != 0);
  at.wait();
  at.pay(kWorker, at.is_called(kWorker));
  const Work second{0, 3, {2, 3}};
  REQUIRE(at.is_called(kWorker, second) != 0);
  at.wait();
  const auto told = at.report();
  CHECK(told.out_of_standing == Sessions{kWorker});
  CHECK(told.unpaying.empty());
}

TEST_CASE("what comes of the timeline in which it was called is a payment, though the lane is about to leave that") {
  for (const bool is_serving : {false, true}) {
    CAPTURE(is_serving);
    CallsFixture at;
    REQUIRE(at.is_called(kWorker) != 0);
    at.wait();
    const auto call = at.is_called(kWorker);
    REQUIRE(call != 0);
    at.lead(Confirm{1, 2, {0, 0}});
    if (is_serving) {
      at.lane.step(lane::Begun{2});
    }
    at.pay(kWorker, call);
    at.lane.step(lane::Begun{2});
    CHECK(at.report().out_of_standing.empty());
  }
}

TEST_CASE("whoever sends nothing sends nothing as another session of its key, unless others of the key pay") {
  CallsFixture at;
  for (const SessionId session : {kWorker, kSecond}) {
    REQUIRE(at.is_called(session) != 0);
    at.wait();
  }
  CHECK(at.report().unpaying == Sessions{kWorker, kSecond});
  at.pay(kSecond, at.is_called(kSecond));
  CHECK(at.report().unpaying.empty());
}

TEST_CASE("of a key whose other sessions pay, the one that does not is told all the same") {
  CallsFixture at;
  const Work second{0, 3, {0, 1}};
  REQUIRE(at.is_called(kWorker) != 0);
  at.wait();
  at.pay(kSecond, at.is_called(kSecond, second), second);
  REQUIRE(at.is_called(kWorker) != 0);
  at.wait();
  CHECK(at.report().unpaying == Sessions{kWorker});
}

TEST_CASE("a lane names so many at most, first those that failed last") {
  CallsFixture at;
  for (SessionId session = 1; session <= kMaxOutOfStanding + 1; ++session) {
    REQUIRE(at.is_called(session, kFirst, session) != 0);
    at.wait();
  }
  const auto told = at.report();
  CHECK(told.out_of_standing.size() == kMaxOutOfStanding);
  CHECK(told.out_of_standing.front() == kMaxOutOfStanding + 1);
  CHECK(std::ranges::find(told.out_of_standing, 1) == told.out_of_standing.end());
}

TEST_CASE("a lane says for whom its oldest work waits, when what it called should have come, until it is settled") {
  CallsFixture at;
  const auto call = at.is_called(kWorker);
  CHECK(at.whole_report(999).trouble.empty());
  const auto report = at.whole_report(1'000);
  CHECK(report.trouble.find("session " + std::to_string(kWorker)) != std::string::npos);
  CHECK(report.trouble.find("step 0 of chunk 3") != std::string::npos);
  at.pay(kWorker, call);
  CHECK(at.whole_report(1'000).trouble.empty());
}

TEST_CASE("what a lane has called is overdue only if all that had come by then is read") {
  CallsFixture at;
  REQUIRE(at.is_called(kWorker) != 0);
  const auto before = at.now;
  at.now += 10'000;
  CHECK_FALSE(at.drops(before));  // its payload may be among what is unread
  CHECK(at.drops(at.now));
}

TEST_CASE("a report names the first slot that is missing, and who offers it or is called for it") {
  CallsFixture at;
  const Work second{0, 3, {2, 3}};
  const auto call = at.is_called(kWorker);
  REQUIRE(call != 0);
  REQUIRE(at.is_called(kSecond, second, kAnotherKey) != 0);
  const auto first = at.whole_report(600).rounds;
  CHECK(first.wanted == 0);
  CHECK(first.offered_by == Sessions{kWorker});
  at.pay(kWorker, call);
  at.say(kWorker, Offers{1, {second}});
  const auto then = at.whole_report(600).rounds;
  CHECK(then.wanted == 2);
  CHECK(then.offered_by == Sessions{kWorker, kSecond});
}

TEST_CASE("of whom a call was taken back is not named as bringing the slot, though it offers it anew") {
  CallsFixture at;
  REQUIRE(at.is_called(kWorker) != 0);
  CHECK(at.whole_report(600).rounds.offered_by == Sessions{kWorker});
  const auto taken_back = at.report();
  CHECK(taken_back.wanted == 0);
  CHECK(taken_back.offered_by.empty());
  REQUIRE(at.is_called(kSecond, kFirst, kAnotherKey) != 0);
  CHECK(at.is_called(kWorker) == 0);  // it offers it over a new connection
  const auto then = at.whole_report(600).rounds;
  CHECK(then.wanted == 0);
  CHECK(then.offered_by == Sessions{kSecond});
}

namespace {

struct Unasked {
  std::string what;
  Message (*message)(std::uint64_t call);
};

Message push_of_first(std::uint64_t call) {
  return Push{
      .timeline = 1, .step = kFirst.step, .chunk = kFirst.chunk, .node = kFirst.node, .phases = {}, .call = call};
}

}  // namespace

TEST_CASE("what was not asked for is refused and kept by nobody, and the connection that it came over ends") {
  const std::vector<Unasked> all{
      {"without a call, and nothing was given ahead", [](std::uint64_t) { return push_of_first(0); }},
      {"by a number that nobody was called by", [](std::uint64_t call) { return push_of_first(call + 1); }},
      {"bytes returned that were never given",
       [](std::uint64_t) -> Message {
         return BytesReturned{0, 1};
       }},
  };
  for (const auto& unasked : all) {
    CAPTURE(unasked.what);
    CallsFixture at;
    const auto call = at.is_called(kSecond);
    REQUIRE(call != 0);
    const bool has_payload = std::holds_alternative<Push>(unasked.message(call));
    const auto actions =
        at.say(kSecond, unasked.message(call), has_payload ? ++at.last_payload : kNoPayload, has_payload ? 100 : 0);
    const auto* refused = find_to_worker<Refused>(actions);
    REQUIRE(refused != nullptr);
    CHECK(refused->code == RefusalCode::out_of_range);
    CHECK(refused->text.find("was not asked for") != std::string::npos);
    const auto* ended = find<lane::DropConnection>(actions);
    REQUIRE(ended != nullptr);
    CHECK(ended->session == kSecond);
    CHECK(ended->connection == at.connections[kSecond]);
    CHECK((find<lane::Drop>(actions) != nullptr) == has_payload);
    CHECK(at.lane.held_payloads() == 0);
    CHECK(at.report().missing == std::vector<std::uint64_t>{0b1111});  // nothing of it counts
  }
}

TEST_CASE("a call is paid once: what comes for it again was not asked for") {
  CallsFixture at;
  const auto call = at.is_called(kSecond);
  REQUIRE(call != 0);
  at.pay(kSecond, call);
  CHECK(at.lane.held_payloads() == 1);
  const auto actions = at.say(kSecond, push_of_first(call), ++at.last_payload, 100);
  CHECK(find<lane::DropConnection>(actions) != nullptr);
  CHECK(at.lane.held_payloads() == 1);
}

TEST_CASE("what is offered of another timeline is not called: its sender is told which there is, or refused") {
  CallsFixture at;
  REQUIRE(at.is_called(kWorker) != 0);
  REQUIRE(at.is_called(kSecond, {0, 3, {2, 4}}, kAnotherKey) != 0);
  const auto say_offers = [&at](Timeline timeline) {
    return at.say(kSecond, Offers{timeline, {{0, 5, {0, 4}}}}, kNoPayload, 0, kAnotherKey);
  };
  const auto of_the_past = say_offers(0);
  const auto* stale = find_to_worker<Stale>(of_the_past);
  REQUIRE(stale != nullptr);
  CHECK(stale->timeline == 1);
  CHECK(find_to_worker<Call>(of_the_past) == nullptr);
  const auto of_the_future = say_offers(2);
  const auto* refused = find_to_worker<Refused>(of_the_future);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::not_serving);
  CHECK(find_to_worker<Call>(of_the_future) == nullptr);
  CHECK(find_to_worker<Call>(say_offers(1)) != nullptr);
}

TEST_CASE("nobody voids another's call") {
  CallsFixture at;
  const auto call = at.is_called(kWorker);
  REQUIRE(call != 0);
  REQUIRE(at.is_called(kSecond, {0, 3, {2, 4}}, kAnotherKey) != 0);
  at.say(kSecond, CallVoid{call}, kNoPayload, 0, kAnotherKey);
  at.pay(kWorker, call);
  CHECK(at.lane.held_payloads() == 1);
}
