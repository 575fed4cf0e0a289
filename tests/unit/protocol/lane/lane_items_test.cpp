// The lane in item mode.
#include <doctest/doctest.h>

#include "protocol/lane/lane.h"

using namespace ballast;

namespace {

constexpr SessionId kItemWorker = 9;
constexpr SessionId kOther = 10;

LaneConfig item_config(ItemRules rules, std::uint64_t event_bytes = 1U << 20U) {
  LaneConfig config;
  config.id = {1, 0};
  config.shards = 2;
  config.slots = 2;
  config.steps = 3;
  config.chunks = {{3, 100, false}, {5, 40, true}};
  config.spec_digest = "spec";
  config.layout_digest = "layout";
  config.address = "here";
  config.items = rules;
  config.event_bytes = event_bytes;
  return config;
}

Plan item_plan(Version first, std::size_t updates, std::vector<Step> snapshots = {}) {
  StepFactors factors;
  factors.learning_rate = 0.5F;
  factors.step_size = 0.5F;
  return {1, first, std::vector<StepFactors>(updates, factors), std::move(snapshots), {}, {}, 0, 1};
}

template <typename Action>
std::vector<Action> all(const lane::Actions& actions) {
  std::vector<Action> found;
  for (const auto& action : actions) {
    if (const auto* one = std::get_if<Action>(&action)) {
      found.push_back(*one);
    }
  }
  return found;
}

std::vector<Receipt> receipts(const lane::Actions& actions) {
  std::vector<Receipt> found;
  for (const auto& send : all<lane::SendToWorker>(actions)) {
    if (const auto* receipt = std::get_if<Receipt>(&send.message)) {
      found.push_back(*receipt);
    }
  }
  return found;
}

class ItemLaneFixture {
 public:
  explicit ItemLaneFixture(ItemRules rules = {}, std::size_t planned = 4, std::uint64_t event_bytes = 1U << 20U)
      : lane(item_config(rules, event_bytes)) {
    lane.step(lane::Tick{1'000});
    lead(Confirm{1, 1, {0, 0}});
    lane.step(lane::Begun{1});
    lead(item_plan(0, planned));
    for (const auto session : {kItemWorker, kOther}) {
      const Message hello = LaneHello{"worker", "spec", "layout"};
      lane.step(lane::FromWorker{session, &hello, kNoPayload, 0});
    }
  }

  lane::Actions lead(const Message& message) { return lane.step(lane::FromLead{&message}); }
  lane::Actions push(Step step, Slot slot, ChunkId chunk, Version base, SessionId session = kItemWorker,
                     bool want_next = false) {
    Push push{1, step, chunk, {slot, slot + 1}, want_next, kNoSlot, {}, {base, {1, 77}, {{0, 4, 12}}}};
    push.fault = finite ? kNoSlot : slot;
    const Message message = push;
    auto actions = lane.step(lane::FromWorker{session, &message, ++last_payload, chunk == 3 ? 100U : 40U});
    if (const auto measures = all<lane::Measure>(actions); !measures.empty()) {
      const auto more = lane.step(lane::Measured{
          {measures[0].chunk, measures[0].step, {}, finite || chunk == 5, 0, kNoSlot}, measures[0].root});
      actions.insert(actions.end(), more.begin(), more.end());
    }
    for (const auto& apply : all<lane::Apply>(actions)) {
      read_statistics(apply);
    }
    return actions;
  }
  lane::Actions commit(std::uint64_t ticket, std::uint64_t sequence) {
    auto actions = lane.step(lane::Committed{ticket, sequence});
    for (const auto& apply : all<lane::Apply>(actions)) {
      read_statistics(apply);
    }
    return actions;
  }
  void read_statistics(const lane::Apply& apply) {
    if (apply.statistics) {
      lane.step(lane::StatisticsRead{{apply.step, 0.25F, 1, 4}, apply.timeline});
    }
  }
  LaneReport report() {
    now += 300'000;
    for (const auto& send : all<lane::SendToLead>(lane.step(lane::Tick{now}))) {
      if (const auto* found = std::get_if<LaneReport>(&send.message)) {
        return *found;
      }
    }
    FAIL("no report");
    return {};
  }

  Lane lane;
  PayloadId last_payload = 0;
  bool finite = true;
  Micros now = 1'000;
};

}  // namespace

TEST_CASE("each item is applied once per chunk, in the order of arrival, with the factors of its version") {
  ItemLaneFixture fixture;
  auto actions = fixture.push(0, 1, 3, 0);
  REQUIRE(all<lane::Apply>(actions).size() == 1);
  CHECK(all<lane::Apply>(actions)[0].version == 0);
  CHECK(all<lane::Apply>(actions)[0].step == 0);
  REQUIRE(receipts(actions).size() == 1);
  CHECK(receipts(actions)[0].outcome == ReceiptOutcome::accepted);

  actions = fixture.push(1, 0, 3, 0);
  REQUIRE(all<lane::Apply>(actions).size() == 1);
  CHECK(all<lane::Apply>(actions)[0].version == 1);

  actions = fixture.push(0, 1, 3, 1, kOther);
  CHECK(all<lane::Apply>(actions).empty());
  CHECK(all<lane::Drop>(actions).size() == 1);
  CHECK(receipts(actions)[0].outcome == ReceiptOutcome::duplicate);
  CHECK(fixture.lane.counters().updates.staleness.sum == 1);
  CHECK(fixture.lane.counters().updates.staleness.largest == 1);
}

TEST_CASE("an item is covered when every chunk has it, and a step's loss comes when all its items are there") {
  ItemLaneFixture fixture;
  fixture.push(0, 1, 3, 0);
  CHECK(fixture.report().items.covered.empty());
  fixture.push(0, 1, 5, 0);
  CHECK(fixture.report().items.covered == std::vector<ItemRange>{{1, 2}});
  CHECK(fixture.report().statistics.empty());
  fixture.push(0, 0, 5, 1);
  fixture.push(0, 0, 3, 1);
  const auto report = fixture.report();
  CHECK(report.items.covered == std::vector<ItemRange>{{0, 2}});
  CHECK(report.open_step == 1);
  CHECK(report.statistics == std::vector<StepStatistics>{{0, 0.5F, 2, 8}});
}

TEST_CASE("a lane says how far any of its chunks has come, waiting for the journal or not") {
  ItemLaneFixture fixture({0, false, false, true});
  CHECK(fixture.report().items.reached == 0);
  fixture.push(1, 1, 3, 0);
  CHECK(fixture.report().items.covered.empty());
  CHECK(fixture.report().items.reached == 4);
}

TEST_CASE("what lies beyond the plan is asked for again later, and changes nothing") {
  ItemLaneFixture fixture({}, 2);
  const auto actions = fixture.push(1, 0, 3, 0);
  REQUIRE(all<lane::SendToWorker>(actions).size() == 1);
  CHECK(std::get<Refused>(all<lane::SendToWorker>(actions)[0].message).code == RefusalCode::not_serving);
  CHECK(all<lane::Drop>(actions).size() == 1);
  CHECK(all<lane::Apply>(actions).empty());
}

TEST_CASE("several slots at once, or weights that never were, are out of range") {
  ItemLaneFixture fixture;
  const Message both = Push{1, 0, 3, {0, 2}, false, kNoSlot, {}};
  auto actions = fixture.lane.step(lane::FromWorker{kItemWorker, &both, 50, 100});
  CHECK(std::get<Refused>(all<lane::SendToWorker>(actions)[0].message).code == RefusalCode::out_of_range);
  actions = fixture.push(0, 0, 3, 1);
  CHECK(std::get<Refused>(all<lane::SendToWorker>(actions)[0].message).code == RefusalCode::out_of_range);
}

TEST_CASE("a contribution staler than the bound is never applied, and its worker told so") {
  ItemLaneFixture fixture({1, false, false, false});
  fixture.push(0, 0, 3, 0);
  fixture.push(0, 1, 3, 0);
  const auto actions = fixture.push(1, 0, 3, 0);
  CHECK(all<lane::Apply>(actions).empty());
  CHECK(receipts(actions)[0].outcome == ReceiptOutcome::expired);
  CHECK(fixture.lane.counters().updates.staleness.expired == 1);
  CHECK(fixture.lane.counters().updates.staleness.largest == 1);
  CHECK_FALSE(all<lane::Apply>(fixture.push(1, 0, 3, 1)).empty());
}

TEST_CASE("damping divides the step by the staleness") {
  ItemLaneFixture fixture({0, true, false, false});
  CHECK(all<lane::Apply>(fixture.push(0, 0, 3, 0))[0].factors.step_size == 0.5F);
  CHECK(all<lane::Apply>(fixture.push(0, 1, 3, 0))[0].factors.step_size == 0.5F);
  CHECK(all<lane::Apply>(fixture.push(1, 0, 3, 0))[0].factors.step_size == 0.25F);
}

TEST_CASE("a journaled item is applied and receipted when it is committed, with its duplicates") {
  ItemLaneFixture fixture({0, false, false, true});
  auto actions = fixture.push(0, 0, 3, 0, kItemWorker, true);
  REQUIRE(all<lane::Append>(actions).size() == 1);
  CHECK(all<lane::Append>(actions)[0].item == 0);
  CHECK(all<lane::Append>(actions)[0].marks == std::vector<JournalMark>{{0, 4, 12}});
  CHECK(all<lane::Apply>(actions).empty());
  CHECK(all<lane::SendToWorker>(actions).empty());

  actions = fixture.push(0, 0, 3, 0, kOther);
  CHECK(all<lane::SendToWorker>(actions).empty());
  CHECK(all<lane::Drop>(actions).size() == 1);
  actions = fixture.push(0, 1, 3, 0, kOther);
  CHECK(all<lane::Append>(actions)[0].version == 1);

  actions = fixture.commit(1, 31);
  REQUIRE(all<lane::Apply>(actions).size() == 1);
  REQUIRE(receipts(actions).size() == 2);
  CHECK(receipts(actions)[0].outcome == ReceiptOutcome::accepted);
  CHECK(receipts(actions)[1].outcome == ReceiptOutcome::duplicate);
  REQUIRE(all<lane::SendWeights>(actions).size() == 1);
  CHECK(all<lane::SendWeights>(actions)[0].header.version == 1);
  CHECK(all<lane::SendWeights>(actions)[0].header.clock == LeadNumber{1, 77});
  CHECK(all<lane::SendWeights>(actions)[0].header.sequence == 31);
  CHECK(all<lane::Apply>(fixture.commit(2, 32)).size() == 1);
}

TEST_CASE("a group of commits is applied a bounded number of bytes at a time, each chunk once, in order") {
  for (const std::uint64_t event_bytes : {100, 1'000}) {
    CAPTURE(event_bytes);
    ItemLaneFixture fixture({0, false, false, true}, 4, event_bytes);
    for (Slot slot = 0; slot < 2; ++slot) {
      fixture.push(0, slot, 3, 0);
      fixture.push(0, slot, 5, 0);
    }
    auto actions = fixture.commit(4, 40);
    std::vector<std::size_t> applied;
    for (; fixture.lane.has_more(); actions = fixture.lane.step(lane::GoOn{})) {
      applied.push_back(all<lane::Apply>(actions).size());
      CHECK(receipts(actions).size() == applied.back());
    }
    applied.push_back(all<lane::Apply>(actions).size());
    // Of 100, 40, 100 and 40 bytes.
    CHECK(applied == (event_bytes == 100 ? std::vector<std::size_t>{1, 2, 1} : std::vector<std::size_t>{2, 2}));
    CHECK(fixture.lane.held_payloads() == 0);
  }
}

TEST_CASE("what was computed from weights of a lost life has expired, and its worker gets others") {
  ItemLaneFixture fixture({0, false, false, true});
  const auto actions = fixture.push(0, 0, 3, 5, kItemWorker, true);
  REQUIRE(receipts(actions).size() == 1);
  CHECK(receipts(actions)[0].outcome == ReceiptOutcome::expired);
  REQUIRE(all<lane::SendWeights>(actions).size() == 1);
  CHECK(all<lane::SendWeights>(actions)[0].header.version == 0);
  CHECK(all<lane::Drop>(actions).size() == 1);
  CHECK(fixture.report().items.marks.empty());
}

TEST_CASE("an item that is there is there, whatever it was computed from") {
  ItemLaneFixture fixture({0, false, false, true});
  fixture.push(0, 0, 3, 0);
  fixture.commit(1, 1);
  const auto again = receipts(fixture.push(0, 0, 3, 5));  // of a version that a lost life had
  REQUIRE(again.size() == 1);
  CHECK(again[0].outcome == ReceiptOutcome::duplicate);
}

TEST_CASE("a life that goes on has what was recovered, once") {
  auto resuming = item_config({0, false, false, true});
  resuming.last_timeline = 1;
  resuming.lives = {{40, 0}, {1, 3}};
  Lane lane(resuming);
  const auto hello = all<lane::SendToLead>(lane.step(lane::Tick{1'000}));
  REQUIRE(hello.size() == 1);
  CHECK(std::get<ShardHello>(hello[0].message).lives == resuming.lives);
  const Message confirm = Confirm{1, 1, {1, 1}, true};
  REQUIRE(all<lane::Resume>(lane.step(lane::FromLead{&confirm})).size() == 1);
  CHECK(all<lane::Resume>(lane.step(lane::FromLead{&confirm})).empty());
  const auto actions =
      lane.step(lane::Resumed{1, 1, {{3, 3, {}}, {5, 3, {0, 0.25F, 1, 4}}, {5, 2, {0, 0.5F, 2, 4}}}, {}, 3});
  // It serves when the lead has answered its second hello.
  REQUIRE(all<lane::SendToLead>(actions).size() == 1);
  CHECK(std::get<ShardHello>(all<lane::SendToLead>(actions)[0].message).replayed == Replayed{2, 0});
  const Message pull = Pull{1, kNewestVersion, {3}, {}};
  const auto refused = lane.step(lane::FromWorker{kItemWorker, &pull, kNoPayload, 0});
  CHECK(all<lane::SendWeights>(refused).empty());
  CHECK(all<lane::SendToLead>(lane.step(lane::FromLead{&confirm})).empty());
  const Message newer = Confirm{1, 1, {1, 1}, true, 1};
  const auto again = all<lane::SendToLead>(lane.step(lane::FromLead{&newer}));
  REQUIRE(again.size() == 1);
  CHECK(std::get<ShardHello>(again[0].message).replayed == Replayed{2, 1});
  const Message of_older = Confirm{1, 1, {1, 1}, true, 0, true};
  CHECK_FALSE(lane.serving());
  lane.step(lane::FromLead{&of_older});
  CHECK_FALSE(lane.serving());
  lane.step(lane::FromLead{&newer});
  const Message serves = Confirm{1, 1, {1, 1}, true, 1, true};
  const auto served = all<lane::SendToLead>(lane.step(lane::FromLead{&serves}));
  REQUIRE(served.size() == 1);
  const auto report = std::get<LaneReport>(served[0].message);
  CHECK(report.serving);
  CHECK(report.open_step == 1);
  CHECK(report.items.covered == std::vector<ItemRange>{{0, 2}, {3, 4}});
  CHECK(report.statistics == std::vector<StepStatistics>{{1, 0.75F, 3, 8}});
}

TEST_CASE("a lane that is kept from serving tells why beside its hellos, and that it is over") {
  auto resuming = item_config({0, false, false, true});
  resuming.last_timeline = 1;
  resuming.lives = {{40, 0}, {1, 3}};
  Lane lane(resuming);
  const Message confirm = Confirm{1, 1, {1, 1}, true};
  lane.step(lane::Tick{1'000});
  lane.step(lane::FromLead{&confirm});
  Micros now = 1'000;
  // What the lead is sent with the next hello.
  const auto told = [&](const char* trouble) {
    lane.step(lane::Trouble{trouble});
    const auto sent = all<lane::SendToLead>(lane.step(lane::Tick{now += 1'000'000}));
    REQUIRE(!sent.empty());
    CHECK(std::holds_alternative<ShardHello>(sent[0].message));
    return sent.size() == 1 ? std::nullopt : std::optional(std::get<LaneReport>(sent[1].message));
  };
  CHECK_FALSE(told("").has_value());
  const auto full = told("the disk is full");
  REQUIRE(full.has_value());
  CHECK(full->trouble == "the disk is full");
  CHECK_FALSE(full->serving);
  const auto over = told("");
  REQUIRE(over.has_value());
  CHECK(over->trouble.empty());
  CHECK_FALSE(told("").has_value());
}

TEST_CASE("a chunk that has come back further on than its plan takes nothing before it knows the factors") {
  auto resuming = item_config({0, false, false, true});
  resuming.last_timeline = 1;
  resuming.lives = {{40, 0}, {1, 3}};
  Lane lane(resuming);
  lane.step(lane::Tick{1'000});
  const Message confirm = Confirm{1, 1, {1, 0}, true};
  lane.step(lane::FromLead{&confirm});
  // Item 0 is lost, and the chunk is at version 3.
  lane.step(lane::Resumed{1, 0, {{3, 1, {}}, {3, 2, {}}, {3, 3, {}}}, {}, 3});
  const Message serves = Confirm{1, 1, {1, 0}, true, 0, true};
  lane.step(lane::FromLead{&serves});
  const Message hello = LaneHello{"worker", "spec", "layout"};
  lane.step(lane::FromWorker{kItemWorker, &hello, kNoPayload, 0});
  const Message push = Push{1, 0, 3, {0, 1}, false, kNoSlot, {}, {0, {1, 77}, {}}};
  const Message too_short = item_plan(0, 3);
  lane.step(lane::FromLead{&too_short});
  auto actions = lane.step(lane::FromWorker{kItemWorker, &push, 1, 100});
  CHECK(all<lane::Measure>(actions).empty());
  CHECK(std::get<Refused>(all<lane::SendToWorker>(actions)[0].message).code == RefusalCode::not_serving);
  const Message enough = item_plan(0, 4);
  lane.step(lane::FromLead{&enough});
  CHECK(all<lane::Measure>(lane.step(lane::FromWorker{kItemWorker, &push, 2, 100})).size() == 1);
}

TEST_CASE("a commit of a timeline that is over says nothing of the newer one's journal") {
  ItemLaneFixture fixture({0, false, false, true});
  fixture.push(0, 0, 3, 0);
  fixture.lead(Confirm{1, 2, {1, 0}});
  fixture.lane.step(lane::Begun{2});
  CHECK(fixture.commit(1, 90).empty());
  const Message pull = Pull{2, kNewestVersion, {3}, 78};
  const auto weights = all<lane::SendWeights>(fixture.lane.step(lane::FromWorker{kItemWorker, &pull, kNoPayload, 0}));
  REQUIRE(weights.size() == 1);
  CHECK(weights[0].header.sequence == 0);
}

TEST_CASE("a snapshot is of a whole step: every item before it, and none of it") {
  ItemLaneFixture fixture({}, 2);
  fixture.push(0, 0, 3, 0);
  fixture.push(0, 1, 3, 0);
  CHECK(all<lane::TakeSnapshot>(fixture.lead(item_plan(0, 4, {1}))).size() == 1);
  fixture.push(0, 0, 5, 0);
  const auto actions = fixture.push(0, 1, 5, 0);
  REQUIRE(all<lane::SealSnapshot>(actions).size() == 1);
  CHECK(all<lane::SealSnapshot>(actions)[0].id == SnapshotId{1, 1});
}

TEST_CASE("an item that is not finite ends the job, or is covered without a trace") {
  ItemLaneFixture halting;
  halting.finite = false;
  auto actions = halting.push(0, 1, 3, 0);
  CHECK(all<lane::Apply>(actions).empty());
  REQUIRE(all<lane::SendToLead>(actions).size() == 1);
  const auto report = std::get<LaneReport>(all<lane::SendToLead>(actions)[0].message);
  REQUIRE(report.measures.size() == 1);
  CHECK(report.measures[0].slot == 1);

  ItemLaneFixture skipping({0, false, true, false});
  skipping.finite = false;
  actions = skipping.push(0, 1, 3, 0);
  REQUIRE(all<lane::Apply>(actions).size() == 1);
  CHECK(all<lane::Apply>(actions)[0].factors.skip);
  CHECK(skipping.lane.counters().updates.staleness.skipped == 1);
}

namespace {

Plan numbered(LeadNumber number, Version until, std::vector<Step> snapshots = {}) {
  auto numbered = item_plan(0, 8, std::move(snapshots));
  numbered.number = number;
  numbered.until = until;
  return numbered;
}

}  // namespace

TEST_CASE("a lane takes nothing beyond the end that its newest plan names, though an older one went further") {
  ItemLaneFixture fixture;
  fixture.lead(numbered({2, 1}, 8));
  CHECK(fixture.report().planned == 8);
  fixture.lead(numbered({2, 2}, 2));
  CHECK(fixture.report().planned == 2);
  CHECK(fixture.report().plan == LeadNumber{2, 2});
  CHECK(all<lane::Apply>(fixture.push(1, 0, 3, 0)).empty());
  fixture.lead(numbered({2, 1}, 8));  // comes late
  fixture.lead(numbered({1, 9}, 8));  // of an earlier lead
  CHECK(all<lane::Apply>(fixture.push(1, 0, 3, 0)).empty());
  CHECK(all<lane::Apply>(fixture.push(0, 0, 3, 0)).size() == 1);
  fixture.lead(numbered({3, 1}, 8));
  CHECK(all<lane::Apply>(fixture.push(1, 0, 3, 0)).size() == 1);
}

TEST_CASE("a plan for another life of the shard is none for this one") {
  ItemLaneFixture fixture;
  auto other = numbered({2, 1}, 0);
  other.incarnation = 7;
  fixture.lead(other);
  CHECK(fixture.report().planned == 4);
}

TEST_CASE("what was read when a nearer end came is not taken") {
  ItemLaneFixture fixture;
  const Message message = Push{1, 1, 3, {0, 1}, false, kNoSlot, {}, {0, {1, 77}, {}}};
  const auto measures = all<lane::Measure>(fixture.lane.step(lane::FromWorker{kItemWorker, &message, 50, 100}));
  REQUIRE(measures.size() == 1);
  fixture.lead(numbered({2, 2}, 2));
  const auto actions = fixture.lane.step(lane::Measured{{3, 1, {}, true, 0, kNoSlot}, measures[0].root});
  CHECK(all<lane::Apply>(actions).empty());
  CHECK(all<lane::Drop>(actions).size() == 1);
  CHECK(fixture.lane.held_payloads() == 0);
}

TEST_CASE("a lane tells at once that it follows another plan") {
  ItemLaneFixture fixture;
  CHECK(all<lane::SendToLead>(fixture.lead(numbered({2, 1}, 8))).size() == 1);
  CHECK(all<lane::SendToLead>(fixture.lead(numbered({2, 1}, 8))).empty());
}

TEST_CASE("a journal is synced where all stop, once all items before are there, and the lead told when it is") {
  ItemLaneFixture fixture({0, false, false, true});
  CHECK(all<lane::SyncJournal>(fixture.lead(numbered({2, 1}, 1))).empty());
  fixture.push(0, 0, 3, 0);
  fixture.push(0, 0, 5, 0);
  CHECK(all<lane::SyncJournal>(fixture.commit(1, 1)).empty());
  const auto syncs = all<lane::SyncJournal>(fixture.commit(2, 2));
  REQUIRE(syncs.size() == 1);
  CHECK(syncs[0].timeline == 1);
  CHECK(syncs[0].before == 1);
  CHECK(all<lane::SyncJournal>(fixture.lead(numbered({2, 1}, 1))).empty());
  CHECK(fixture.report().items.synced == 0);
  CHECK(all<lane::SendToLead>(fixture.lane.step(lane::JournalSynced{1, 1})).size() == 1);
  CHECK(fixture.report().items.synced == 1);
  fixture.lane.step(lane::JournalSynced{9, 2});  // of another timeline
  CHECK(fixture.report().items.synced == 1);
  ItemLaneFixture unwritten({0, false, false, false});
  unwritten.push(0, 0, 3, 0);
  unwritten.push(0, 0, 5, 0);
  CHECK(all<lane::SyncJournal>(unwritten.lead(numbered({2, 1}, 1))).empty());
}

TEST_CASE("an offer of what is no item is refused, for it would be looked at in each turn and never called") {
  ItemLaneFixture at;
  const Message hello = LaneHello{"worker", "spec", "layout", true};
  at.lane.step(lane::FromWorker{kOther, &hello, kNoPayload, 0, 1, kOther});
  for (const auto& node : {Node{0, 2}, Node{0, 1}}) {
    const Message offers = Offers{1, {{0, 3, node}}};
    bool is_refused = false;
    for (const auto& send :
         all<lane::SendToWorker>(at.lane.step(lane::FromWorker{kOther, &offers, kNoPayload, 0, 1, kOther}))) {
      const auto* refused = std::get_if<Refused>(&send.message);
      is_refused = is_refused || (refused != nullptr && refused->text == "[0, 2) is no item: each slot is one");
    }
    CHECK(is_refused == (node.size() == 2));
  }
}
