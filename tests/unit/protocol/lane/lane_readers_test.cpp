// A lane whose weights are read slowly: what is kept for readers is bounded, and its steps end.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>

#include "tests/unit/protocol/lane/lane_fixture.h"

using namespace ballast;
using namespace ballast::one_lane;

namespace {

constexpr SessionId kSlowReader = 77;

// Chunk 3 has 100 bytes, and nothing more may be kept than one version of it.
LaneConfig little_kept() {
  auto little = config();
  // The reserve, statistics, the credits of three sessions that know no calls, and a chunk.
  little.memory_bytes = 1'060;
  little.kept_bytes = 100;
  little.reply_window_bytes = 10'000;
  return little;
}

// Whole steps are brought by kWorker; kSlowReader and the one after it pull, and let go of nothing.
class Reading : public Fixture {
 public:
  explicit Reading(const LaneConfig& lane_config = little_kept()) : Fixture(lane_config) {
    for (const auto session : {kSlowReader, kSlowReader + 1}) {
      from(session, 1, LaneHello{"reader", "spec", "layout"});
    }
  }
  lane::Actions from(SessionId session, ConnectionId connection, const Message& message) {
    return lane.step(lane::FromWorker{session, &message, kNoPayload, 0, connection, session});
  }
  std::uint64_t pull(Version version, SessionId session = kSlowReader) {
    const auto actions = from(session, 1, Pull{1, version, {3}});
    const auto* weights = find<lane::SendWeights>(actions);
    REQUIRE(weights != nullptr);
    return weights->reply;
  }
  lane::Actions step(Step step) {
    push(step, 5, {0, 4}, 40);
    return push(step, 3, {0, 4}, 100);
  }
};

}  // namespace

TEST_CASE(
    "an update waits for readers where it would keep more than there is room for, and goes on when they are done") {
  Reading reading;
  const auto oldest = reading.pull(0);
  CHECK(find<lane::Apply>(reading.step(0)) != nullptr);
  reading.pull(1, kSlowReader + 1);
  CHECK(find<lane::Apply>(reading.step(1)) != nullptr);
  CHECK(reading.lane.kept_bytes() == 100);
  const auto waits = reading.step(2);
  CHECK(find<lane::Apply>(waits) == nullptr);
  CHECK(reading.lane.open_step() == 2);
  CHECK(reading.lane.counters().readers.waits == 1);
  CHECK_FALSE(reading.lane.has_more());

  reading.lane.step(lane::ReplyReleased{oldest});
  CHECK(reading.lane.has_more());
  const auto actions = reading.lane.step(lane::GoOn{});
  REQUIRE(find<lane::Apply>(actions) != nullptr);
  CHECK(find<lane::Apply>(actions)->step == 2);
  CHECK(reading.lane.open_step() == 3);
}

TEST_CASE("who reads nothing has its connection ended when an update waits for it") {
  Reading reading;
  auto pass = [&, now = Micros{10'000'000}](Micros time) mutable {
    lane::Actions all;
    for (; time > 0; time -= 100'000) {
      now += 100'000;
      std::ranges::move(reading.lane.step(lane::Tick{now, now}), std::back_inserter(all));
    }
    return all;
  };
  pass(100'000);
  const auto oldest = reading.pull(0);
  reading.step(0);
  reading.pull(1, kSlowReader + 1);
  reading.step(1);
  reading.step(2);
  CHECK(find<lane::DropConnection>(pass(1'900'000)) == nullptr);
  reading.lead(plan(1, 0, 5));  // it is there
  auto actions = pass(400'000);
  const auto* drop = find<lane::DropConnection>(actions);
  REQUIRE(drop != nullptr);
  CHECK(drop->session == kSlowReader);
  CHECK(drop->connection == 1);
  const auto said = all<lane::SendToLead>(actions);
  CHECK(std::ranges::any_of(said, [](const auto& each) {
    const auto* report = std::get_if<LaneReport>(&each.message);
    return report != nullptr && report->trouble.find("update of chunk 3") != std::string::npos;
  }));
  reading.lane.step(lane::ReplyReleased{oldest});
  CHECK(reading.lane.has_more());
  reading.lane.step(lane::GoOn{});
  CHECK(reading.lane.open_step() == 3);

  reading.lane.step(lane::ReplyReleased{oldest + 1});
  reading.lane.step(lane::ConnectionEnded{kSlowReader, 1});
  reading.from(kSlowReader, 2, LaneHello{"reader", "spec", "layout"});
  actions = reading.from(kSlowReader, 2, Pull{1, 3, {5, 3}});
  const auto* weights = find<lane::SendWeights>(actions);
  REQUIRE(weights != nullptr);
  CHECK(weights->connection == 2);
}

TEST_CASE("no more weights are on their way to all than are set aside, but for one reply of each") {
  constexpr std::size_t kSharers = 8;  // each has all that a small lane owns
  auto small = config();
  small.chunks = {{3, 600'000, false}, {5, 400'000, true}};
  small.kept_bytes = 600'000;
  small.memory_bytes = 40'000'000;
  small.reply_window_bytes = LaneConfig().reply_window_bytes;
  Reading reading(small);
  for (SessionId session = kSlowReader; session < kSlowReader + kSharers + 2; ++session) {
    reading.from(session, 1, LaneHello{"reader", "spec", "layout"});
    const auto replies = all<lane::SendWeights>(reading.from(session, 1, Pull{1, 0, {3, 5}})).size();
    CHECK(replies == (session < kSlowReader + kSharers ? 2 : 1));
  }
  CHECK(reading.lane.waits_for_release());
}

TEST_CASE("no more weights of a large lane are on their way to a session than its part, but for one reply") {
  auto large = config();
  large.chunks = {{3, 3'000'000, false}, {5, 1'000'000, true}};
  large.kept_bytes = 4'000'000;
  large.memory_bytes = 400'000'000;
  large.reply_window_bytes = LaneConfig().reply_window_bytes;
  Reading reading(large);
  CHECK(all<lane::SendWeights>(reading.from(kSlowReader, 1, Pull{1, 0, {3, 5}})).size() == 1);
}

TEST_CASE("weights of a lane of items are kept within the same bound") {
  auto items = little_kept();
  items.items = ItemRules{};
  items.chunks = {{3, 100, false}};
  items.memory_bytes = 800;
  Reading reading(items);
  Plan plan = one_lane::plan(1, 0, 20);
  plan.number = {1, 2};
  plan.until = 20;
  reading.lead(plan);
  const auto oldest = reading.pull(kNewestVersion);
  CHECK(find<lane::Apply>(reading.push(0, 3, {0, 1}, 100)) != nullptr);
  reading.pull(kNewestVersion, kSlowReader + 1);
  CHECK(find<lane::Apply>(reading.push(0, 3, {1, 2}, 100)) != nullptr);
  CHECK(find<lane::Apply>(reading.push(0, 3, {2, 3}, 100)) == nullptr);
  CHECK_FALSE(reading.lane.has_more());
  reading.lane.step(lane::ReplyReleased{oldest});
  CHECK(reading.lane.has_more());
  CHECK(find<lane::Apply>(reading.lane.step(lane::GoOn{})) != nullptr);
}

TEST_CASE("an item that waited for readers and is given up leaves no update waiting") {
  auto items = little_kept();
  items.items = ItemRules{};
  items.chunks = {{3, 100, false}};
  items.memory_bytes = 800;
  Reading reading(items);
  Plan plan = one_lane::plan(1, 0, 20);
  plan.number = {1, 2};
  plan.until = 20;
  reading.lead(plan);
  const auto oldest = reading.pull(kNewestVersion);
  reading.push(0, 3, {0, 1}, 100);
  reading.pull(kNewestVersion, kSlowReader + 1);
  reading.push(0, 3, {1, 2}, 100);
  CHECK(find<lane::Apply>(reading.push(0, 3, {2, 3}, 100)) == nullptr);
  CHECK(reading.lane.waiting_for_readers().size() == 1);
  Plan nearer = one_lane::plan(1, 0, 2);
  nearer.number = {1, 3};
  nearer.until = 2;
  reading.lead(nearer);
  reading.lane.step(lane::ReplyReleased{oldest});
  CHECK(reading.lane.has_more());
  const auto actions = reading.lane.step(lane::GoOn{});
  CHECK(find<lane::Apply>(actions) == nullptr);
  CHECK(find<lane::Drop>(actions) != nullptr);
  CHECK(reading.lane.waiting_for_readers().empty());
  CHECK_FALSE(reading.lane.has_more());
}

TEST_CASE("what is told of an item that is given up comes after what is applied beside it") {
  auto items = little_kept();
  items.items = ItemRules{2, false, false, false};
  items.chunks = {{3, 100, false}};
  items.memory_bytes = 1'200;
  Reading reading(items);
  Plan plan = one_lane::plan(1, 0, 20);
  plan.number = {1, 2};
  plan.until = 20;
  reading.lead(plan);
  const auto item = [&](Slot slot, Version computed_from, bool want_next) {
    Push push{1, 0, 3, {slot, slot + 1}, want_next, kNoSlot, {}};
    push.items.computed_from = computed_from;
    const Message message = push;
    return reading.measured(reading.lane.step(lane::FromWorker{kWorker, &message, ++reading.last_payload, 100}));
  };
  const auto oldest = reading.pull(kNewestVersion);
  item(0, 0, false);
  const auto older = reading.pull(kNewestVersion, kSlowReader + 1);
  item(1, 0, false);
  // All wait; the second is too stale once the first is applied.
  item(2, 0, false);
  item(3, 0, true);
  Push last{1, 1, 3, {0, 1}, false, kNoSlot, {}};
  last.items.computed_from = 2;
  const Message message = last;
  reading.measured(reading.lane.step(lane::FromWorker{kWorker, &message, ++reading.last_payload, 100}));
  reading.lane.step(lane::ReplyReleased{oldest});
  reading.lane.step(lane::ReplyReleased{older});
  CHECK(find<lane::Apply>(reading.lane.step(lane::GoOn{})) != nullptr);
  CHECK(reading.lane.has_more());
  const auto actions = reading.lane.step(lane::GoOn{});
  const auto is = [](auto* kind) {
    return [kind](const lane::Action& action) {
      return std::holds_alternative<std::remove_pointer_t<decltype(kind)>>(action);
    };
  };
  const auto applied = std::ranges::find_if(actions, is(static_cast<lane::Apply*>(nullptr)));
  const auto sent = std::ranges::find_if(actions, is(static_cast<lane::SendWeights*>(nullptr)));
  REQUIRE(applied != actions.end());
  REQUIRE(sent != actions.end());
  CHECK(applied < sent);
}
