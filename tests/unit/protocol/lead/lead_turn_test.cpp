// Turns of several events: what the lead does once for all of them.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/protocol/lead/lead_fixture.h"

using namespace ballast;
using namespace ballast::two_shards;

namespace {

template <typename Body>
std::size_t sent_to_workers(const lead::Actions& actions) {
  return static_cast<std::size_t>(std::ranges::count_if(actions, [](const lead::Action& action) {
    const auto* send = std::get_if<lead::SendToWorker>(&action);
    return send != nullptr && std::holds_alternative<Body>(send->message);
  }));
}

LeadConfig item_config() {
  auto items = config();
  items.items = ItemMode{0, 2, true};
  return items;
}

class Workers {
 public:
  explicit Workers(Fixture& fixture) : fixture_(fixture) {}

  void join(SessionId session) {
    const Message hello = WorkerHello{"worker " + std::to_string(session)};
    fixture_.lead.hear(lead::FromWorker{session, &hello});
    beat(session);
  }
  void beat(SessionId session, std::vector<LeadNumber> delivered = {}, std::vector<LeadNumber> dropped = {}) {
    Heartbeat beat;
    beat.ready = true;
    beat.fingerprint = "arithmetic";
    beat.data_digest = "data";
    beat.timeline = fixture_.timeline;
    beat.delivered = std::move(delivered);
    beat.dropped = std::move(dropped);
    const Message message = beat;
    fixture_.lead.hear(lead::FromWorker{session, &message});
  }
  void leave(SessionId session) {
    const Message message = Goodbye{};
    fixture_.lead.hear(lead::FromWorker{session, &message});
  }
  lead::Actions tick() { return fixture_.lead.step(lead::Tick{fixture_.now += 50 * kMilli}); }

 private:
  Fixture& fixture_;
};

}  // namespace

TEST_CASE("however many workers come or go in a turn, the slots are divided once, and once between two ticks") {
  auto many_slots = config();
  many_slots.slots = 16;
  Fixture fixture(many_slots);
  fixture.train();
  Workers workers(fixture);
  workers.tick();
  const auto generation = fixture.lead.generation();
  for (SessionId session = 20; session < 25; ++session) {
    workers.join(session);
  }
  fixture.lead.settle();
  CHECK(fixture.lead.generation() == generation + 1);
  workers.leave(20);
  workers.leave(21);
  fixture.lead.settle();
  CHECK(fixture.lead.generation() == generation + 1);
  workers.tick();
  CHECK(fixture.lead.generation() == generation + 2);
  workers.tick();
  CHECK(fixture.lead.generation() == generation + 2);
}

TEST_CASE("who speaks up is answered once a turn, and nobody else without need") {
  Fixture fixture(config());
  fixture.train();
  Workers workers(fixture);
  workers.join(20);
  fixture.lead.settle();
  workers.tick();
  workers.beat(20);
  workers.beat(20);
  CHECK(sent_to_workers<Assign>(fixture.lead.settle()) == 1);
  // Soon enough that nobody is asked whether it is there.
  CHECK(sent_to_workers<Assign>(fixture.lead.step(lead::Tick{fixture.now += 5 * kMilli})) == 0);
  CHECK(fixture.lead.settle().empty());
}

TEST_CASE("two reports of a lane in a turn are answered by one plan") {
  Fixture fixture(config());
  fixture.train();
  for (const Step open : {1U, 2U}) {
    const Message report = fixture.state(0, open);
    fixture.lead.hear(lead::FromLane{{0, 0}, 1, &report});
  }
  CHECK(to_lanes<Plan>(fixture.lead.settle()).size() == 1);
}

TEST_CASE("a lane that says hello as another life is not answered as the one that reported in the same turn") {
  Fixture fixture(config());
  fixture.train();
  const Message report = fixture.state(0, 1);
  fixture.lead.hear(lead::FromLane{{0, 0}, 1, &report});
  fixture.incarnations[0] = 2;
  const Message hello = fixture.hello_of(0, 0, 0);
  fixture.lead.hear(lead::FromLane{{0, 0}, 2, &hello});
  CHECK(to_lanes<Plan>(fixture.lead.settle()).empty());
}

TEST_CASE("what is delivered makes room for whoever delivered it, and changes no other order") {
  Fixture fixture(item_config());
  fixture.planned = 20;  // items, to the barrier of step 10
  fixture.train();
  Workers workers(fixture);
  workers.join(20);
  fixture.lead.settle();
  workers.tick();
  fixture.beat();
  REQUIRE(fixture.order.items.grants.size() == 2);
  workers.beat(kWorker, {fixture.order.items.grants[0].clock});
  const auto actions = fixture.lead.settle();
  CHECK(sent_to_workers<Assign>(actions) == 1);
}

TEST_CASE("what is dropped is granted again in the same turn") {
  Fixture fixture(item_config());
  fixture.planned = 20;  // items, to the barrier of step 10
  fixture.train();
  fixture.beat();
  const auto grants = fixture.order.items.grants;
  REQUIRE(grants.size() == 2);
  Workers workers(fixture);
  workers.beat(kWorker, {}, {grants[0].clock});
  fixture.beat();
  const auto again = fixture.order.items.grants;
  REQUIRE(again.size() == 2);
  CHECK(again[0] == grants[1]);
  CHECK(again[1].item == grants[0].item);
  CHECK(again[1].clock > grants[1].clock);
}
