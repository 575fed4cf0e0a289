// A lane whose weights are read slowly: what is kept for readers is bounded, and its steps end.
#include <doctest/doctest.h>

#include "tests/unit/protocol/lane/lane_fixture.h"

using namespace ballast;
using namespace ballast::one_lane;

namespace {

constexpr SessionId kSlowReader = 77;

// Chunk 3 has 100 bytes, and nothing more may be kept than one version of it.
LaneConfig little_kept() {
  auto little = config();
  little.memory_bytes = 740;  // the reserve, the credits of two sessions that know no calls, and a chunk
  little.kept_bytes = 100;
  little.reply_window_bytes = 10'000;
  return little;
}

// Whole steps are brought by kWorker; kSlowReader pulls, and lets go of nothing.
class Reading : public Fixture {
 public:
  explicit Reading(const LaneConfig& lane_config = little_kept()) : Fixture(lane_config) {
    from(1, LaneHello{"reader", "spec", "layout"});
  }
  lane::Actions from(ConnectionId connection, const Message& message) {
    return lane.step(lane::FromWorker{kSlowReader, &message, kNoPayload, 0, connection, kSlowReader});
  }
  std::uint64_t pull(Version version) {
    const auto actions = from(1, Pull{1, version, {3}});
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
  reading.pull(1);
  CHECK(find<lane::Apply>(reading.step(1)) != nullptr);
  CHECK(reading.lane.kept_bytes() == 100);
  const auto waits = reading.step(2);
  CHECK(find<lane::Apply>(waits) == nullptr);
  CHECK(reading.lane.open_step() == 2);
  CHECK(reading.lane.counters().readers.waits == 1);
  CHECK_FALSE(reading.lane.has_more());

  const auto actions = reading.lane.step(lane::ReplyReleased{oldest});
  REQUIRE(find<lane::Apply>(actions) != nullptr);
  CHECK(find<lane::Apply>(actions)->step == 2);
  CHECK(reading.lane.open_step() == 3);
}

TEST_CASE("who reads nothing has its connection ended when an update has waited for it, and is out of good standing") {
  Reading reading;
  const auto oldest = reading.pull(0);
  reading.step(0);
  reading.pull(1);
  reading.step(1);
  reading.lane.step(lane::Tick{10'000'000, 10'000'000});
  reading.step(2);
  auto actions = reading.lane.step(lane::Tick{11'999'999, 11'999'999});
  CHECK(find<lane::DropConnection>(actions) == nullptr);
  actions = reading.lane.step(lane::Tick{12'000'000, 12'000'000});
  const auto* drop = find<lane::DropConnection>(actions);
  REQUIRE(drop != nullptr);
  CHECK(drop->session == kSlowReader);
  reading.lead(plan(1, 0, 5));  // it is there
  const auto told = reading.lane.step(lane::Tick{12'300'000, 12'300'000});
  const auto* said = find<lane::SendToLead>(told);
  REQUIRE(said != nullptr);
  REQUIRE(std::holds_alternative<LaneReport>(said->message));
  CHECK(std::get<LaneReport>(said->message).trouble.find("update of chunk 3") != std::string::npos);
  CHECK(drop->connection == 1);
  actions = reading.lane.step(lane::ReplyReleased{oldest});
  CHECK(reading.lane.open_step() == 3);

  // It comes again, and is not waited for a second time.
  reading.lane.step(lane::ReplyReleased{oldest + 1});
  reading.from(2, LaneHello{"reader", "spec", "layout"});
  reading.from(2, Pull{1, 2, {3}});
  reading.from(2, Pull{1, 3, {3}});
  reading.step(3);
  CHECK(find<lane::Apply>(reading.step(4)) == nullptr);
  actions = reading.lane.step(lane::Tick{12'300'001, 12'300'001});
  drop = find<lane::DropConnection>(actions);
  REQUIRE(drop != nullptr);
  CHECK(drop->connection == 2);
}

TEST_CASE("weights of a lane of items are kept within the same bound") {
  auto items = little_kept();
  items.items = ItemRules{};
  items.chunks = {{3, 100, false}};
  items.memory_bytes = 600;
  Reading reading(items);
  Plan plan = one_lane::plan(1, 0, 20);
  plan.number = {1, 2};
  plan.until = 20;
  reading.lead(plan);
  const auto oldest = reading.pull(kNewestVersion);
  CHECK(find<lane::Apply>(reading.push(0, 3, {0, 1}, 100)) != nullptr);
  reading.pull(kNewestVersion);
  CHECK(find<lane::Apply>(reading.push(0, 3, {1, 2}, 100)) != nullptr);
  CHECK(find<lane::Apply>(reading.push(0, 3, {2, 3}, 100)) == nullptr);
  CHECK_FALSE(reading.lane.has_more());
  CHECK(find<lane::Apply>(reading.lane.step(lane::ReplyReleased{oldest})) != nullptr);
}
