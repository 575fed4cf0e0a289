#include "protocol/lane/round.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "protocol/tree.h"
#include "tests/unit/protocol/lane/direct_tree.h"

using namespace ballast;

namespace {

// A shell for one round whose payloads are texts: it sees the order of summation, leaks and use after a drop.
class TextRound {
 public:
  explicit TextRound(Slot slots) : slots_(slots), round_(slots) {}

  Round::Outcome offer(Node node, SessionId from = 1) {
    const PayloadId id = ++last_;
    payloads_[id] = direct::sum_text(node);
    const auto offer = round_.offer(node, id, from);
    if (offer.outcome == Round::Outcome::duplicate) {
      CHECK(offer.discarded.empty());
      CHECK(offer.joins.empty());
      take(id);
    }
    for (const auto discarded : offer.discarded) {
      take(discarded);
    }
    for (const auto& join : offer.joins) {
      const auto with = take(join.with);
      REQUIRE(payloads_.contains(join.into));
      auto& into = payloads_[join.into];
      into = "(" + into + "+" + with + ")";
    }
    // A node whose whole cover is bigger than half the slots cannot be held: the bound on memory.
    CHECK(payloads_.size() <= (slots_ + 1) / 2);
    return offer.outcome;
  }

  std::string close() {
    const auto root = take(round_.close());
    CHECK(payloads_.empty());
    return root;
  }

  Round& round() { return round_; }

 private:
  std::string take(PayloadId id) {
    REQUIRE(payloads_.contains(id));
    auto text = payloads_[id];
    payloads_.erase(id);
    return text;
  }

  Slot slots_;
  Round round_;
  std::map<PayloadId, std::string> payloads_;
  PayloadId last_ = 0;
};

// Random contiguous ranges that together make up the slots, as workers would have them.
std::vector<SlotRange> random_partition(Slot slots, std::mt19937& random) {
  std::vector<SlotRange> parts;
  Slot begin = 0;
  while (begin < slots) {
    const Slot end = begin + 1 + random() % (slots - begin);
    parts.push_back({begin, end});
    begin = end;
  }
  return parts;
}

// Several workers' contributions to one step: two partitions, some nodes of none, duplicates, all shuffled.
std::vector<Node> random_offers(Slot slots, std::mt19937& random) {
  std::vector<Node> offers;
  for (int partition = 0; partition < 2; ++partition) {
    for (const auto part : random_partition(slots, random)) {
      const auto nodes = tree::cover(part, slots);
      offers.insert(offers.end(), nodes.begin(), nodes.end());
    }
  }
  const auto all = direct::nodes(slots);
  for (int extra = 0; extra < 4; ++extra) {
    offers.push_back(all[random() % all.size()]);
  }
  std::shuffle(offers.begin(), offers.end(), random);
  return offers;
}

}  // namespace

TEST_CASE("the root is the same text whatever arrives in whatever order") {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same cases each time
  for (Slot slots = 1; slots <= 40; ++slots) {
    TextRound text(slots);
    for (int step = 0; step < 30; ++step) {
      CAPTURE(slots);
      CAPTURE(step);
      SlotSet covered(slots);
      for (const auto node : random_offers(slots, random)) {
        if (text.round().covered()) {
          break;
        }
        SlotSet own(slots);
        own.insert(node);
        own.erase(covered);
        const bool brings_something = !own.empty();
        const auto outcome = text.offer(node);
        // Nodes are nested or disjoint, so what brings a missing slot is accepted, and nothing else is.
        REQUIRE((outcome == Round::Outcome::accepted) == brings_something);
        covered.insert(node);
        SlotSet missing = SlotSet::full(slots);
        missing.erase(covered);
        REQUIRE(text.round().missing() == missing);
      }
      REQUIRE(text.round().covered());
      REQUIRE(text.close() == direct::sum_text(0, slots));
      REQUIRE(text.round().missing() == SlotSet::full(slots));
    }
  }
}

TEST_CASE("a containing node supersedes what it contains") {
  TextRound text(4);
  CHECK(text.offer({0, 1}, 11) == Round::Outcome::accepted);
  CHECK(text.offer({2, 3}, 12) == Round::Outcome::accepted);
  CHECK(text.offer({0, 4}, 13) == Round::Outcome::accepted);
  CHECK(text.round().covered());
  CHECK(text.round().some_contributors(4) == std::vector<SessionId>{13});
  CHECK(text.close() == "((0+1)+(2+3))");
  CHECK(text.round().some_contributors(4).empty());
}

TEST_CASE("contributors are those whose payloads became part of the root") {
  TextRound text(5);
  text.offer({4, 5}, 1);
  text.offer({0, 2}, 2);
  text.offer({0, 1}, 3);  // covered
  text.offer({2, 3}, 3);
  text.offer({2, 4}, 4);  // supersedes
  CHECK(text.round().some_contributors(4) == std::vector<SessionId>{2, 4, 1});
  CHECK(text.round().some_contributors(2) == std::vector<SessionId>{2, 4});
}

TEST_CASE("as many payloads as the bound says can really be held") {
  for (Slot slots = 1; slots <= 40; ++slots) {
    TextRound text(slots);
    // Every leaf on the left of its sibling, and nothing else, cannot be joined.
    for (Slot slot = 0; slot < slots; slot += 2) {
      text.offer({slot, slot + 1});
    }
    CHECK((text.round().covered() || text.round().missing().count() == slots / 2));
  }
}
