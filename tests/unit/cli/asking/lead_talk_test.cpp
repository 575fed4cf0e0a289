#include "cli/asking/lead_talk.h"

#include <doctest/doctest.h>

#include <variant>

#include "common/net/socket.h"
#include "common/wire/wire.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

constexpr LeadTalk::Moment kBegin{std::chrono::hours{1}};

// A lead that answers when the test says so.
struct LeadTalkFixture {
  explicit LeadTalkFixture(bool was_paused = false) : talk(was_paused) {
    at_lead.add(lead);
    talk.connect(lead.bind(addresses.make("tcp")), nullptr, at_talk, kBegin);
  }
  ~LeadTalkFixture() { lead.close(); }

  Message asked() {
    while (!at_lead.wait(1'000)) {
    }
    const auto received = lead.receive();
    REQUIRE(received);
    peer = received->peer;
    auto decoded = decode(received->header.bytes(), 0, false);
    REQUIRE(std::holds_alternative<Message>(decoded));
    return std::get<Message>(decoded);
  }
  void answer(JobPhase phase, LeadTalk::Moment now) {
    Status status;
    status.phase = phase;
    REQUIRE(lead.send(peer, encoder.encode(status)));
    while (!at_talk.wait(1'000)) {
    }
    REQUIRE(talk.take(now));
  }

  Addresses addresses;
  zmq::context_t context = make_context();
  Router lead{context};
  Poll at_lead;
  Poll at_talk;
  Encoder encoder;
  std::string peer;
  LeadTalk talk;
};

TEST_CASE("before there is a lead nobody is asked, and nobody has answered") {
  LeadTalk talk(false);
  talk.ask(true, kBegin);
  CHECK_FALSE(talk.take(kBegin));
  CHECK_FALSE(talk.is_connected());
  CHECK_FALSE(talk.is_over());
}

TEST_CASE("the lead is asked now and then, and told to stop when the user wants it") {
  LeadTalkFixture at;
  at.talk.ask(false, kBegin);
  at.talk.ask(true, kBegin);  // not yet time
  CHECK(std::holds_alternative<StatusRequest>(at.asked()));
  at.talk.ask(true, kBegin + kAskEvery);
  const auto message = at.asked();
  REQUIRE(std::holds_alternative<Control>(message));
  CHECK(std::get<Control>(message).command == Control::Command::stop);
}

TEST_CASE("a job that was paused is told to go on until it does") {
  LeadTalkFixture at(true);
  at.talk.ask(false, kBegin);
  CHECK(std::get<Control>(at.asked()).command == Control::Command::resume);
  at.answer(JobPhase::paused, kBegin);
  at.talk.ask_at_next_turn();
  at.talk.ask(false, kBegin);
  CHECK(std::get<Control>(at.asked()).command == Control::Command::resume);
  at.answer(JobPhase::training, kBegin);
  at.talk.ask_at_next_turn();
  at.talk.ask(false, kBegin);
  CHECK(std::holds_alternative<StatusRequest>(at.asked()));
}

TEST_CASE("silence counts from the last answer, and when the job is over nobody is asked") {
  using std::chrono::seconds;
  LeadTalkFixture at;
  CHECK(at.talk.silent(kBegin + seconds{3}) == seconds{3});
  at.talk.ask(false, kBegin);
  at.asked();
  at.answer(JobPhase::finished, kBegin + seconds{5});
  CHECK(at.talk.silent(kBegin + seconds{6}) == seconds{1});
  CHECK(at.talk.is_over());
  CHECK(at.talk.is_in(JobPhase::finished));
  at.talk.ask(false, kBegin + seconds{9});
  CHECK_FALSE(at.at_lead.wait(0));
  at.talk.say_seen();
  CHECK(std::get<StatusRequest>(at.asked()).last);
}

}  // namespace
}  // namespace ballast
