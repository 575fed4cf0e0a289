#include "protocol/worker/item_work.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

Assign granted(std::uint64_t order, std::vector<Grant> grants) {
  Assign assign{.order = {1, order}, .timeline = 1, .generation = 1};
  assign.items.grants = std::move(grants);
  return assign;
}

// Items of steps of 4 slots.
struct ItemWorkFixture {
  explicit ItemWorkFixture(std::vector<Grant> grants) { work.take(granted(1, std::move(grants)), true); }
  // Computes what is next: its grant's clock.
  LeadNumber compute() {
    const auto target = work.next();
    REQUIRE(target);
    work.computed(*target);
    return target->weights.clock;
  }

  ItemWork work{4, {}};
};

}  // namespace

TEST_CASE("items are computed in the order of their grants, each from the newest weights after its own") {
  ItemWorkFixture at({{9, {1, 11}}, {2, {1, 12}}});
  CHECK(at.work.next() == WorkerTarget{WorkerTarget::Kind::train, {kNewestVersion, {1, 11}}, 2, {{1, 2}}, {}});
  CHECK(at.compute() == LeadNumber{1, 11});
  CHECK(at.compute() == LeadNumber{1, 12});
  CHECK_FALSE(at.work.next());
  CHECK(at.work.computed_grants() == std::vector<Grant>{{9, {1, 11}}, {2, {1, 12}}});
}

TEST_CASE("a grant that a newer order repeats stays computed, and one of the same item is another") {
  ItemWorkFixture at({{9, {1, 11}}, {2, {1, 12}}});
  at.compute();
  at.work.take(granted(2, {{9, {1, 11}}, {9, {1, 13}}}), false);
  CHECK(at.work.computed_grants() == std::vector<Grant>{{9, {1, 11}}});
  CHECK(at.compute() == LeadNumber{1, 13});
}

TEST_CASE("what is given up is told as long as the order has its grant, and not computed for it again") {
  ItemWorkFixture at({{9, {1, 11}}, {2, {1, 12}}});
  at.compute();
  at.work.drop(2, 1);
  at.work.drop(0, 2);  // which is not computed yet
  CHECK(at.work.computed_grants().empty());
  CHECK(at.work.dropped_grants() == std::vector<LeadNumber>{{1, 11}});
  CHECK(at.compute() == LeadNumber{1, 12});
  at.work.take(granted(2, {{9, {1, 11}}, {2, {1, 12}}}), false);
  CHECK(at.work.computed_grants() == std::vector<Grant>{{2, {1, 12}}});
  CHECK(at.work.dropped_grants() == std::vector<LeadNumber>{{1, 11}});
  CHECK_FALSE(at.work.next());
  at.work.take(granted(3, {Grant{9, {1, 13}}}), false);
  CHECK(at.work.dropped_grants().empty());
  CHECK(at.compute() == LeadNumber{1, 13});
}

TEST_CASE("a newer timeline's grants are new ones") {
  ItemWorkFixture at({Grant{9, {1, 11}}});
  at.compute();
  at.work.take(granted(2, {Grant{9, {1, 11}}}), true);
  CHECK(at.work.computed_grants().empty());
}

TEST_CASE("the pull of the next item's weights goes with the last gradients of the one in hand") {
  ItemWorkFixture at({{0, {1, 11}}, {1, {1, 12}}});
  const auto first = *at.work.next();
  CHECK(at.work.next_key(first, WeightsKey{kNewestVersion, {1, 12}}) == WeightsKey{kNewestVersion, {1, 12}});
  CHECK(at.work.after(first) == SlotsAhead{0, {{1, 2}}});
  at.work.computed(first);
  const auto last = *at.work.next();
  CHECK_FALSE(at.work.next_key(last, {}));
  CHECK_FALSE(at.work.after(last));
}

TEST_CASE("more grants are asked for while there are still two to compute") {
  ItemWorkFixture at({{0, {1, 11}}, {1, {1, 12}}, {2, {1, 13}}});
  CHECK_FALSE(at.work.is_short());
  at.compute();
  CHECK(at.work.is_short());
}

TEST_CASE("receipts of an item are those of its slot, and its contribution says which version it was computed from") {
  ItemWorkFixture at({Grant{9, {1, 11}}});
  const auto scope = at.work.scope(*at.work.next());
  CHECK(scope.contains(2, 1));
  CHECK_FALSE(scope.contains(2, 0));
  CHECK_FALSE(scope.contains(3, 1));
  CHECK(ItemWork::computed_from(8) == 8);
  CHECK_FALSE(ItemWork::covered_by(8));
  CHECK(at.work.updates(3) == 12);
}

TEST_CASE("contributions say what they rest on where updates are journaled") {
  CHECK_FALSE(ItemWork(4, {}).has_marks());
  CHECK(ItemWork(4, {true}).has_marks());
}

TEST_CASE("the step that is told is that of the newest grant, also when there is none any more") {
  ItemWorkFixture at({{9, {1, 11}}, {12, {1, 12}}});
  CHECK(at.work.step() == 3);
  at.work.take(granted(2, {}), false);
  CHECK(at.work.step() == 3);
}
