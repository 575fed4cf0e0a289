#include "protocol/lead/item_grants.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr Micros kLateGrant = 1'000;

ItemGrants::Limits limits(std::uint32_t ahead, std::uint32_t bound) {
  return {ahead, bound, 7, {kLateGrant, kLateGrant, kLateGrant}};
}

std::vector<ItemId> held(const ItemGrants& items, SessionId session) {
  std::vector<ItemId> ids;
  for (const auto& grant : items.grants(session)) {
    ids.push_back(grant.item);
  }
  return ids;
}

using ItemIds = std::vector<ItemId>;

// Every chunk covers these and no others.
void observe_covered(ItemGrants& items, const CoveredItems& covered, Micros now) {
  items.observe(CoveredItems(items.covered().without(covered)), CoveredItems(covered.without(items.covered())), now);
}

// The sessions are all that there are.
void hand_out(ItemGrants& items, const std::vector<SessionId>& sessions, ItemId limit, Micros now,
              const std::set<SessionId>& suspects = {}) {
  items.set_sessions(sessions);
  items.hand_out(limit, suspects, now);
}

// The session brings the first of its grants.
void bring_first(ItemGrants& items, SessionId session, Micros now) {
  items.delivered(session, items.grants(session).at(0).clock, now);
}

Micros since_overtaken(const ItemGrants& items, SessionId session) {
  const auto overtaken = items.overtaken();
  return overtaken.contains(session) ? overtaken.at(session) : -1;
}

}  // namespace

TEST_CASE("each session gets an item before any gets a second one, up to the limit") {
  ItemGrants items(limits(2, 0));
  hand_out(items, {1, 2}, 3, 0);
  CHECK(held(items, 1) == ItemIds{0, 2});
  CHECK(held(items, 2) == ItemIds{1});
  CHECK(items.granted_until() == 3);
  CHECK(items.grants(1)[0].clock == LeadNumber{7, 1});
  CHECK(items.grants(1)[1].clock == LeadNumber{7, 3});
}

TEST_CASE("what is delivered makes room, and is granted again if no shard says that it is covered") {
  ItemGrants items(limits(1, 0));
  hand_out(items, {1}, 2, 0);
  items.delivered(1, {7, 1}, 10);
  hand_out(items, {1}, 2, 10);
  CHECK(held(items, 1) == ItemIds{1});
  items.delivered(1, {7, 2}, 20);
  hand_out(items, {1}, 2, 20);
  CHECK(held(items, 1).empty());
  observe_covered(items, CoveredItems({{1, 2}}), 10 + kLateGrant);
  hand_out(items, {1}, 2, 10 + kLateGrant);
  CHECK(held(items, 1).empty());
  observe_covered(items, CoveredItems({{1, 2}}), 11 + kLateGrant);
  hand_out(items, {1}, 2, 11 + kLateGrant);
  CHECK(held(items, 1) == ItemIds{0});
}

TEST_CASE("what is dropped is granted again at once, before anything new and under another clock") {
  ItemGrants items(limits(2, 0));
  hand_out(items, {1, 2}, 100, 0);
  CHECK(held(items, 1) == ItemIds{0, 2});
  items.take_changed();
  items.dropped(1, {7, 1}, 10);
  CHECK(items.take_changed() == std::set<SessionId>{1});
  items.delivered(2, {7, 2}, 10);
  hand_out(items, {1, 2}, 100, 10);
  CHECK(held(items, 1) == ItemIds{2, 0});
  CHECK(items.grants(1)[1].clock == LeadNumber{7, 5});
  CHECK(held(items, 2) == ItemIds{3, 4});
  items.dropped(1, {7, 1}, 20);  // said again
  CHECK(held(items, 1) == ItemIds{2, 0});
}

// It is always idle, and the first: others would never get what is left.
TEST_CASE("who says of all that it gets that it is delivered, or gives it up, does not get the same again") {
  for (const bool drops : {false, true}) {
    CAPTURE(drops);
    ItemGrants items(limits(1, 0));
    hand_out(items, {1, 2}, 1, 0);
    REQUIRE(held(items, 1) == ItemIds{0});
    const auto first = items.grants(1)[0].clock;
    drops ? items.dropped(1, first, 1) : items.delivered(1, first, 1);
    if (drops) {  // the shard may have lost what it was computed from
      hand_out(items, {1, 2}, 1, 1);
      REQUIRE(held(items, 1) == ItemIds{0});
      items.dropped(1, items.grants(1)[0].clock, 2);
    }
    observe_covered(items, {}, 2 + kLateGrant);
    hand_out(items, {1, 2}, 1, 2 + kLateGrant);
    CHECK(held(items, 1).empty());
    CHECK(held(items, 2) == ItemIds{0});
  }
}

TEST_CASE("what is dropped is not granted again while somebody else has it or has delivered it") {
  ItemGrants items(limits(1, 0));
  hand_out(items, {1, 2}, 2, 0);
  items.delivered(2, {7, 2}, 1);
  hand_out(items, {1, 2}, 2, 2 * kLateGrant);
  REQUIRE(held(items, 2) == ItemIds{0});  // which session 1 is late with
  items.dropped(1, {7, 1}, 2 * kLateGrant);
  hand_out(items, {1, 2}, 2, 2 * kLateGrant);
  CHECK(held(items, 1).empty());
  items.delivered(2, {7, 3}, 2 * kLateGrant);
  hand_out(items, {1, 2}, 2, 2 * kLateGrant);
  CHECK(held(items, 1).empty());
  CHECK(held(items, 2).empty());
}

TEST_CASE("a dropped grant leaves the bound's room to others, and says nothing of its session's speed") {
  ItemGrants items(limits(1, 1));
  hand_out(items, {1, 2, 3}, 100, 0);
  REQUIRE(held(items, 2) == ItemIds{1});
  items.dropped(1, {7, 1}, 10);
  CHECK(items.largest_exposure() == 1);
  items.dropped(2, {7, 2}, 10);
  CHECK(items.largest_exposure() == 0);
  hand_out(items, {1, 2, 3}, 100, 10);
  CHECK(held(items, 1) == ItemIds{0});  // none of the three has brought anything
  CHECK(held(items, 2) == ItemIds{1});
}

TEST_CASE("a word about a grant that is no more changes nothing") {
  ItemGrants items(limits(1, 0));
  hand_out(items, {1}, 5, 0);
  items.delivered(1, {6, 1}, 10);
  items.delivered(2, {7, 1}, 10);
  items.dropped(1, {6, 1}, 10);
  items.dropped(2, {7, 1}, 10);
  CHECK(held(items, 1) == ItemIds{0});
}

TEST_CASE("the items of a lost session go to the others first") {
  ItemGrants items(limits(2, 0));
  hand_out(items, {1, 2}, 100, 0);
  CHECK(held(items, 1) == ItemIds{0, 2});
  items.lose(1);
  items.delivered(2, items.grants(2)[0].clock, 5);
  hand_out(items, {2, 3}, 100, 5);
  CHECK(held(items, 3) == ItemIds{0, 4});
  CHECK(held(items, 2) == ItemIds{3, 2});
}

TEST_CASE("no grant lets an outstanding one's exposure exceed the bound") {
  ItemGrants items(limits(1, 2));
  hand_out(items, {1, 2, 3, 4}, 100, 0);
  // The first one's weights may miss the two that were granted after it; a fourth would be one too many.
  CHECK(held(items, 3) == ItemIds{2});
  CHECK(held(items, 4).empty());
  CHECK(items.largest_exposure() == 2);
  items.delivered(2, {7, 2}, 1);
  hand_out(items, {1, 2, 3, 4}, 100, 1);
  CHECK(held(items, 2).empty());
  CHECK(held(items, 4).empty());
  // The one with the longest wait is there: the next may come, but no more than the third one stands.
  items.delivered(1, {7, 1}, 2);
  hand_out(items, {1, 2, 3, 4}, 100, 2);
  CHECK(items.largest_exposure() <= 2);
  items.delivered(3, {7, 3}, 3);
  hand_out(items, {1, 2, 3, 4}, 100, 3);
  CHECK_FALSE(held(items, 1).empty());
}

TEST_CASE("of the few that the bound allows the fast sessions get theirs first, and a slow one its turn") {
  ItemGrants items(limits(1, 1));
  const auto bring = [&](SessionId session, Micros now) {
    items.delivered(session, items.grants(session).at(0).clock, now);
  };
  hand_out(items, {1, 2, 3}, 100, 0);
  bring(1, 40);
  bring(2, 10);
  hand_out(items, {1, 2, 3}, 100, 40);
  CHECK_FALSE(held(items, 3).empty());  // nothing is known of it
  CHECK_FALSE(held(items, 2).empty());
  CHECK(held(items, 1).empty());
  bring(3, 50);
  bring(2, 50);
  hand_out(items, {1, 2, 3}, 100, 50);
  CHECK(held(items, 1).empty());
  bring(3, 1'000);
  bring(2, 1'000);
  hand_out(items, {1, 2, 3}, 100, 1'000);
  CHECK_FALSE(held(items, 1).empty());
}

TEST_CASE("a lost session's grants hold nobody up, and who joins holds nobody up") {
  ItemGrants items(limits(1, 1));
  hand_out(items, {1, 2}, 100, 0);
  CHECK(items.largest_exposure() == 1);
  hand_out(items, {1, 2, 3}, 100, 0);
  CHECK(held(items, 3).empty());
  items.lose(1);
  items.lose(2);
  hand_out(items, {3}, 100, 0);
  CHECK(held(items, 3) == ItemIds{0});
}

TEST_CASE("with nothing left to grant, an idle session helps a late one, once") {
  ItemGrants items(limits(1, 0));
  hand_out(items, {1, 2}, 2, 0);
  items.delivered(2, {7, 2}, 1);
  hand_out(items, {1, 2}, 2, kLateGrant);
  CHECK(held(items, 2).empty());
  hand_out(items, {1, 2, 3}, 2, kLateGrant + 1);
  CHECK(held(items, 2) == ItemIds{0});
  CHECK(held(items, 3).empty());
  CHECK(items.backups() == 1);
}

TEST_CASE("a shard that is back may lack what it had") {
  ItemGrants items(limits(1, 0));
  hand_out(items, {1}, 3, 0);
  observe_covered(items, CoveredItems({{0, 3}}), 1);
  hand_out(items, {1}, 3, 1);
  CHECK(held(items, 1).empty());
  // It lost item 1; until it says so, the lead goes on with what it knew.
  hand_out(items, {1}, 0, 2);
  observe_covered(items, CoveredItems({{0, 1}, {2, 3}}), 2);
  hand_out(items, {1}, 3, 2);
  CHECK(held(items, 1) == ItemIds{1});
}

TEST_CASE("what was delivered to a shard that comes back is granted again at once, unless it is covered") {
  ItemGrants items(limits(2, 0));
  hand_out(items, {1}, 2, 0);
  items.delivered(1, {7, 1}, 1);
  items.delivered(1, {7, 2}, 1);
  hand_out(items, {1}, 2, 1);
  CHECK(held(items, 1).empty());
  items.doubt_delivered();
  observe_covered(items, CoveredItems({{0, 1}}), 2);
  hand_out(items, {1}, 2, 2);
  CHECK(held(items, 1) == ItemIds{1});
}

TEST_CASE("a timeline begins anew with nothing granted, but its clocks go on") {
  ItemGrants items(limits(2, 0));
  hand_out(items, {1}, 100, 0);
  items.rewind();
  CHECK(items.granted_until() == 0);
  observe_covered(items, CoveredItems(8), 0);
  hand_out(items, {1}, 100, 0);
  CHECK(held(items, 1) == ItemIds{8, 9});
  CHECK(items.grants(1)[0].clock == LeadNumber{7, 3});
}

TEST_CASE("late items are looked for once at a moment") {
  ItemGrants items(limits(1, 0));
  hand_out(items, {1}, 1, 0);
  hand_out(items, {1, 2}, 1, 0);
  hand_out(items, {1, 2}, 1, 0);
  CHECK(held(items, 2).empty());
  hand_out(items, {1, 2}, 1, kLateGrant + 1);
  CHECK(held(items, 2) == ItemIds{0});
}

TEST_CASE("whose grants have changed is told once") {
  ItemGrants items(limits(1, 0));
  hand_out(items, {1, 2}, 1, 0);
  CHECK(items.take_changed() == std::set<SessionId>{1});
  CHECK(items.take_changed().empty());
  observe_covered(items, CoveredItems(1), 1);
  CHECK(items.take_changed() == std::set<SessionId>{1});
  hand_out(items, {1, 2}, 3, 2);
  items.take_changed();
  items.delivered(2, items.grants(2)[0].clock, 3);
  CHECK(items.take_changed() == std::set<SessionId>{2});
  items.lose(1);
  CHECK(items.take_changed() == std::set<SessionId>{1});
}

TEST_CASE("who has the item that another one has brought keeps it until it says so, and gets nothing new") {
  ItemGrants items(limits(1, 0));
  hand_out(items, {1, 2}, 1, 0);
  hand_out(items, {1, 2}, 1, kLateGrant + 1);
  CHECK(held(items, 1) == held(items, 2));
  SUBCASE("it is seen to be covered first") {
    observe_covered(items, CoveredItems(1), kLateGrant + 2);
    CHECK(held(items, 2) == ItemIds{0});
    CHECK(since_overtaken(items, 2) == kLateGrant + 1);
    bring_first(items, 2, kLateGrant + 3);
  }
  SUBCASE("the one is heard first") {
    bring_first(items, 2, kLateGrant + 2);
    observe_covered(items, CoveredItems(1), kLateGrant + 3);
  }
  CHECK(since_overtaken(items, 1) == 0);
  CHECK(items.moot(1) == Grant{0, {7, 1}});
  CHECK_FALSE(items.moot(2));
  hand_out(items, {1, 2}, 3, kLateGrant + 3);
  CHECK(held(items, 1) == ItemIds{0});
  CHECK(held(items, 2) == ItemIds{1});
  bring_first(items, 1, 20 * kLateGrant);
  CHECK(items.overtaken().empty());
  hand_out(items, {1, 2}, 3, 20 * kLateGrant);
  CHECK(held(items, 1) == ItemIds{2});
  // It is known to be slow now.
  bring_first(items, 2, 20 * kLateGrant);
  hand_out(items, {1, 2}, 3, 60 * kLateGrant);
  CHECK(held(items, 2).empty());
  hand_out(items, {1, 2}, 3, 81 * kLateGrant);
  CHECK(held(items, 2) == ItemIds{2});
}

TEST_CASE("a session that hangs costs a bounded job one late item, and gets no other") {
  ItemGrants items(limits(1, 2));
  Micros now = 0;
  hand_out(items, {1, 2, 3}, 1'000, now);
  REQUIRE(held(items, 1) == ItemIds{0});
  const auto others_bring = [&] {
    now += 10;
    for (const SessionId session : {2, 3}) {
      if (!items.grants(session).empty()) {
        bring_first(items, session, now);
      }
    }
    hand_out(items, {1, 2, 3}, 1'000, now);
  };
  others_bring();
  CHECK(held(items, 2).empty());  // the first one's exposure is what the bound allows
  CHECK(held(items, 3).empty());
  now = kLateGrant;
  hand_out(items, {1, 2, 3}, 1'000, now);
  CHECK(items.backups() == 0);
  now = kLateGrant + 1;
  hand_out(items, {1, 2, 3}, 1'000, now);
  CHECK(items.backups() == 1);
  CHECK((held(items, 2) == ItemIds{0} || held(items, 3) == ItemIds{0}));
  for (int i = 0; i < 100; ++i) {
    others_bring();
  }
  CHECK(items.granted_until() > 150);
  CHECK(items.backups() == 1);
  CHECK(held(items, 1) == ItemIds{0});
  CHECK(items.overtaken().size() == 1);
}

TEST_CASE("a copy counts in nobody's exposure, and what is granted after it in its own") {
  ItemGrants items(limits(1, 3));
  hand_out(items, {1, 2, 3}, 1'000, 0);
  CHECK(items.largest_exposure() == 2);
  hand_out(items, {1, 2, 3, 4}, 3, kLateGrant + 1);
  REQUIRE(held(items, 4) == ItemIds{0});
  CHECK(items.largest_exposure() == 2);
  items.lose(1);  // of its item only the copy is left: beside it two others
  CHECK(items.largest_exposure() == 2);
  bring_first(items, 3, kLateGrant + 2);
  hand_out(items, {2, 3, 4}, 1'000, kLateGrant + 2);
  CHECK(held(items, 3) == ItemIds{3});
  CHECK(items.largest_exposure() == 3);
  bring_first(items, 3, kLateGrant + 3);
  items.dropped(2, items.grants(2).at(0).clock, kLateGrant + 3);
  hand_out(items, {2, 3, 4}, 1'000, kLateGrant + 3);
  CHECK(held(items, 2).empty());  // the copy's weights may miss three updates
  CHECK(held(items, 3).empty());
  bring_first(items, 4, kLateGrant + 4);
  hand_out(items, {2, 3, 4}, 1'000, kLateGrant + 4);
  CHECK_FALSE(held(items, 2).empty());
}

TEST_CASE("an item is copied again if all that have it are late") {
  ItemGrants items(limits(1, 1));
  hand_out(items, {1, 2}, 1, 0);
  hand_out(items, {1, 2, 3}, 1, kLateGrant + 1);
  CHECK(held(items, 2) == ItemIds{0});
  hand_out(items, {1, 2, 3}, 1, 2 * kLateGrant);
  CHECK(held(items, 3).empty());
  hand_out(items, {1, 2, 3}, 1, 2 * kLateGrant + 2);
  CHECK(held(items, 3) == ItemIds{0});
  bring_first(items, 3, 2 * kLateGrant + 3);
  CHECK(items.overtaken().size() == 2);
}

TEST_CASE("a suspect gets nothing, and what it has goes to others, the last first") {
  ItemGrants items(limits(2, 0));
  hand_out(items, {1}, 3, 0);
  CHECK(held(items, 1) == ItemIds{0, 1});
  hand_out(items, {1, 2, 3}, 2, 1, {1, 3});
  CHECK(held(items, 2) == ItemIds{1});
  CHECK(held(items, 3).empty());
  bring_first(items, 2, 2);
  CHECK(held(items, 1) == ItemIds{0});  // it has not begun the other one
  hand_out(items, {1, 2, 3}, 3, 2, {1, 3});
  CHECK(held(items, 2) == ItemIds{2});
  CHECK(held(items, 1) == ItemIds{0});
}

TEST_CASE("what an overtaken session has beside goes to others at once") {
  ItemGrants items(limits(2, 0));
  hand_out(items, {1}, 2, 0);
  hand_out(items, {1, 2}, 2, 1, {1});
  bring_first(items, 2, 2);
  REQUIRE(held(items, 1) == ItemIds{0});
  hand_out(items, {1, 2}, 2, 2, {1});
  bring_first(items, 2, 3);
  CHECK(items.moot(1) == Grant{0, {7, 1}});
  items.lose(1);
  CHECK(items.overtaken().empty());
  hand_out(items, {2}, 2, 4);
  CHECK(held(items, 2).empty());  // all is delivered
}

TEST_CASE("a session that is no more among them is lost with its grants") {
  ItemGrants items(limits(2, 0));
  hand_out(items, {1, 2}, 100, 0);
  hand_out(items, {2}, 100, 0);
  CHECK(held(items, 1).empty());
  items.delivered(2, items.grants(2)[0].clock, 1);
  hand_out(items, {2}, 100, 1);
  CHECK(held(items, 2) == ItemIds{3, 0});
}
