#include "protocol/lane/call_book.h"

#include <doctest/doctest.h>

#include "tests/unit/protocol/lane/call_book_fixture.h"

using namespace ballast;
using namespace ballast::one_book;

TEST_CASE("what is offered is called once, the lowest first, and nobody who offers nothing") {
  BookFixture at(100);
  at.offers(kAnn, {leaf(1, 0), leaf(0, 3), leaf(0, 1)});
  const auto actions = at.turn();
  const auto calls = BookFixture::to<Call>(actions, kAnn);
  REQUIRE(calls.size() == 3);
  CHECK(actions.size() == 3);
  CHECK(calls[0].work == leaf(0, 1));
  CHECK(calls[1].work == leaf(0, 3));
  CHECK(calls[2].work == leaf(1, 0));
  CHECK(calls[0].number < calls[1].number);
  CHECK(calls[1].number < calls[2].number);
  at.offers(kAnn, {leaf(0, 1), leaf(0, 3)});  // it has not heard of the calls yet
  CHECK(at.turn().empty());
}

TEST_CASE("offers take the place of those before, and come over the newest connection alone") {
  BookFixture at(0);
  at.offers(kAnn, {leaf(0, 0)});
  at.offers(kAnn, {leaf(0, 1)});
  CHECK(at.turn().empty());  // nobody has the first slot, and there is no room for another one
  at.book.heard(kAnn, 2, kAnn);
  CHECK_FALSE(at.offers(kAnn, {leaf(0, 0)}, 1));
  CHECK(at.turn().empty());
  CHECK(at.offers(kAnn, {leaf(0, 0)}, 2));
  CHECK(at.only_call_of(kAnn).work == leaf(0, 0));
}

TEST_CASE("a call is in use until its payload, its none, or the end of its connection") {
  BookFixture at(100);
  at.offers(kAnn, {leaf(0, 0), leaf(0, 1), leaf(0, 2)});
  const auto calls = at.calls_of(kAnn);
  REQUIRE(calls.size() == 3);
  CHECK(at.in_use() == 30);
  at.pay(kAnn, calls[0]);
  CHECK(at.in_use() == 30);  // held now
  at.none(kAnn, calls[1]);
  CHECK(at.in_use() == 20);
  at.book.forget_offers();  // another timeline
  at.greet(kAnn, 2);        // another connection
  at.book.forget(kAnn);     // its death
  CHECK(at.in_use() == 20);
  at.book.ended(kAnn, 2);
  CHECK(at.in_use() == 20);
  at.book.ended(kAnn, 1);
  CHECK(at.in_use() == 10);
}

TEST_CASE("what was not called, or is not what was called, was not asked for") {
  BookFixture at(100);
  CHECK(at.push(kAnn, leaf(0, 0), 0) == CallBook::Payment::Kind::unasked);
  at.offers(kAnn, {leaf(0, 0), leaf(0, 1), leaf(0, 2)});
  const auto calls = at.calls_of(kAnn);
  REQUIRE(calls.size() == 3);
  CHECK(at.push(kBob, leaf(0, 0), calls[0].number) == CallBook::Payment::Kind::unasked);
  CHECK(at.push(kAnn, leaf(0, 0), calls[0].number, 10, 2) == CallBook::Payment::Kind::unasked);
  CHECK(at.push(kAnn, leaf(1, 0), calls[0].number) == CallBook::Payment::Kind::unasked);
  CHECK(at.push(kAnn, leaf(0, 1), calls[1].number, 11) == CallBook::Payment::Kind::unasked);
  at.pay(kAnn, calls[2]);
  CHECK(at.push(kAnn, leaf(0, 2), calls[2].number) == CallBook::Payment::Kind::unasked);  // once
}

TEST_CASE("the first missing slot of the lowest chunk is called whatever is in use, once at a time") {
  BookFixture at(0);
  at.offers(kAnn, {leaf(0, 1), leaf(0, 2), leaf(1, 0)});
  CHECK(at.turn().empty());
  CHECK(at.book.counters().waits == 1);
  at.offers(kBob, {leaf(0, 0)});
  at.pay(kBob, at.only_call_of(kBob));
  const auto second = at.only_call_of(kAnn);
  CHECK(second.work == leaf(0, 1));
  at.offers(kBob, {leaf(0, 1)});
  CHECK(at.turn().empty());
  at.pay(kAnn, second);
  CHECK(at.only_call_of(kAnn).work == leaf(0, 2));
  CHECK(at.book.counters().spine_calls == 3);
  CHECK(at.book.counters().calls == 3);
}

TEST_CASE("others are called as far as there is room beside the reserve, and first what joins what is held") {
  BookFixture at(20);
  at.offers(kAnn, {leaf(0, 2)});
  at.pay(kAnn, at.only_call_of(kAnn));
  CHECK(at.book.waiting_offers() == 0);
  at.offers(kAnn, {leaf(0, 1), leaf(0, 3), leaf(1, 1)});
  at.offers(kBob, {leaf(1, 1)});
  CHECK(at.only_call_of(kAnn).work == leaf(0, 3));
  CHECK(at.book.waiting_offers() == 2);  // one of them of both
}

TEST_CASE("statistics are called where nothing else finds room, and nothing else has theirs") {
  const LaneChunk statistics{1, 2, true};
  BookFixture at(4, {{0, 10, false}, statistics, {2, 1, false}}, {}, statistics);
  at.offers(kAnn, {{0, 0, {2, 4}}, leaf(0, 1), {0, 1, {2, 4}}, {0, 2, {2, 4}}});
  const auto call = at.only_call_of(kAnn);  // of the others not even the smallest
  CHECK(call.work == Work{0, 1, {2, 4}});
  CHECK(at.push(kAnn, call.work, call.number, 2) == CallBook::Payment::Kind::paid);
  at.offers(kBob, {leaf(0, 1), {1, 0, {2, 4}}, {0, 1, {0, 1}}, {0, 1, {1, 2}}, {1, 1, {2, 4}}});
  const auto calls = at.calls_of(kBob);
  REQUIRE(calls.size() == 1);  // one more fits
  CHECK(calls[0].work == Work{0, 1, {0, 1}});
}

TEST_CASE("nothing is called that lies in a node which is called, until that is void") {
  BookFixture at(100);
  at.offers(kAnn, {{0, 0, {2, 4}}});
  const auto call = at.only_call_of(kAnn);
  at.offers(kBob, {leaf(0, 2)});
  CHECK(at.turn().empty());
  at.none(kAnn, call);
  CHECK(at.only_call_of(kBob).work == leaf(0, 2));
}

TEST_CASE("what is covered or applied is answered with a receipt, and not called") {
  BookFixture at(100);
  at.offers(kAnn, {{0, 0, {0, 4}}, {0, 1, {0, 2}}});
  const auto calls = at.calls_of(kAnn);
  REQUIRE(calls.size() == 2);
  at.offers(kBob, {leaf(0, 2), leaf(1, 1)});
  at.pay(kAnn, calls[0]);
  CHECK(BookFixture::to<Receipt>(at.told, kBob) == std::vector<Receipt>{{1, 0, 0, {2, 3}, ReceiptOutcome::duplicate}});
  at.pay(kAnn, calls[1]);
  const auto actions = at.turn();
  CHECK(BookFixture::to<Receipt>(actions, kBob) == std::vector<Receipt>{{1, 0, 1, {1, 2}, ReceiptOutcome::duplicate}});
  CHECK(actions.size() == 1);
  CHECK(at.turn().empty());
}

TEST_CASE("what does not come for two seconds is taken back once all is read, and stays in use until the end") {
  BookFixture at(0);
  at.book.tick(1'000);
  at.offers(kAnn, {leaf(0, 0)});
  at.only_call_of(kAnn);
  at.book.tick(9'000'000);
  CHECK(at.book.take_back(1'000 + kOverdue - 1).empty());  // something may be unread since
  const auto taken = at.book.take_back(1'000 + kOverdue);
  REQUIRE(taken.size() == 1);
  const auto* drop = std::get_if<lane::DropConnection>(taken.data());
  REQUIRE(drop != nullptr);
  CHECK(drop->session == kAnn);
  CHECK(drop->connection == 1);
  CHECK(at.book.take_back(9'000'000).empty());
  CHECK(at.in_use() == 10);
  CHECK_FALSE(at.offers(kAnn, {leaf(0, 0)}));
  at.book.heard(kAnn, 2, kAnn);
  CHECK(at.offers(kAnn, {leaf(0, 0)}, 2));
  CHECK(at.turn().empty());  // the spine's call is not settled
  at.book.ended(kAnn, 1);
  CHECK(at.in_use() == 0);
  CHECK(at.only_call_of(kAnn).work == leaf(0, 0));
}

TEST_CASE("whose call is taken back is out of good standing, with all sessions of its key") {
  BookFixture at(100);
  at.book.greet(3, 1, kAnn, true);  // of the same key
  at.offers(kAnn, {leaf(0, 0)});
  at.only_call_of(kAnn);
  CHECK(at.book.take_back(kOverdue).size() == 1);
  at.book.ended(kAnn, 1);
  at.offers(3, {leaf(0, 1), leaf(0, 2)});
  const auto call = at.only_call_of(3);  // one at a time
  CHECK(call.work == leaf(0, 1));
  at.book.greet(4, 1, kAnn, true);  // nor does a new session make it better
  at.offers(4, {leaf(1, 1)});
  CHECK(at.turn().empty());
  at.pay(3, call);
  CHECK(at.turn().size() == 2);  // it has paid
}

TEST_CASE("of the spine those out of good standing are asked last, and first whoever failed longest ago") {
  BookFixture at(0);
  at.greet(3);
  at.offers(kBob, {leaf(0, 0)});
  at.fail(kBob);
  at.offers(kAnn, {leaf(0, 0)});
  at.fail(kAnn);
  at.offers(kAnn, {leaf(0, 0)});
  at.offers(kBob, {leaf(0, 0)});
  at.offers(3, {leaf(0, 0)});
  at.fail(3);
  at.fail(kBob);  // of the three the first to fail
  at.fail(kAnn);
  CHECK(at.book.counters().spine_calls == 5);
}

TEST_CASE("nobody fails who says that there is nothing of what is covered, or of another timeline") {
  BookFixture at(100);
  at.offers(kAnn, {leaf(0, 0), leaf(0, 1), {0, 0, {2, 4}}});
  const auto calls = at.calls_of(kAnn);
  REQUIRE(calls.size() == 3);
  at.offers(kBob, {{0, 0, {0, 2}}});
  at.pay(kBob, at.only_call_of(kBob));
  at.none(kAnn, calls[0]);
  at.none(kAnn, calls[1]);
  at.none(kAnn, calls[2], 1, 2);
  at.offers(kAnn, {leaf(1, 1), leaf(1, 2)});
  CHECK(at.calls_of(kAnn).size() == 2);  // as only one in good standing is
}

TEST_CASE("half of the room beside the reserve is given ahead, in equal parts, to those who got weights") {
  BookFixture at(80);
  CHECK(at.turn().empty());
  at.book.served(kAnn);
  CHECK(BookFixture::to<BytesAhead>(at.turn(), kAnn) == std::vector<BytesAhead>{{40}});
  CHECK(at.in_use() == 40);
  at.book.served(kBob);
  CHECK(BookFixture::to<BytesAhead>(at.turn(), kBob) == std::vector<BytesAhead>{{20}});
  CHECK(at.push(kAnn, leaf(0, 1), 0, 41) == CallBook::Payment::Kind::unasked);
  CHECK(at.push(kAnn, leaf(0, 1), 0) == CallBook::Payment::Kind::paid);
  CHECK(at.push(kBob, leaf(0, 2), 0, 10, 2) == CallBook::Payment::Kind::unasked);  // over another connection
  CHECK(at.in_use() == 60);
  CHECK(at.book.take_back(100 * kOverdue).empty());  // never overdue
}

TEST_CASE("nothing is given ahead of less than the largest chunk, or to whoever is out of good standing") {
  BookFixture small(19);
  small.book.served(kAnn);
  CHECK(small.turn().empty());
  BookFixture at(80);
  at.offers(kAnn, {leaf(0, 0)});
  at.fail(kAnn);
  at.book.served(kAnn);
  CHECK(at.turn().empty());
}

TEST_CASE("who is out of good standing takes no part of what is given ahead from the others") {
  BookFixture at(80);
  at.offers(kBob, {leaf(0, 0)});
  at.fail(kBob);
  at.book.served(kBob);
  at.book.served(kAnn);
  CHECK(BookFixture::to<BytesAhead>(at.turn(), kAnn) == std::vector<BytesAhead>{{40}});
  at.offers(kBob, {leaf(0, 0)});
  at.pay(kBob, at.only_call_of(kBob));
  at.book.served(kBob);
  CHECK(BookFixture::to<BytesAhead>(at.turn(), kBob) == std::vector<BytesAhead>{{20}});
}

TEST_CASE(
    "who has been given bytes ahead has no more of them than its part, and as much again once it has spent some") {
  BookFixture at(80);
  at.book.served(kAnn);
  REQUIRE(BookFixture::to<BytesAhead>(at.turn(), kAnn) == std::vector<BytesAhead>{{40}});
  at.book.served(kAnn);
  CHECK(at.turn().empty());
  for (const Slot slot : {1, 2, 3}) {
    CHECK(at.push(kAnn, leaf(0, slot), 0) == CallBook::Payment::Kind::paid);
  }
  CHECK(BookFixture::to<BytesAhead>(at.turn(), kAnn) == std::vector<BytesAhead>{{30}});
}

TEST_CASE("who is sent weights has bytes ahead for each of the lane's chunks once, where its part is so much") {
  BookFixture at(80, {{0, 10, false}, {1, 10, false}}, {}, {}, false, 40);
  at.book.served(kAnn);
  REQUIRE(BookFixture::to<BytesAhead>(at.turn(), kAnn) == std::vector<BytesAhead>{{40}});
  CHECK(at.push(kAnn, leaf(0, 1), 0) == CallBook::Payment::Kind::paid);
  CHECK(at.turn().empty());  // it has more than half of its part, and no other weights yet
  at.book.served(kAnn);
  CHECK(BookFixture::to<BytesAhead>(at.turn(), kAnn) == std::vector<BytesAhead>{{10}});
}

TEST_CASE("who has too much of its part for a whole chunk more keeps nobody waiting") {
  BookFixture at(40);
  at.book.served(kAnn);
  REQUIRE(BookFixture::to<BytesAhead>(at.turn(), kAnn) == std::vector<BytesAhead>{{20}});
  CHECK(at.push(kAnn, leaf(0, 1), 0, 8) == CallBook::Payment::Kind::paid);
  CHECK(at.push(kAnn, leaf(0, 2), 0, 8) == CallBook::Payment::Kind::paid);
  at.book.served(kBob);  // the part of each is 10 now, and Ann has 4
  const auto actions = at.turn();
  CHECK(BookFixture::to<BytesAhead>(actions, kAnn).empty());
  CHECK(BookFixture::to<BytesAhead>(actions, kBob) == std::vector<BytesAhead>{{10}});
}

TEST_CASE("what is given ahead is asked back when an offer waits for room, and comes back as an amount") {
  BookFixture at(20);
  at.book.served(kAnn);
  CHECK(BookFixture::to<BytesAhead>(at.turn(), kAnn) == std::vector<BytesAhead>{{10}});
  at.offers(kBob, {leaf(0, 1), leaf(0, 2)});
  auto actions = at.turn();
  CHECK(BookFixture::to<Call>(actions, kBob).size() == 1);
  const auto asked = BookFixture::to<ReturnAsked>(actions, kAnn);
  REQUIRE(asked.size() == 1);
  CHECK(at.turn().empty());  // it is asked once
  CHECK_FALSE(at.book.returns(kAnn, 1, asked[0].number, 11));
  CHECK_FALSE(at.book.returns(kAnn, 1, asked[0].number + 1, 10));
  CHECK(at.book.returns(kAnn, 1, asked[0].number, 10));
  CHECK(at.only_call_of(kBob).work == leaf(0, 2));
}

TEST_CASE("nothing is given ahead to whoever is asked to return what it has, until it has answered") {
  BookFixture at(40);
  at.book.served(kAnn);
  CHECK(BookFixture::to<BytesAhead>(at.turn(), kAnn) == std::vector<BytesAhead>{{20}});
  CHECK(at.push(kAnn, leaf(0, 1), 0) == CallBook::Payment::Kind::paid);  // so it may have more, in its turn
  at.offers(kBob, {leaf(0, 2), leaf(0, 3), leaf(1, 0)});
  const auto actions = at.turn();
  const auto calls = BookFixture::to<Call>(actions, kBob);
  REQUIRE(calls.size() == 2);
  const auto asked = BookFixture::to<ReturnAsked>(actions, kAnn);
  REQUIRE(asked.size() == 1);
  at.pay(kBob, calls[0]);
  at.pay(kBob, calls[1]);
  at.offers(kBob, {});
  at.book.served(kAnn);
  CHECK(at.in_use() == 30);  // two nodes and what Ann has left: there is room for one more
  CHECK(at.turn().empty());  // and nothing waits for it
  CHECK(at.book.returns(kAnn, 1, asked[0].number, 10));
  CHECK(BookFixture::to<BytesAhead>(at.turn(), kAnn) == std::vector<BytesAhead>{{20}});
}

TEST_CASE("a return that is not answered is taken back, and what was given comes back with the connection's end") {
  BookFixture at(20);
  at.book.served(kAnn);
  at.turn();
  at.offers(kBob, {leaf(0, 1), leaf(0, 2)});
  const auto first = at.turn();
  at.pay(kBob, BookFixture::to<Call>(first, kBob).at(0));
  CHECK(at.book.take_back(kOverdue - 1).empty());
  CHECK(at.book.take_back(kOverdue).size() == 1);
  CHECK(at.in_use() == 20);
  at.book.ended(kAnn, 1);
  CHECK(at.in_use() == 10);
}

TEST_CASE("a connection that owes is dropped when the session has another one, or is known no more") {
  for (const bool is_forgotten : {false, true}) {
    CAPTURE(is_forgotten);
    BookFixture at(0);
    at.offers(kAnn, {leaf(0, 0)});
    at.only_call_of(kAnn);
    const auto dropped = is_forgotten ? at.book.forget(kAnn) : at.book.heard(kAnn, 2, kAnn);
    REQUIRE(dropped.size() == 1);
    CHECK(std::get<lane::DropConnection>(dropped.front()).session == kAnn);
    CHECK(std::get<lane::DropConnection>(dropped.front()).connection == 1);
    at.book.ended(kAnn, 1);
    CHECK(at.in_use() == 0);
    at.offers(kBob, {leaf(0, 0)});
    at.only_call_of(kBob);  // and the oldest work is called again
  }
}

TEST_CASE("a connection that owes nothing is let alone when the session has another one") {
  BookFixture at(0);
  CHECK(at.book.heard(kAnn, 2, kAnn).empty());
  CHECK(at.book.forget(kAnn).empty());
}

TEST_CASE("who is called and goes fails the second time, unless it has paid between") {
  for (const bool pays : {false, true}) {
    CAPTURE(pays);
    BookFixture at(0);
    const auto go = [&](ConnectionId connection) {
      at.book.heard(kAnn, connection, kAnn);
      at.offers(kAnn, {leaf(0, 0)}, connection);
      at.only_call_of(kAnn);
      at.book.ended(kAnn, connection);
    };
    go(1);
    CHECK(at.book.out_of_standing(8).all.empty());
    if (pays) {
      at.book.useful(kAnn, kAnn);
    }
    go(2);
    CHECK(at.book.out_of_standing(8).all.size() == (pays ? 0 : 1));
  }
}

TEST_CASE("whose payload is of no use, or of another timeline, fails the second time") {
  BookFixture at(0);
  for (int i = 0; i < 2; ++i) {
    CHECK(at.book.out_of_standing(8).all.empty());
    at.offers(kAnn, {leaf(0, 0)});
    const auto call = at.only_call_of(kAnn);
    Push push{2, call.work.step, call.work.chunk, call.work.node, false, kNoSlot, {}};
    push.call = call.number;
    const auto paid = at.book.pays(kAnn, 1, push, 10);
    CHECK(paid == CallBook::Payment{CallBook::Payment::Kind::other_timeline, kAnn});
    CHECK(at.in_use() == 0);
    at.book.useless(*paid.payer);
  }
  CHECK(at.book.out_of_standing(8).all == std::vector<SessionId>{kAnn});
}

TEST_CASE("of several in good standing the oldest work is called of whoever was called longest ago") {
  BookFixture at(0);
  ConnectionId connection = 1;
  for (const auto session : {kAnn, kBob, kAnn}) {
    for (const auto each : {kAnn, kBob}) {
      at.book.heard(each, connection, each);
      at.offers(each, {leaf(0, 0)}, connection);
    }
    at.only_call_of(session);
    at.book.ended(session, connection);  // it has gone, and comes back
    at.book.useful(session, session);
    ++connection;
  }
}

TEST_CASE("room for who takes no calls is free again with its connection") {
  BookFixture at(100);
  at.book.greet_with_credit(kAnn, 1, at.applier);
  at.book.greet_with_credit(kAnn, 2, at.applier);
  at.book.ended(kAnn, 1);
  CHECK(at.in_use() == 20);
  CHECK(at.book.knows(kAnn));
  at.book.forget(kBob);
  at.book.ended(kAnn, 2);
  CHECK(at.in_use() == 0);
}

TEST_CASE("who takes no calls has room for two chunks as long as it is known") {
  BookFixture at(100);
  CHECK(at.book.greet_with_credit(kAnn, 1, at.applier) == 10);
  CHECK(at.in_use() == 20);
  CHECK(at.push(kAnn, leaf(0, 1), 0) == CallBook::Payment::Kind::paid);
  at.book.forget(kAnn);
  CHECK(at.in_use() == 10);  // what is held
}

TEST_CASE("who takes no calls is let in only where there is room, and what it sends must find some as well") {
  BookFixture at(35);
  CHECK(at.book.greet_with_credit(kAnn, 1, at.applier) == 10);
  CHECK(at.book.greet_with_credit(kBob, 1, at.applier) == std::nullopt);
  CHECK(at.book.greet_with_credit(kAnn, 1, at.applier) == 10);  // it had it already
  CHECK(at.book.has_room_for(leaf(0, 2), 10, at.applier));
  CHECK(at.push(kAnn, leaf(0, 2), 0) == CallBook::Payment::Kind::paid);
  CHECK_FALSE(at.book.has_room_for(leaf(0, 3), 10, at.applier));
  CHECK(at.book.has_room_for(leaf(0, 0), 10, at.applier));  // the spine has its own
  at.book.forget(kAnn);
  CHECK(at.book.has_room_for(leaf(0, 3), 10, at.applier));
}

TEST_CASE("who in good standing offers the slot that is wanted, or is called for it, is told") {
  BookFixture at(0);
  at.offers(kAnn, {{0, 0, {0, 2}}});
  at.offers(kBob, {leaf(0, 0)});
  const auto wanted = at.applier.oldest_wanted();
  REQUIRE(wanted);
  CHECK(at.book.bringers(*wanted, 4, 8) == std::vector{kAnn, kBob});
  CHECK(at.book.bringers(*wanted, 4, 1).size() == 1);
  const auto call = at.only_call_of(kAnn);
  CHECK(at.book.bringers(*wanted, 4, 8) == std::vector{kAnn, kBob});
  at.none(kAnn, call);
  at.offers(kAnn, {{0, 0, {0, 2}}});
  CHECK(at.book.bringers(*wanted, 4, 8) == std::vector{kBob});
}

TEST_CASE("who was called over a connection that is no longer its newest brings the slot only once it offers it anew") {
  BookFixture at(0);
  at.offers(kAnn, {leaf(0, 0)});
  at.only_call_of(kAnn);
  const auto wanted = at.applier.oldest_wanted();
  REQUIRE(wanted);
  CHECK(at.book.bringers(*wanted, 4, 8) == std::vector{kAnn});
  at.book.heard(kAnn, 2, kAnn);
  CHECK(at.book.bringers(*wanted, 4, 8).empty());  // though it is in good standing, and the call is not settled
  at.offers(kAnn, {leaf(0, 0)}, 2);
  CHECK(at.book.bringers(*wanted, 4, 8) == std::vector{kAnn});
}

TEST_CASE("who was called brings the slot no more once its key is out of good standing by another of its sessions") {
  BookFixture at(10);
  at.book.greet(3, 1, kAnn, true);
  at.offers(3, {leaf(0, 1)});
  at.only_call_of(3);
  at.book.tick(1'000'000);
  at.offers(kAnn, {leaf(0, 0)});
  at.only_call_of(kAnn);
  const auto wanted = at.applier.oldest_wanted();
  REQUIRE(wanted);
  CHECK(at.book.bringers(*wanted, 4, 8) == std::vector{kAnn});
  at.book.tick(2'500'000);
  const auto dropped = at.book.take_back(2'500'000);
  REQUIRE(dropped.size() == 1);
  CHECK(std::get<lane::DropConnection>(dropped.front()).session == 3);
  CHECK(at.book.bringers(*wanted, 4, 8).empty());
}

TEST_CASE("of those who bring a slot one of each key is told first, however many sessions a key has") {
  constexpr PayerId kKeyOfMany = 77;
  BookFixture at(0);
  for (SessionId session = 10; session < 20; ++session) {
    at.book.greet(session, 1, kKeyOfMany, true);
    at.offers(session, {{0, 0, {0, 4}}});
  }
  at.offers(kAnn, {leaf(0, 0)});
  const auto wanted = at.applier.oldest_wanted();
  REQUIRE(wanted);
  CHECK(at.book.bringers(*wanted, 4, 3) == std::vector<SessionId>{kAnn, 10, 11});
}

TEST_CASE("where the decision needs the whole gradient, a covered chunk is done with, and its root takes no room") {
  auto at = BookFixture::of_whole_gradients(10);
  at.offers(kAnn, {{0, 0, {0, 4}}});
  at.pay(kAnn, at.only_call_of(kAnn));
  const auto wanted = at.applier.oldest_wanted();
  REQUIRE(wanted);
  CHECK(wanted->step == 0);
  CHECK(wanted->chunk == 1);
  CHECK(wanted->slot == 0);
  at.offers(kAnn, {leaf(1, 0)});
  at.offers(kBob, {leaf(1, 2), leaf(1, 3)});
  const auto actions = at.turn();
  CHECK(actions.size() == 2);
  REQUIRE(BookFixture::to<Call>(actions, kAnn).size() == 1);
  CHECK(at.book.counters().spine_calls == 2);
  REQUIRE(BookFixture::to<Call>(actions, kBob).size() == 1);  // beside the root; one more would find no room
  CHECK(BookFixture::to<Call>(actions, kBob)[0].work == leaf(1, 2));
  CHECK(at.in_use() == 30);
}

TEST_CASE("where the decision needs the whole gradient, roots are in use until it is there, and not after it") {
  auto at = BookFixture::of_whole_gradients(10);
  for (const ChunkId chunk : {0U, 1U}) {
    at.offers(kAnn, {{0, chunk, {0, 4}}});
    at.pay(kAnn, at.only_call_of(kAnn));
  }
  CHECK(at.in_use() == 20);
  CHECK_FALSE(at.applier.oldest_wanted());
  at.offers(kBob, {leaf(0, 0, 1)});
  CHECK(at.turn().empty());  // of a step that is still to come
  at.decide();
  CHECK(at.in_use() == 0);
  CHECK(at.only_call_of(kBob).work == leaf(0, 0, 1));
  at.offers(kAnn, {leaf(0, 2, 1), leaf(0, 3, 1)});
  CHECK(at.only_call_of(kAnn).work == leaf(0, 2, 1));  // beside it there is room for one more, as before
}

TEST_CASE("of items the oldest is called, one at a time until it is applied") {
  BookFixture at(0, {{0, 10, false}}, ItemRules{});
  at.measures = false;
  at.offers(kAnn, {leaf(0, 1)});
  const auto call = at.only_call_of(kAnn);
  at.offers(kBob, {leaf(0, 0)});
  CHECK(at.turn().empty());
  at.pay(kAnn, call);
  CHECK(at.turn().empty());  // taken, and not applied
  CHECK(at.in_use() == 10);
  const ChunkMeasure found{0, 0, {}, true, 0, kNoSlot};
  CHECK(at.applier.measured({found, at.payload}, at.plan).applied.size() == 1);
  CHECK(at.in_use() == 0);
  CHECK(at.only_call_of(kBob).work == leaf(0, 0));
}

TEST_CASE("of the items that are offered the oldest is called, and no other, whoever offers it and whenever") {
  for (const bool oldest_comes_first : {false, true}) {
    CAPTURE(oldest_comes_first);
    BookFixture at(0, {{0, 10, false}}, ItemRules{});
    at.offers(oldest_comes_first ? kAnn : kBob, {leaf(0, oldest_comes_first ? 0 : 1), leaf(0, 0, 1)});
    at.offers(oldest_comes_first ? kBob : kAnn, {leaf(0, oldest_comes_first ? 1 : 0)});
    const auto actions = at.turn();
    CHECK(actions.size() == 1);
    REQUIRE(BookFixture::to<Call>(actions, kAnn).size() == 1);
    const auto first = BookFixture::to<Call>(actions, kAnn)[0];
    CHECK(first.work == leaf(0, 0));
    at.pay(kAnn, first);
    CHECK(at.only_call_of(kBob).work == leaf(0, 1));
    CHECK(at.book.counters().calls == 2);
  }
}

TEST_CASE("a journaled item stays in use until it is committed, and no other is called before") {
  ItemRules rules;
  rules.journaled = true;
  BookFixture at(0, {{0, 10, false}}, rules);
  at.offers(kAnn, {leaf(0, 0), leaf(0, 1)});
  const auto call = at.only_call_of(kAnn);
  at.pay(kAnn, call);  // it is measured at once, and handed to the journal
  CHECK(at.applier.held_payloads() == 1);
  CHECK(at.in_use() == 10);
  at.offers(kBob, {leaf(0, 0)});
  CHECK(at.turn().empty());
  CHECK(at.told.empty());
  at.commit(1);
  CHECK(at.in_use() == 0);
  CHECK(BookFixture::to<Receipt>(at.told, kBob) == std::vector<Receipt>{{1, 0, 0, {0, 1}, ReceiptOutcome::duplicate}});
  CHECK(at.only_call_of(kAnn).work == leaf(0, 1));
}

TEST_CASE("an item that is held is not called again, whatever room there is, and whoever offers it gets a receipt") {
  ItemRules rules;
  rules.journaled = true;
  BookFixture at(100, {{0, 10, false}}, rules);
  at.offers(kAnn, {leaf(0, 0)});
  at.pay(kAnn, at.only_call_of(kAnn));
  at.offers(kBob, {leaf(0, 0), leaf(0, 1)});
  CHECK(at.only_call_of(kBob).work == leaf(0, 1));
  at.commit(1);
  CHECK(BookFixture::to<Receipt>(at.told, kBob) == std::vector<Receipt>{{1, 0, 0, {0, 1}, ReceiptOutcome::duplicate}});
}

TEST_CASE("an item beyond the plan's end is not called until the plan is longer") {
  BookFixture at(100, {{0, 10, false}}, ItemRules{});
  at.offers(kAnn, {leaf(0, 0, 2), leaf(0, 3, 1)});  // items 8 and 7
  REQUIRE(at.plan.end() == 8);
  const auto call = at.only_call_of(kAnn);
  CHECK(call.work == leaf(0, 3, 1));
  at.pay(kAnn, call);
  CHECK(at.turn().empty());
  at.plan.extend(8, std::vector<StepFactors>(1), 0);
  CHECK(at.only_call_of(kAnn).work == leaf(0, 0, 2));
}

TEST_CASE("an item that is applied is answered with a receipt at once, and called no more") {
  BookFixture at(0, {{0, 10, false}}, ItemRules{});
  at.offers(kAnn, {leaf(0, 0)});
  at.offers(kBob, {leaf(0, 0)});
  const std::vector<Receipt> receipt{{1, 0, 0, {0, 1}, ReceiptOutcome::duplicate}};
  at.pay(kAnn, at.only_call_of(kAnn));
  CHECK(BookFixture::to<Receipt>(at.told, kBob) == receipt);
  at.offers(kBob, {leaf(0, 0)});  // it has not heard of it
  at.offers(kAnn, {leaf(0, 1)});
  const auto actions = at.turn();
  CHECK(BookFixture::to<Receipt>(actions, kBob) == receipt);
  CHECK(BookFixture::to<Call>(actions, kAnn).size() == 1);  // beside what is called as ever
  CHECK(actions.size() == 2);
}
