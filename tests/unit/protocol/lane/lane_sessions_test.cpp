#include "protocol/lane/lane_sessions.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using namespace ballast;

namespace {

std::vector<LaneChunk> chunks_of_the_lane() {
  std::vector<LaneChunk> chunks;
  for (ChunkId id = 10; id-- > 0;) {
    chunks.push_back({id, 100});
  }
  return chunks;
}

// A window of 150 bytes, and two sessions at most, which have spoken.
LaneSessions two_sessions() {
  LaneSessions sessions({2, 100, 150}, chunks_of_the_lane());
  for (const SessionId session : {1, 2}) {
    sessions.hello(session, 10 * session);
    sessions.heard(session, 10 * session);
  }
  return sessions;
}

// Versions 4 and 5 of a chunk of 100 bytes.
constexpr ServedChunk kChunk{3, 100, 4, 5};

}  // namespace

TEST_CASE("who has said hello is heard, and one unseen for long enough makes room for a new one") {
  auto sessions = two_sessions();
  CHECK(sessions.hello(1, 30));
  CHECK_FALSE(sessions.heard(3, 30));
  CHECK_FALSE(sessions.hello(3, 119));
  CHECK(sessions.hello(3, 120));
  CHECK_FALSE(sessions.contains(2));
  CHECK(sessions.contains(1));
  CHECK(sessions.heard(1, 130));
  CHECK(sessions.heard(3, 130));
  CHECK_FALSE(sessions.hello(4, 219));
}

TEST_CASE("who has said hello and nothing since makes room at once, and those who have spoken keep their places") {
  LaneSessions sessions({3, 100, 150}, chunks_of_the_lane());
  sessions.hello(1, 10);
  sessions.heard(1, 11);
  sessions.hello(2, 12);
  sessions.hello(3, 13);
  CHECK(sessions.hello(4, 14));
  CHECK_FALSE(sessions.contains(2));
  CHECK(sessions.heard(4, 15));
  for (SessionId stranger = 100; stranger < 200; ++stranger) {  // again and again: they take each other's place alone
    CHECK(sessions.hello(stranger, 20));
  }
  CHECK(sessions.contains(1));
  CHECK(sessions.contains(4));
  CHECK(sessions.heard(199, 21));
  CHECK_FALSE(sessions.hello(5, 22));
}

TEST_CASE("whoever makes room, it is not the oldest to which weights are on their way that all the others wait for") {
  auto sessions = two_sessions();
  sessions.want(1, kChunk, {5, {}});
  CHECK(sessions.hello(3, 500));  // neither was heard of for long, the first one for longer
  CHECK(sessions.contains(1));
  CHECK_FALSE(sessions.contains(2));
}

TEST_CASE("one to which weights are still on their way keeps its place") {
  auto sessions = two_sessions();
  sessions.want(1, kChunk, {5, {}});
  sessions.heard(2, 500);
  CHECK_FALSE(sessions.hello(3, 500));
  sessions.released(1, 100);
  CHECK(sessions.hello(3, 500));
}

TEST_CASE("a version that is there is sent, the newest for whoever asks for it, and an older one is gone") {
  auto sessions = two_sessions();
  const auto older = sessions.want(1, kChunk, {4, {1, 7}});
  REQUIRE(older.has_value());
  CHECK(older->version == 4);
  CHECK(older->clock == LeadNumber{1, 7});
  CHECK_FALSE(older->is_gone);
  const auto newest = sessions.want(2, kChunk, {kNewestVersion, {1, 8}});
  REQUIRE(newest.has_value());
  CHECK(newest->version == 5);
  const auto gone = sessions.want(1, kChunk, {3, {1, 9}});
  REQUIRE(gone.has_value());
  CHECK(gone->is_gone);
  CHECK(gone->version == 3);
  CHECK(sessions.counters().served_older == 1);
  CHECK(sessions.counters().gone == 1);
}

TEST_CASE(
    "a version to come is waited for, by each session for one of a chunk, and answered in the order of sessions") {
  auto sessions = two_sessions();
  CHECK_FALSE(sessions.want(2, kChunk, {6, {}}).has_value());
  CHECK_FALSE(sessions.want(1, kChunk, {7, {}}).has_value());
  CHECK_FALSE(sessions.want(1, kChunk, {6, {}}).has_value());
  CHECK(sessions.answer_waiting({4, 100, 5, 6}).empty());
  const auto replies = sessions.answer_waiting({3, 100, 5, 6});
  REQUIRE(replies.size() == 2);
  CHECK(replies[0].session == 1);
  CHECK(replies[1].session == 2);
  CHECK(replies[0].version == 6);
  CHECK(sessions.answer_waiting({3, 100, 6, 7}).empty());
}

TEST_CASE("what a session waits for is forgotten with it") {
  LaneSessions sessions({2, 100, 1'000, 600}, chunks_of_the_lane());
  sessions.hello(1, 0);
  sessions.hello(2, 1);
  sessions.want(1, kChunk, {6, {}});
  sessions.want(1, kChunk, {6, {}, true});
  sessions.want(2, kChunk, {6, {}});
  REQUIRE(sessions.hello(3, 2).forgotten == 1);
  const auto replies = sessions.answer_waiting({3, 100, 5, 6});
  REQUIRE(replies.size() == 1);
  CHECK(replies[0].session == 2);
}

TEST_CASE(
    "beyond its window a session's replies wait, one for each chunk, those of the version that was asked for first") {
  auto sessions = two_sessions();
  const ServedChunk other{8, 100, 4, 5};
  const ServedChunk third{9, 20, 4, 5};
  REQUIRE(sessions.want(1, kChunk, {5, {1, 1}}).has_value());
  CHECK_FALSE(sessions.want(1, other, {4, {1, 2}}).has_value());
  CHECK_FALSE(sessions.want(1, kChunk, {5, {1, 3}}).has_value());
  CHECK_FALSE(sessions.want(1, other, {5, {1, 4}}).has_value());
  CHECK(sessions.want(1, third, {5, {1, 5}}).has_value());  // fits beside the first
  CHECK(sessions.deferred() == 2);
  CHECK(sessions.counters().deferred == 3);
  CHECK_FALSE(sessions.next_deferred(1).has_value());
  sessions.released(1, 100);
  const auto next = sessions.next_deferred(1);
  REQUIRE(next.has_value());
  CHECK(next->chunk == 3);
  CHECK(next->wanted.clock == LeadNumber{1, 3});
  REQUIRE(sessions.reply(1, kChunk, next->wanted).has_value());
  CHECK_FALSE(sessions.next_deferred(1).has_value());
  sessions.released(1, 100);
  const auto last = sessions.next_deferred(1);
  REQUIRE(last.has_value());
  CHECK(last->chunk == 8);
  CHECK(last->wanted.version == 5);
  CHECK(last->wanted.clock == LeadNumber{1, 4});
  CHECK_FALSE(sessions.next_deferred(77).has_value());
}

TEST_CASE("of more versions than a session can want at a time the one that was asked for first is forgotten") {
  auto sessions = two_sessions();
  for (Version version = 6; version < 6 + OpenPulls::kMost; ++version) {
    sessions.want(1, {static_cast<ChunkId>(version - 5), 100, 4, 5}, {version, {}});
  }
  sessions.want(1, {9, 100, 4, 5}, {99, {}});
  CHECK(sessions.answer_waiting({1, 100, 98, 99}).empty());
  CHECK(sessions.answer_waiting({2, 100, 98, 99}).size() == 1);
  CHECK(sessions.answer_waiting({9, 100, 98, 99}).size() == 1);
}

TEST_CASE("an average is there at the newest version alone") {
  auto sessions = two_sessions();
  const auto newest = sessions.want(1, kChunk, {5, {}, true});
  REQUIRE(newest.has_value());
  CHECK(newest->averages);
  CHECK_FALSE(newest->is_gone);
  CHECK(newest->version == 5);
  const auto older = sessions.want(2, kChunk, {4, {}, true});
  REQUIRE(older.has_value());
  CHECK(older->averages);
  CHECK(older->is_gone);
  CHECK(sessions.counters().served_older == 0);
}

TEST_CASE("a session waits for the weights and the average of a chunk side by side") {
  auto sessions = two_sessions();
  CHECK_FALSE(sessions.want(1, kChunk, {6, {}, true}).has_value());
  CHECK_FALSE(sessions.want(1, kChunk, {6, {}}).has_value());
  const auto replies = sessions.answer_waiting({3, 20, 5, 6});
  REQUIRE(replies.size() == 2);
  CHECK(replies[0].averages);
  CHECK_FALSE(replies[1].averages);
  CHECK(replies[1].version == 6);
}

TEST_CASE("beyond the window the weights and the average of a chunk wait side by side") {
  auto sessions = two_sessions();
  REQUIRE(sessions.want(1, kChunk, {5, {}}).has_value());
  CHECK_FALSE(sessions.want(1, kChunk, {5, {}, true}).has_value());
  CHECK_FALSE(sessions.want(1, kChunk, {4, {}}).has_value());
  CHECK(sessions.deferred() == 2);
  sessions.released(1, 100);
  const auto average = sessions.next_deferred(1);
  REQUIRE(average.has_value());
  CHECK(average->wanted.averages);
  const auto reply = sessions.reply(1, {3, 100, 5, 6}, average->wanted);  // the chunk has gone on
  REQUIRE(reply.has_value());
  CHECK(reply->is_gone);
  const auto weights = sessions.next_deferred(1);
  REQUIRE(weights.has_value());
  CHECK_FALSE(weights->wanted.averages);
}

TEST_CASE("a chunk larger than the window is sent by itself") {
  auto sessions = two_sessions();
  const ServedChunk large{3, 1'000, 4, 5};
  CHECK(sessions.want(1, large, {5, {}}).has_value());
  CHECK_FALSE(sessions.want(1, kChunk, {5, {}}).has_value());
  sessions.released(1, 5'000);  // more than there was
  CHECK(sessions.next_deferred(1).has_value());
}

TEST_CASE("with another timeline nobody waits any more, and what is on its way still fills the window") {
  auto sessions = two_sessions();
  sessions.want(1, kChunk, {5, {}});
  sessions.want(1, {8, 100, 4, 5}, {5, {}});
  sessions.want(2, kChunk, {6, {}});
  sessions.forget_replies();
  CHECK(sessions.deferred() == 0);
  CHECK(sessions.answer_waiting({3, 100, 5, 6}).empty());
  CHECK_FALSE(sessions.want(1, kChunk, {5, {}}).has_value());
}

TEST_CASE("beyond the window of all each session has one reply on its way, and the others wait in turn") {
  LaneSessions sessions({3, 100, 1'000, 600}, chunks_of_the_lane());
  const auto chunk = [](ChunkId id) { return ServedChunk{id, 100, 4, 5}; };
  const auto asks = [&](SessionId session, ChunkId first, ChunkId last) {
    int answered = 0;
    for (ChunkId id = first; id <= last; ++id) {
      answered += sessions.want(session, chunk(id), {5, {}}) ? 1 : 0;
    }
    return answered;
  };
  for (const SessionId session : {1, 2, 3}) {
    sessions.hello(session, 10);
    sessions.heard(session, 10);
  }
  CHECK(asks(1, 1, 9) == 6);
  CHECK(asks(2, 1, 3) == 1);
  CHECK(asks(3, 1, 3) == 1);
  // Of those that wait each has its turn, whoever it is that has read.
  std::vector<std::pair<SessionId, ChunkId>> served;
  for (const SessionId reader : {1, 1, 1, 1, 1, 1, 2, 3, 1}) {
    sessions.released(reader, 100);
    while (const auto next = sessions.next_deferred(reader)) {
      REQUIRE(sessions.reply(next->session, chunk(next->chunk), next->wanted).has_value());
      served.emplace_back(next->session, next->chunk);
    }
  }
  const std::vector<std::pair<SessionId, ChunkId>> expected{{1, 7}, {2, 2}, {3, 2}, {1, 8}, {2, 3}, {3, 3}, {1, 9}};
  CHECK(served == expected);
  CHECK(sessions.deferred() == 0);
}

TEST_CASE("contributions are counted for the sessions that are known") {
  auto sessions = two_sessions();
  sessions.contributed(1);
  sessions.contributed(1);
  sessions.contributed(9);
  CHECK(sessions.contributions() == std::map<SessionId, std::uint64_t>{{1, 2}});
  sessions.heard(2, 200);
  sessions.hello(3, 200);
  CHECK(sessions.contributions().empty());
}
