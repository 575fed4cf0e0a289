#include "protocol/lane/offer_book.h"

#include <doctest/doctest.h>

#include "protocol/lane/ahead_turns.h"

using namespace ballast;

namespace {

constexpr SessionId kEve = 1;
constexpr SessionId kDan = 2;
constexpr PayerId kTheirs = 7;

const Work kOne{0, 0, {0, 1}};
const Work kTwo{0, 0, {1, 2}};

}  // namespace

TEST_CASE("what a session offers takes the place of what it offered before") {
  OfferBook book;
  book.enter(kEve, kTheirs, true);
  book.offer(kEve, {kOne});
  book.offer(kEve, {kTwo});
  CHECK_FALSE(book.good().has(kOne));
  CHECK(book.good().has(kTwo, kEve));
  book.take(kEve, kTwo);
  CHECK(book.good().empty());
}

TEST_CASE(
    "with its payer's standing all that sessions offer counts as another's, and as before when it is good again") {
  OfferBook book;
  book.enter(kEve, kTheirs, true);
  book.enter(kDan, kTheirs, true);
  book.offer(kEve, {kOne});
  book.offer(kDan, {kOne, kTwo});
  book.stands(kTheirs, false);
  CHECK(book.good().empty());
  CHECK(book.others().of(kOne) == OfferBook::Sessions{kEve, kDan});
  book.offer(kEve, {kTwo});
  CHECK(book.others().of(kOne) == OfferBook::Sessions{kDan});
  book.stands(kTheirs, true);
  CHECK(book.others().empty());
  CHECK(book.good().of(kTwo) == OfferBook::Sessions{kEve, kDan});
}

TEST_CASE("of who is out of good standing a work is each payer's once, as however many sessions it comes") {
  OfferBook book;
  constexpr SessionId kCrowd = 600;
  for (SessionId session = 1; session <= kCrowd; ++session) {
    book.enter(session, session == kCrowd ? kTheirs + 1 : kTheirs, false);
    book.offer(session, {kOne});
  }
  const auto& payers = book.others().works().at(kOne);
  REQUIRE(payers.size() == 2);
  CHECK(payers.at(kTheirs).size() == kCrowd - 1);
  CHECK(payers.at(kTheirs + 1) == OfferBook::Sessions{kCrowd});
  book.leave(kCrowd);
  CHECK(payers.size() == 1);
  for (SessionId session = 1; session < kCrowd; ++session) {
    book.take(session, kOne);
  }
  CHECK(book.others().empty());
}

TEST_CASE("a session that leaves, or for which another answers, offers nothing any more") {
  OfferBook book;
  book.enter(kEve, kTheirs, true);
  book.offer(kEve, {kOne});
  book.enter(kEve, kTheirs + 1, true);
  CHECK(book.good().empty());
  CHECK(book.sessions_of(kTheirs).empty());
  book.offer(kEve, {kOne});
  book.leave(kEve);
  CHECK(book.good().empty());
  CHECK(book.sessions_of(kTheirs + 1).empty());
  book.leave(kEve);
}

TEST_CASE("sessions are given bytes ahead in turns, each that waits once") {
  AheadTurns turns;
  turns.spent(kEve);  // it was never sent weights
  CHECK_FALSE(turns.next());
  turns.served(kEve, true);
  turns.served(kDan, true);
  turns.spent(kEve);
  CHECK(turns.next() == kEve);
  turns.pop();
  CHECK(turns.next() == kDan);
  turns.pop();
  CHECK_FALSE(turns.next());
  CHECK(turns.in_good_standing() == 2);
}

TEST_CASE("who gives back has another turn only if weights were sent since it was given some") {
  AheadTurns turns;
  turns.served(kEve, true);
  turns.given(kEve);
  turns.pop();
  turns.returned(kEve);
  CHECK_FALSE(turns.next());
  turns.served(kEve, true);
  turns.pop();
  turns.returned(kEve);
  CHECK(turns.next() == kEve);
  turns.forget(kEve);
  CHECK_FALSE(turns.next());
  CHECK(turns.in_good_standing() == 0);
}

TEST_CASE("those in good standing share what is given ahead, whatever becomes of the others") {
  AheadTurns turns;
  turns.served(kEve, true);
  turns.served(kDan, false);
  CHECK(turns.in_good_standing() == 1);
  turns.stands(kDan, true);
  turns.stands(kDan, true);
  CHECK(turns.in_good_standing() == 2);
  turns.stands(kEve, false);
  turns.served(kEve, false);
  CHECK(turns.in_good_standing() == 1);
  turns.forget(kEve);
  turns.forget(kDan);
  turns.stands(kDan, true);  // it was not sent weights since
  CHECK(turns.in_good_standing() == 0);
}
