// Peers that ask and do not read: what they are told stays within one bound, and others are told all the same.
#include "common/net/unsent_replies.h"

#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

constexpr std::uint64_t kFrame = 1'000;  // with what is kept beside it
constexpr UnsentReplies::Room kRoom{10 * kFrame, 900 * kFrame};

SharedBytes some_bytes(std::size_t size = kFrame - UnsentReplies::kOfFrame) {
  return std::make_shared<const std::vector<std::byte>>(size);
}

// As many frames for the peer as it may have; they are held in `held`.
std::size_t fill(UnsentReplies& replies, UnsentReplies::To peer, std::vector<zmq::message_t>& held) {
  std::size_t count = 0;
  while (auto frame = replies.frame(peer, some_bytes())) {
    held.push_back(std::move(*frame));
    ++count;
  }
  return count;
}

TEST_CASE("a peer that does not read is told so much and no more, and goes on when it has read") {
  UnsentReplies replies(false, kRoom);
  std::vector<zmq::message_t> held;
  // Its own room, and a ninth of what all share: an eighth of what it leaves of that.
  CHECK(fill(replies, {"one"}, held) == 10 + 100);
  CHECK(replies.bytes() == 110 * kFrame);
  held.clear();
  CHECK(replies.bytes() == 0);
  CHECK(fill(replies, {"one"}, held) == 110);
}

TEST_CASE("peers that do not read stay within one bound, however many they are, and take nobody's own room") {
  UnsentReplies replies(false, kRoom);
  std::vector<zmq::message_t> held;
  for (std::size_t peer = 1; peer < UnsentReplies::kMostPeers; ++peer) {
    const auto name = "peer " + std::to_string(peer);
    fill(replies, {name}, held);
  }
  CHECK(replies.bytes() <= (UnsentReplies::kMostPeers - 1) * kRoom.own + kRoom.shared);
  CHECK(fill(replies, {"one that reads"}, held) >= 10);
  CHECK(fill(replies, {"one too many"}, held) == 0);
  held.clear();
  CHECK(fill(replies, {"one too many"}, held) == 110);
}

TEST_CASE("one key's peers that do not read leave places for those of other keys, and get theirs back when they read") {
  UnsentReplies replies(true, kRoom);
  std::vector<zmq::message_t> held;
  const auto tell = [&](const std::string& name, const std::string& key) {
    auto frame = replies.frame({name, key}, some_bytes());
    const bool is_told = frame.has_value();
    if (is_told) {
      held.push_back(std::move(*frame));
    }
    return is_told;
  };
  std::size_t told = 0;
  for (std::size_t peer = 0; peer < 2 * UnsentReplies::kMostPeers; ++peer) {
    told += tell("idle " + std::to_string(peer), "one key") ? 1 : 0;
  }
  CHECK(told == UnsentReplies::kMostPeers / 2);
  for (std::size_t peer = 0; peer < UnsentReplies::kMostPeers / 4; ++peer) {
    CHECK(tell("worker " + std::to_string(peer), "another"));
  }
  CHECK(tell("lane", "the servers'"));
  CHECK_FALSE(tell("idle again", "one key"));
  std::size_t unknown = 0;
  for (std::size_t peer = 0; peer < UnsentReplies::kMostPeers; ++peer) {
    unknown += tell("forgotten " + std::to_string(peer), "") ? 1 : 0;
  }
  CHECK(unknown <= UnsentReplies::kMostPeers / 8);
  CHECK(tell("another lane", "the servers'"));
  held.clear();
  CHECK(tell("idle again", "one key"));
  CHECK(replies.bytes() == kFrame);
}

TEST_CASE("one key has places for two connections of each of 1,000 sessions, and for three halves beside 1,024 lanes") {
  for (const bool has_lanes : {false, true}) {
    CAPTURE(has_lanes);
    UnsentReplies replies(true, kRoom);
    std::vector<zmq::message_t> held;
    const auto tell = [&](const std::string& name, const std::string& key) {
      auto frame = replies.frame({name, key}, some_bytes());
      REQUIRE(frame);
      held.push_back(std::move(*frame));
    };
    for (int lane = 0; lane < (has_lanes ? 1'024 : 0); ++lane) {
      tell("lane " + std::to_string(lane), "server");
    }
    for (int connection = 0; connection < (has_lanes ? 1'500 : 2'000); ++connection) {
      tell("connection " + std::to_string(connection), "worker");
    }
  }
}

TEST_CASE("who is told nothing for want of room has no place for it") {
  UnsentReplies replies(false, kRoom);
  std::vector<zmq::message_t> held;
  for (std::size_t peer = 0; peer < 2 * UnsentReplies::kMostPeers; ++peer) {
    CHECK_FALSE(replies.frame({"peer " + std::to_string(peer)}, some_bytes(2 * kRoom.shared)));
  }
  CHECK(fill(replies, {"another"}, held) == 110);
}

TEST_CASE("a first frame may be as long as what is left of the room of all") {
  UnsentReplies replies(false, kRoom);
  const auto first = replies.frame({"one"}, some_bytes(kRoom.shared / 2));
  CHECK(first);
  CHECK_FALSE(replies.frame({"one"}, some_bytes(kRoom.shared / 10)));
  CHECK_FALSE(replies.frame({"two"}, some_bytes(kRoom.shared / 2)));
  CHECK(replies.frame({"two"}, some_bytes(kRoom.shared / 3)));
}

TEST_CASE("frames are let go of as the transport sends them, also when there is nobody any more to count them") {
  Addresses addresses;
  zmq::context_t context;
  Router router(context);
  Dealer dealer(context, "dealer");
  dealer.connect(router.bind(addresses.make("tcp")));
  REQUIRE(dealer.send("", bytes_of("hello")));
  CHECK(receive_from(router).peer == "dealer");
  {
    UnsentReplies replies(false);
    auto frame = replies.frame({"dealer"}, bytes_of("told"));
    REQUIRE(frame);
    CHECK(router.send("dealer", *frame));
    CHECK(text_of(receive_from(dealer).header) == "told");
    eventually([&] { return replies.bytes() == 0; });
    auto nobody = replies.frame({"nobody"}, bytes_of("told"));
    REQUIRE(nobody);
    CHECK_FALSE(router.send("nobody", *nobody));
    nobody.reset();
    CHECK(replies.bytes() == 0);
    auto last = replies.frame({"dealer"}, bytes_of("last"));
    REQUIRE(last);
    CHECK(router.send("dealer", *last));
  }
  CHECK(text_of(receive_from(dealer).header) == "last");
}

}  // namespace
}  // namespace ballast
