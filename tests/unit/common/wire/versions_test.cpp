// In which version who speaks to whom.
#include "common/wire/versions.h"

#include <string>

#include "tests/unit/common/wire/refusal.h"

namespace ballast {
namespace {

constexpr std::uint32_t kPrevious = kProtocolVersion - 1;

Decoded of_version(std::uint32_t version, const Message& message) {
  Encoder encoder;
  return decode(encoder.encode(message, version), 0, false);
}

// What a session of version 13 makes of an order: more than the standing range, or nothing more.
std::optional<StepWork> told_to_13(const Standing& standing, std::optional<StepWork> now) {
  Assign order;
  order.rounds = {standing, std::move(now)};
  const auto decoded = of_version(13, order);
  REQUIRE(std::holds_alternative<Message>(decoded));
  return std::get<Assign>(std::get<Message>(decoded)).rounds.now;
}

TEST_CASE("a session of version 13 is told one range that has all it is to compute beside its standing range") {
  const Standing standing{0, 9, {4, 8}};
  const auto range = [](SlotRange slots) { return std::optional(StepWork{3, {slots}, true}); };
  CHECK(told_to_13(standing, {}) == std::nullopt);
  CHECK(told_to_13(standing, StepWork{3, {}}) == std::nullopt);
  CHECK(told_to_13(standing, StepWork{3, {{4, 6}}}) == std::nullopt);  // it does the rest of its own as well
  CHECK(told_to_13(standing, StepWork{3, {{4, 8}, {10, 12}}}) == range({10, 12}));
  CHECK(told_to_13(standing, StepWork{3, {{6, 10}}}) == range({8, 10}));
  CHECK(told_to_13(standing, StepWork{3, {{2, 5}}}) == range({2, 4}));
  CHECK(told_to_13(standing, StepWork{3, {{10, 12}, {14, 15}}}) == range({10, 15}));
  CHECK(told_to_13(standing, StepWork{3, {{0, 1}, {9, 10}}}) == range({0, 10}));
  CHECK(told_to_13({0, 9, {}}, StepWork{3, {{2, 5}}}) == range({2, 5}));
  // Its range of that step is an older one, which the order does not name.
  CHECK(told_to_13({4, 9, {4, 8}}, StepWork{3, {{4, 6}, {0, 2}}}) == range({0, 6}));
}

TEST_CASE("what a lead of version 13 orders beside the standing range is told to one of its sessions as it was") {
  const StepWork more{3, {{5, 7}}, true};
  for (const auto& standing : {Standing{0, 9, {4, 8}}, Standing{0, 9, {0, 2}}, Standing{5, 9, {0, 2}}}) {
    CHECK(told_to_13(standing, more) == more);
  }
}

Refused wrong_version(std::uint32_t heard) {
  return {RefusalCode::wrong_protocol, "Envelope.protocol_version is " + std::to_string(heard)};
}

const Refused kSayHello{RefusalCode::unknown_session, "say hello first"};

// A peer that speaks versions from `oldest` to `newest` and has known us since our last hello, or not.
struct Peer {
  std::uint32_t oldest = kPrevious;
  std::uint32_t newest = kPrevious;
  bool knows = false;

  // As a Router end does. Of what is said only whether it is a hello.
  Decoded answer(std::uint32_t version, bool hello) {
    if (version < oldest || version > newest) {
      return of_version(version > newest ? newest : version, wrong_version(version));
    }
    knows = knows || hello;
    return knows ? of_version(version, LaneWelcome{1, 1, 1}) : of_version(version, kSayHello);
  }
};

bool says_hello_first(const Decoded& decoded) {
  const auto* message = std::get_if<Message>(&decoded);
  const auto* refused = message != nullptr ? std::get_if<Refused>(message) : nullptr;
  return refused != nullptr && refused->code == RefusalCode::unknown_session;
}

// What a core does: says hello until it is known.
struct Core {
  Conversation talk;
  bool known = false;
  int said = 0;

  void turn(Peer& peer) {
    talk.sent();
    ++said;
    auto decoded = peer.answer(talk.version(), !known);
    if (talk.heard(decoded)) {
      known = !says_hello_first(decoded);
    }
  }
  bool until_known(Peer& peer) {
    known = false;
    for (int i = 0; i < 8 && !known && !talk.hopeless(); ++i) {
      turn(peer);
    }
    return known;
  }
};

TEST_CASE("a decoded frame tells its version, spoken here or not") {
  for (const auto version : {kPrevious, kProtocolVersion}) {
    CHECK(of_version(version, Stale{1}).version == version);
    CHECK(std::holds_alternative<Message>(of_version(version, Stale{1})));
    CHECK_FALSE(of_version(version, kSayHello).refuses_version);
    CHECK(of_version(version, wrong_version(1)).refuses_version);
  }
  for (const auto version : {kOldestProtocolVersion - 1, kProtocolVersion + 1}) {
    CHECK(of_version(version, Stale{1}).version == version);
    CHECK_FALSE(of_version(version, Stale{1}).refuses_version);
    CHECK(of_version(version, wrong_version(1)).refuses_version);
    check_refused(of_version(version, Stale{1}), RefusalCode::wrong_protocol, {std::to_string(version).c_str()});
  }
  // Unfit in every other way, it is of its version still, in which it can be refused.
  CHECK(of_version(kPrevious, LaneWelcome{}).version == kPrevious);
  CHECK(std::holds_alternative<Refused>(of_version(kPrevious, LaneWelcome{})));
  CHECK(decode({}, 0, false).version == 0);
}

TEST_CASE("a line on a version names both and what to do") {
  const auto old = why_not_spoken(kOldestProtocolVersion - 1);
  const auto later = why_not_spoken(kProtocolVersion + 1);
  for (const auto& text : {old, later}) {
    CHECK(text.find("versions " + std::to_string(kOldestProtocolVersion) + " to " + std::to_string(kProtocolVersion)) !=
          std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
  }
  CHECK(old.starts_with(std::to_string(kOldestProtocolVersion - 1) + ", too old"));
  CHECK(later.starts_with(std::to_string(kProtocolVersion + 1) + ", too new"));
}

TEST_CASE("who is too old is refused in its own version, who is too new in the newest") {
  for (const auto known : {kPrevious, kProtocolVersion}) {
    CHECK(version_to_refuse_in(0, known) == known);
    CHECK(version_to_refuse_in(kOldestProtocolVersion - 1, known) == kOldestProtocolVersion - 1);
    CHECK(version_to_refuse_in(kPrevious, known) == kPrevious);
    CHECK(version_to_refuse_in(kProtocolVersion, known) == kProtocolVersion);
    CHECK(version_to_refuse_in(kProtocolVersion + 1, known) == kProtocolVersion);
  }
}

TEST_CASE("a peer of the newest version is spoken to in it") {
  Peer peer{kPrevious, kProtocolVersion};
  Core core;
  CHECK(core.until_known(peer));
  CHECK(core.talk.version() == kProtocolVersion);
  CHECK(core.said == 1);
  CHECK_FALSE(core.talk.news());
}

TEST_CASE("a peer of the version before is spoken to in that after one word in vain") {
  Peer peer{kPrevious - 1, kPrevious};
  Core core;
  CHECK(core.until_known(peer));
  CHECK(core.talk.version() == kPrevious);
  CHECK(core.said == 2);
  CHECK(core.talk.news() ==
        std::optional("protocol version " + std::to_string(kPrevious) + ", and is spoken to in it"));
  CHECK_FALSE(core.talk.news());
}

TEST_CASE("refusals of what was said in vain before the first one came are nobody's business") {
  Conversation talk;
  for (int i = 0; i < 3; ++i) {
    talk.sent();
  }
  auto decoded = of_version(kPrevious, wrong_version(kProtocolVersion));
  CHECK(talk.heard(decoded));
  CHECK(says_hello_first(decoded));
  for (int i = 0; i < 2; ++i) {
    decoded = of_version(kPrevious, wrong_version(kProtocolVersion));
    CHECK_FALSE(talk.heard(decoded));
  }
  CHECK(talk.version() == kPrevious);
  CHECK_FALSE(talk.hopeless());
}

TEST_CASE("a peer that was replaced by a newer or an older one is found out") {
  Peer old{kPrevious - 1, kPrevious};
  Core core;
  REQUIRE(core.until_known(old));
  Peer newer{kPrevious, kProtocolVersion};
  core.turn(newer);  // what was said to the old one
  CHECK(core.until_known(newer));
  CHECK(core.talk.version() == kProtocolVersion);
  old.knows = false;
  core.turn(old);
  CHECK(core.until_known(old));
  CHECK(core.talk.version() == kPrevious);
  // One that does not speak the old version any more.
  Peer newest{kProtocolVersion, kProtocolVersion + 1};
  core.turn(newest);
  CHECK(core.until_known(newest));
  CHECK(core.talk.version() == kProtocolVersion);
}

TEST_CASE("an answer in an older version, to what was said before, changes nothing") {
  Conversation talk;
  talk.sent();
  auto late = of_version(kPrevious, LaneWelcome{1, 1, 1});
  CHECK(talk.heard(late));
  CHECK(talk.version() == kProtocolVersion);
}

TEST_CASE("who is too old or too new is told so, once, with both versions") {
  for (const auto& speaks :
       {std::pair(kPrevious - 2, kPrevious - 1), std::pair(kProtocolVersion + 1, kProtocolVersion + 2)}) {
    CAPTURE(speaks.second);
    Peer peer{speaks.first, speaks.second};
    Core core;
    CHECK_FALSE(core.until_known(peer));
    REQUIRE(core.talk.hopeless());
    CHECK(core.said == 1);
    CHECK(core.talk.hopeless()->find(std::to_string(kProtocolVersion)) != std::string::npos);
  }
}

TEST_CASE("a frame of a version that is not spoken, but no refusal, is no reason to give up") {
  Conversation talk;
  auto decoded = of_version(kProtocolVersion + 1, Stale{1});
  CHECK(talk.heard(decoded));
  CHECK(std::holds_alternative<Refused>(decoded));
  CHECK_FALSE(talk.hopeless());
  CHECK(talk.version() == kProtocolVersion);
}

}  // namespace
}  // namespace ballast
