#include "protocol/state_list.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "protocol/lane/lane.h"
#include "tests/unit/protocol/states.h"

using namespace ballast;
using listed::Kind;

namespace {

struct Whole {
  std::uint32_t first = 0;
  std::string second;
  bool third = false;
  std::vector<int> fourth;

  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(first), listed::names(second), listed::plain(third, fourth));
  }
};

struct Forgetful {
  std::uint32_t first = 0;
  std::string second;
  std::vector<int> forgotten;

  [[nodiscard]] auto state() const { return listed::all(listed::plain(first), listed::names(second)); }
};

// ---- one of each kind, and parts in all that parts may be in

struct Part {
  int number = 0;
  Micros since = 0;

  [[nodiscard]] auto state() const { return listed::all(listed::plain(number), listed::ages(since)); }
};

struct Other {
  SessionId session = 0;

  [[nodiscard]] auto state() const { return listed::all(listed::names(session)); }
};

struct Owner {
  int step = 1;
  SessionId session = 2;
  Micros now = 3;
  std::vector<PayloadId> payloads = {4, 5};
  std::map<Slot, PayloadId> held = {{6, 7}};
  std::map<Slot, int> plain = {{8, 9}};
  int counter = 10;
  Part part = {11, 12};
  std::optional<Part> some = Part{13, 14};
  std::optional<Part> none;
  std::variant<Part, Other> choice = Other{15};
  std::map<Slot, Part> by_slot = {{16, {17, 18}}, {19, {20, 21}}};
  std::vector<std::optional<Part>> several = {Part{22, 23}, std::nullopt};
  int last = 24;

  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(step), listed::names(session), listed::ages(now), listed::payloads(payloads, held),
                       listed::plain(plain), listed::accounts(counter),
                       listed::parts(part, some, none, choice, by_slot, several), listed::plain(last));
  }
};
static_assert(lists_all_members<Owner>());

template <typename Value>
std::string text(const Value& value) {
  if constexpr (listed::is_pair<Value>) {
    return text(value.first) + ":" + text(value.second);
  } else if constexpr (listed::IsRange<Value>) {
    std::string all;
    for (const auto& each : value) {
      all += (all.empty() ? "" : ",") + text(each);
    }
    return all;
  } else {
    return std::to_string(value);
  }
}

std::string words(const Owner& owner) {
  std::string all;
  listed::walk(owner, [&](Kind kind, const auto& value) {
    all += std::string(1, "pnaxc"[static_cast<int>(kind)]) + text(value) + " ";  // x: payloads, c: accounts
  });
  return all;
}

// ---- a lane

// With a contribution of the first of two slots, which is not applied yet.
class StateFixture {
 public:
  explicit StateFixture(bool by_items, PayloadId payload = 1) : lane(config(by_items)) {
    lane.step(lane::Tick{1'000});
    lead(Confirm{1, 1, {0, 0}});
    lane.step(lane::Begun{1});
    lead(Plan{1, 0, std::vector<StepFactors>(4), {}, {}, {}, 0, 1});
    worker(LaneHello{});
    worker(push(0), payload);
    lane.step(lane::Tick{2'000});  // the lead's words are no news any more
  }

  lane::Actions lead(const Message& message) { return lane.step(lane::FromLead{&message}); }
  lane::Actions worker(const Message& message, PayloadId payload = kNoPayload) {
    return lane.step(lane::FromWorker{9, &message, payload, 100});
  }
  static Push push(Slot slot) { return {1, 0, 3, {slot, slot + 1}, false, kNoSlot, {}}; }

  Lane lane;

 private:
  static LaneConfig config(bool by_items) {
    LaneConfig config;
    config.id = {1, 0};
    config.slots = 2;
    config.steps = 2;
    config.chunks = {{3, 100, false}, {5, 40, true}};
    if (by_items) {
      config.items = ItemRules{};
    }
    return config;
  }
};

}  // namespace

TEST_CASE("a list that leaves a member out is noticed") {
  CHECK(lists_all_members<Whole>());
  CHECK_FALSE(lists_all_members<Forgetful>());
}

TEST_CASE("a walk visits members of all kinds, and those of parts, in order") {
  CHECK(words(Owner()) ==
        "p1 n2 a3 x4,5 p1 p6 x7 p8:9 c10 "  // held: its size, then its key and its payload
        "p11 a12 "                          // part
        "p1 p13 a14 p0 "                    // some, none
        "p1 n15 "                           // choice: the second
        "p2 p16 p17 a18 p19 p20 a21 "       // by_slot
        "p2 p1 p22 a23 p0 "                 // several
        "p24 ");
}

TEST_CASE("a walk of a lane's copy visits the same values, of nearly all kinds") {
  for (const bool by_items : {false, true}) {
    CAPTURE(by_items);
    const StateFixture fixture(by_items);
    const auto copy = fixture.lane;
    CHECK(differences(copy, fixture.lane) == Differences{});
    std::map<Kind, int> visited;
    for (const auto& leaf : leaves(copy)) {
      ++visited[leaf.kind];
    }
    CHECK(visited[Kind::plain] > 50);
    CHECK(visited[Kind::ages] == 11);     // the lead's silence, the session's, the last report, calls', readers'
    CHECK(visited[Kind::payloads] == 1);  // of the contribution
    // The last report, next call and reply, a timeline's first one, connection and key, tickets, who waits; in rounds
    // who brought slots first.
    CHECK(visited[Kind::names] == (by_items ? 12 : 8));
    CHECK(visited[Kind::accounts] ==
          (by_items ? 5 : 10));  // in rounds contributors, those of the newest version and payloads, too
    CHECK(visited[Kind::parts] == 0);
  }
}

TEST_CASE("when only time passes, only a lane's ages differ") {
  for (const bool by_items : {false, true}) {
    CAPTURE(by_items);
    StateFixture fixture(by_items);
    const auto before = fixture.lane;
    CHECK(fixture.lane.step(lane::Tick{2'100}).empty());
    CHECK(differences(before, fixture.lane) ==
          Differences{{Kind::ages, 4}});  // the lead's contact has the time, the calls, and readers
  }
}

TEST_CASE("a message that changes a lane's state changes its plain values, or how many there are") {
  for (const bool by_items : {false, true}) {
    CAPTURE(by_items);
    const StateFixture before(by_items);
    auto told_nothing = before;
    told_nothing.lead(Plan{1, 0, {}, {}, {}, {}, 0, 1});
    CHECK(differences(before.lane, told_nothing.lane) == Differences{{Kind::plain, 1}});  // the lead is heard
    auto planned = before;
    planned.lead(Plan{1, 4, std::vector<StepFactors>(1), {}, {}, {}, 0, 1});
    CHECK(differences(before.lane, planned.lane) == Differences{{Kind::plain, 2}});
    auto begun = before;
    begun.lead(Confirm{1, 2, {0, 0}});
    const auto of_timelines = differences(before.lane, begun.lane);
    CHECK((!of_timelines || of_timelines->contains(Kind::plain)));
    auto pushed = before;
    pushed.worker(StateFixture::push(1), 2);
    const auto of_contributions = differences(before.lane, pushed.lane);
    CHECK((!of_contributions || of_contributions->contains(Kind::plain)));
  }
}

TEST_CASE("a contribution that is there already is a matter of accounts, and its sender is heard") {
  for (const bool by_items : {false, true}) {
    CAPTURE(by_items);
    StateFixture fixture(by_items);
    const auto before = fixture.lane;
    fixture.worker(StateFixture::push(0), 2);
    CHECK(differences(before, fixture.lane) == Differences{{Kind::ages, 1}, {Kind::accounts, 1}});
  }
}

TEST_CASE("with a contribution's payload by another name only payloads differ") {
  for (const bool by_items : {false, true}) {
    CAPTURE(by_items);
    CHECK(differences(StateFixture(by_items, 1).lane, StateFixture(by_items, 7).lane) ==
          Differences{{Kind::payloads, 1}});
  }
}

TEST_CASE("a lane is copied as a whole: what happens to one is not seen in the other") {
  LaneConfig config;
  config.id = {1, 0};
  config.slots = 2;
  config.steps = 2;
  config.chunks = {{3, 100, false}};
  for (const bool by_items : {false, true}) {
    if (by_items) {
      config.items = ItemRules{};
    }
    Lane lane(config);
    const Message confirm = Confirm{1, 1, {0, 0}};
    lane.step(lane::FromLead{&confirm});
    const auto copy = lane;
    lane.step(lane::Begun{1});
    CHECK(lane.serving());
    CHECK_FALSE(copy.serving());
    auto other = copy;
    other.step(lane::Begun{1});
    CHECK(other.serving());
    CHECK(other.open_step() == lane.open_step());
  }
}
