#include "tests/simulation/lane_shell.h"

#include <algorithm>
#include <utility>

#include "tests/simulation/judge/violation.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

// Of some lives: one update for each event, what else is due with the next.
std::uint64_t event_bytes(Incarnation incarnation) { return incarnation % 2 == 0 ? 1 : 8U << 20U; }

LaneConfig lane_config(World& world, ProcessId id, std::uint32_t lane, Incarnation incarnation,
                       std::uint64_t database) {
  const auto& life = world.life;
  const auto& disk = world.disk(lane / life.lanes, database);
  LaneConfig config;
  config.id = {lane / life.lanes, lane % life.lanes};
  config.shards = life.shards;
  config.lanes = life.lanes;
  config.incarnation = incarnation;
  config.database = disk.life;
  config.held = disk.whole(life.lanes);
  config.initial_weights = disk.initial_weights;
  config.slots = life.slots;
  config.steps = life.steps;
  for (ChunkId chunk = 0; chunk < life.chunks.size(); ++chunk) {
    if (life.chunks[chunk].lane == lane) {
      config.chunks.push_back({chunk, life.chunks[chunk].bytes, chunk == life.statistics()});
    }
  }
  config.spec_digest = "spec";
  config.layout_digest = "layout";
  config.last_timeline = disk.timeline;
  config.address = Host::address(id);
  config.credit_bytes = life.credit_bytes;
  config.reply_window_bytes = life.reply_window_bytes;
  config.report_every = life.report_every;
  config.idle_report_every = life.idle_report_every;
  config.lead_silence = life.lead_silence;
  config.event_bytes = event_bytes(incarnation);
  if (life.items) {
    config.ledgered =
        LedgeredApply{life.items->bound, life.items->damped, world.non_finite == NonFinite::skip, life.journaled()};
  }
  const auto& journal = disk.journal;
  if (life.journaled() && journal.timeline == config.last_timeline && journal.timeline > 0) {
    config.lives = journal.lives;
    config.lives.push_back({incarnation, journal.written});
  }
  return config;
}

std::string lane_name(const LifeSpec& life, std::uint32_t lane) {
  return "lane " + std::to_string(lane / life.lanes) + "." + std::to_string(lane % life.lanes);
}

}  // namespace

LaneShell::LaneShell(World& world, ProcessId id, std::uint32_t lane, Incarnation incarnation, std::uint64_t database)
    : Process(id, lane_name(world.life, lane)),
      life_{id, lane, incarnation, 0, world.disk(lane / world.life.lanes, database).life},
      core_(lane_config(world, id, lane, incarnation, database)),
      turns_(world.life, event_bytes(incarnation)) {
  for (ChunkId chunk = 0; chunk < world.life.chunks.size(); ++chunk) {
    if (world.life.chunks[chunk].lane == lane) {
      chunks_[chunk];
    }
  }
}

std::uint32_t LaneShell::shard(Host& host) const { return life_.lane / host.life().lanes; }

Disk& LaneShell::disk(Host& host) { return host.world().disk(shard(host), life_.database.database); }

bool LaneShell::owns(ChunkId chunk) const { return chunks_.contains(chunk); }

void LaneShell::tick(Host& host, Micros clock) { step(host, lane::Tick{clock}); }

void LaneShell::note_asked(Host& host, ProcessId from, const Message& message) {
  if (const auto* pull = std::get_if<Pull>(&message)) {
    for (const auto chunk : pull->chunks) {
      host.judge().asked(from, chunk,
                         pull->version == kNewestVersion ? RepliesJudge::newest_for(pull->ticket) : pull->version);
    }
  } else if (const auto* push = std::get_if<Push>(&message); push != nullptr && push->want_next) {
    host.judge().asked(from, push->chunk, host.life().items ? RepliesJudge::newest_for(push->ticket) : push->step + 1);
  }
}

void LaneShell::note_plan(Host& host, const Message& message) {
  const auto* plan = std::get_if<Plan>(&message);
  if (plan == nullptr || plan->timeline != life_.timeline || beginning_ != life_.timeline) {
    return;
  }
  auto open = host.life().updates(host.life().steps);
  for (const auto& [id, chunk] : chunks_) {
    open = std::min(open, chunk.versions.rbegin()->first);
  }
  turns_.planned(*plan, open);
}

void LaneShell::receive(Host& host, ProcessId from, const Message& message, const std::optional<Payload>& payload) {
  if (host.is_lead(from)) {
    heard_ = from;
    note_plan(host, message);
    return step(host, lane::FromLead{&message});
  }
  note_asked(host, from, message);
  const auto* push = std::get_if<Push>(&message);
  if (push == nullptr) {
    return step(host, lane::FromWorker{from, &message, kNoPayload, 0});
  }
  const auto id = next_payload_++;
  held_[id] = {push->chunk, push->step, push->node, payload.value(), from};
  in_hand_.answers = 0;
  in_hand_.base = push->base;
  step(host, lane::FromWorker{from, &message, id, host.life().chunks[push->chunk].bytes});
  if (!alive() || in_hand_.answers == 1) {
    return;
  }
  // What waits for its commit is answered then, and what stops the job not at all.
  require(in_hand_.answers == 0 && host.life().items, "a push is not answered exactly once, at once");
  const ItemId item = push->step * host.life().slots + push->node.begin;
  if (host.judge().items().is_pending(life_.timeline, push->chunk, item)) {
    unanswered_.insert({push->chunk, item, from});
  } else {
    require(push->fault != kNoSlot && host.world().non_finite == NonFinite::halt, "a push is not answered");
  }
}

void LaneShell::note_answer(Host& host, SessionId session, const Receipt& receipt) {
  ++in_hand_.answers;
  unanswered_.erase({receipt.chunk, receipt.step * host.life().slots + receipt.node.begin, session});
  if (receipt.outcome == ReceiptOutcome::expired) {
    host.facts().note(Fact::expired);
    host.judge().expired(host.disks(), life_, receipt, in_hand_.base);
    require(host.was_disturbed(), "a healthy session's contribution is refused as too stale");
  } else {
    host.judge().receipt_sent(host.disks(), session, life_, receipt, held_);
  }
}

// Who waits for a receipt gets it as soon as the item is applied.
void LaneShell::check_answered(Host& host) const {
  for (const auto& [chunk, item, session] : unanswered_) {
    require(host.judge().items().is_pending(life_.timeline, chunk, item),
            "an item is applied, and a session that sent it hears nothing of it");
  }
}

void LaneShell::receive_strange(Host& host, SessionId session, bool says_hello, const StrangeMessage& strange) {
  if (says_hello) {
    const Message hello = LaneHello{"stranger", "spec", "layout"};
    step(host, lane::FromWorker{session, &hello, kNoPayload, 0});
  }
  PayloadId id = kNoPayload;
  const auto held_before = held_.size();
  if (const auto* push = std::get_if<Push>(&strange.message)) {
    id = next_payload_++;
    held_[id] = {push->chunk, push->step, push->node, {}, session};
  }
  in_hand_.refusals = 0;
  step(host, lane::FromWorker{session, &strange.message, id, strange.payload_bytes});
  require(!alive() || in_hand_.refusals == 1, "a lane does not refuse a stranger's message");
  require(!alive() || held_.size() == held_before, "a lane keeps a stranger's payload");
}

void LaneShell::step(Host& host, const lane::Event& event) {
  own_events_.push_back(event);
  while (!own_events_.empty()) {
    const auto next = own_events_.front();
    own_events_.pop_front();
    turns_.turn_begins(next);
    auto actions = core_.step(next);
    if (core_.serving()) {
      state_.move_from(host.facts().lane, LaneState::beginning, LaneState::serving);
      state_.move_from(host.facts().lane, LaneState::resuming, LaneState::serving);
    }
    for (auto& action : actions) {
      std::visit([&](auto& body) { act(host, body); }, action);
      host.acted(id());
      if (crashed()) {
        return;
      }
    }
    turns_.turn_ends(core_.has_more());
  }
  host.judge().lane_settled(host.disks(), life_, held_, core_.held_payloads());
  check_answered(host);
  if (core_.has_more() && !std::exchange(goes_on_, true)) {
    later(host, within(host.life().release_high), LaneGoesOn{});
  }
  require(core_.deferred_replies() <= core_.sessions() * chunks_.size(), "more deferred replies than can be");
}

void LaneShell::carry_out(Host& host, const LanePending& what) {
  std::visit([&](const auto& each) { done(host, each); }, what);
}

void LaneShell::done(Host& host, const LaneGoesOn& /*what*/) {
  goes_on_ = false;
  step(host, lane::GoOn{});
}

HeldPayload LaneShell::take(PayloadId id) {
  const auto found = held_.find(id);
  if (found == held_.end()) {
    throw Violation(name() + ": payload " + std::to_string(id) + " is used after it was given up");
  }
  auto payload = found->second;
  held_.erase(found);
  return payload;
}

// ---- actions

void LaneShell::act(Host& host, lane::SendToWorker& action) {
  if (action.session >= kFirstStranger) {
    in_hand_.refusals +=
        std::holds_alternative<Refused>(action.message) || std::holds_alternative<Stale>(action.message);
    return;
  }
  auto& judge = host.judge();
  if (const auto* receipt = std::get_if<Receipt>(&action.message)) {
    note_answer(host, action.session, *receipt);
  } else if (const auto* refused = std::get_if<Refused>(&action.message)) {
    ++in_hand_.answers;
    judge.refused_by_lane(*refused);
  } else if (const auto* gone = std::get_if<Gone>(&action.message)) {
    judge.gone_sent(host.disks(), life_, *gone);
  } else if (const auto* stale = std::get_if<Stale>(&action.message)) {
    ++in_hand_.answers;
    judge.stale_sent(host.disks(), life_, *stale);
  }
  host.send(*this, static_cast<ProcessId>(action.session), std::move(action.message));
}

void LaneShell::act(Host& host, lane::SendWeights& action) {
  auto& chunk = chunks_[action.header.chunk];
  const auto version = chunk.versions.find(action.header.version);
  if (version == chunk.versions.end()) {
    throw Violation(name() + " sends version " + std::to_string(action.header.version) + " of chunk " +
                    std::to_string(action.header.chunk) + ", which it does not hold");
  }
  const auto index = version->second;
  auto& buffer = chunk.buffers[index];
  ++buffer.references;
  host.judge().weights_sent(host.disks(), action.session, life_, action.header, action.bytes, buffer.value);
  host.send(*this, static_cast<ProcessId>(action.session), action.header,
            Payload{buffer.value, 0, kNoSlot, life_.timeline, 0});
  later(host, within(host.life().release_high), ReplyRelease{action.header.chunk, index, action.session, action.bytes});
}

void LaneShell::done(Host& host, const ReplyRelease& what) {
  --chunks_[what.chunk].buffers[what.buffer].references;
  host.judge().replies_released(what.session, life_, what.bytes);
  step(host, lane::RepliesReleased{what.session, what.bytes});
}

void LaneShell::act(Host& host, lane::SendToLead& action) {
  if (const auto* report = std::get_if<LaneReport>(&action.message)) {
    host.judge().reported(host.disks(), life_, *report);
  }
  host.send(*this, host.lead_id(), std::move(action.message));
}

void LaneShell::act(Host& /*host*/, lane::Sum& action) {
  const auto left = take(action.join.into);
  const auto right = take(action.join.with);
  if (left.chunk != action.chunk || right.chunk != action.chunk || left.step != right.step) {
    throw Violation(name() + " sums payloads of different chunks or steps");
  }
  // Neighbours, the lower slots on the left; the judge sees the rest in the value.
  const Node node{std::min(left.node.begin, right.node.begin), std::max(left.node.end, right.node.end)};
  held_[action.join.into] = {left.chunk, left.step, node, sum(left.payload, right.payload), left.session};
}

void LaneShell::act(Host& /*host*/, lane::Drop& action) { take(action.payload); }

// The older version's buffer if no reply references it, else any free one, else a new one.
std::size_t LaneShell::free_buffer(Chunk& chunk) {
  for (std::size_t i = 0; i < chunk.buffers.size(); ++i) {
    const bool in_use = std::any_of(chunk.versions.begin(), chunk.versions.end(),
                                    [&](const auto& version) { return version.second == i; });
    if (!in_use && chunk.buffers[i].references == 0) {
      return i;
    }
  }
  chunk.buffers.emplace_back();
  return chunk.buffers.size() - 1;
}

void LaneShell::act(Host& host, lane::Measure& action) {
  const auto root = held_.find(action.root);
  require(root != held_.end() && root->second.chunk == action.chunk && root->second.step == action.step,
          "the root of another chunk or step is measured");
  own_events_.push_front(
      lane::Measured{measure(host.life(), action.chunk, action.step, root->second.payload), action.root});
}

void LaneShell::apply_item(Host& host, lane::Apply& action) {
  auto& chunk = chunks_.at(action.chunk);
  const auto update = take(action.root);
  require(update.chunk == action.chunk && update.step == action.step, "another chunk's or step's update is applied");
  chunk.value = action.chunk == host.life().statistics() ? statistics_value(action.version + 1)
                                                         : apply(chunk.value, update.payload, action.factors);
  host.judge().item_applied(host.disks(), life_, action, update, chunk.value);
  put_weights_in_place(chunk, action.version + 1);
  if (action.statistics) {
    own_events_.push_back(lane::StatisticsRead{statistics(action.step, update.payload.value), action.timeline});
  }
  if (host.traces()) {
    host.say(name() + (action.factors.skip ? " skips step " : " applies step ") + std::to_string(action.step) +
             " slot " + std::to_string(update.node.begin) + " to chunk " + std::to_string(action.chunk) +
             " as version " + std::to_string(action.version + 1));
  }
}

// As the newest ones; the ones before stay for those who are being sent them.
void LaneShell::put_weights_in_place(Chunk& chunk, Version version) {
  chunk.versions.clear();
  const auto buffer = free_buffer(chunk);
  chunk.buffers[buffer].value = chunk.value.weights;
  chunk.versions[version] = buffer;
}

void LaneShell::act(Host& host, lane::Apply& action) {
  turns_.applied(action);
  if (host.life().items) {
    return apply_item(host, action);
  }
  auto& chunk = chunks_.at(action.chunk);
  const auto root = take(action.root);
  require(root.chunk == action.chunk && root.step == action.step, "the root of another chunk or step is applied");
  chunk.value = action.chunk == host.life().statistics() ? statistics_value(action.step + 1)
                                                         : apply(chunk.value, root.payload, action.factors);
  host.judge().round_applied(host.disks(), life_, action, root, chunk.value);
  if (action.step > 0) {
    chunk.versions.erase(action.step - 1);
  }
  const auto buffer = free_buffer(chunk);
  chunk.buffers[buffer].value = chunk.value.weights;
  chunk.versions[action.step + 1] = buffer;
  if (action.statistics) {
    own_events_.push_back(lane::StatisticsRead{statistics(action.step, root.payload.value), action.timeline});
  }
  if (host.traces()) {
    host.say(name() + (action.factors.skip ? " skips step " : " applies step ") + std::to_string(action.step) +
             " to chunk " + std::to_string(action.chunk));
  }
}

// ---- storage

void LaneShell::act(Host& host, lane::Begin& action) {
  state_.move(host.facts().lane, LaneState::beginning);
  beginning_ = action.timeline;
  turns_.begins();
  snapshots_.taken.clear();
  unanswered_.clear();
  later(host, on_disk(host.life().storage_high), TimelineRecord{action.timeline, action.base});
}

void LaneShell::done(Host& host, const TimelineRecord& what) {
  auto& disk = this->disk(host);
  if (host.life().journaled()) {
    disk.journal.begin(what.timeline, life_.incarnation);
  }
  disk.timeline = std::max(disk.timeline, what.timeline);
  disk.sync();
  if (host.traces()) {
    host.say(name() + " makes timeline " + std::to_string(what.timeline) + " durable");
  }
  later(host, on_disk(host.life().storage_high / 4), BaseLoad{what.timeline, what.base});
}

void LaneShell::done(Host& host, const BaseLoad& what) {
  if (what.timeline == beginning_) {
    life_.timeline = what.timeline;
    host.judge().began(host.disks(), life_, what.base, put_base_in_place(host, what.base));
  }
  step(host, lane::Begun{what.timeline});
}

std::map<ChunkId, ChunkValue> LaneShell::put_base_in_place(Host& host, SnapshotId base) {
  std::map<ChunkId, ChunkValue> values;
  for (auto& [id, chunk] : chunks_) {
    if (id == host.life().statistics()) {
      chunk.value = statistics_value(host.life().updates(base.step));
    } else {
      const auto* stored = disk(host).durable(base, id);
      if (stored == nullptr) {
        throw Violation(name() + " does not find chunk " + std::to_string(id) + " of the base, the snapshot of step " +
                        std::to_string(base.step) + " on timeline " + std::to_string(base.timeline));
      }
      chunk.value = *stored;
      values[id] = *stored;
    }
    put_weights_in_place(chunk, host.life().updates(base.step));
  }
  return values;
}

void LaneShell::act(Host& host, lane::TakeSnapshot& action) {
  const auto& value = chunks_.at(action.chunk).value;
  host.judge().snapshot_taken(host.disks(), life_, action.id, action.chunk, value);
  require(snapshots_.taken[action.id].insert(action.chunk).second, "a chunk is taken twice into one snapshot");
  later(host, on_disk(host.life().storage_high / 4), ChunkWrite{action.id, action.chunk, value});
}

void LaneShell::done(Host& host, const ChunkWrite& what) {
  if (what.id.timeline < beginning_) {
    return;  // given up
  }
  if (host.write_fails()) {
    snapshots_.failed.insert(what.id);
  } else {
    disk(host).write(what.id, what.chunk, what.value);
  }
  host.wrote_chunk(life_);
}

void LaneShell::act(Host& host, lane::SealSnapshot& action) {
  std::size_t own = chunks_.size() - (owns(host.life().statistics()) ? 1 : 0);
  require(snapshots_.taken[action.id].size() == own, "a snapshot is sealed before all its chunks are taken");
  later(host, on_disk(host.life().storage_high), SnapshotSeal{action.id});
}

void LaneShell::done(Host& host, const SnapshotSeal& what) {
  const auto id = what.id;
  if (id.timeline >= beginning_ && (snapshots_.failed.contains(id) || host.write_fails())) {
    return step(host, lane::SnapshotFailed{id, "no space is left"});
  }
  if (id.timeline == beginning_) {
    disk(host).sync();
    disk(host).seal(id, life_.lane);
  }
  step(host, lane::SnapshotDurable{id});
}

void LaneShell::act(Host& host, lane::Retain& action) {
  if (life_.lane % host.life().lanes != 0) {
    return;  // one lane speaks for the shard: they share the database
  }
  later(host, on_disk(host.life().storage_high / 4), SnapshotDeletion{action.keep});
}

void LaneShell::done(Host& host, const SnapshotDeletion& what) {
  auto& disk = this->disk(host);
  for (const auto id : disk.superseded(what.keep)) {
    host.judge().deletes(shard(host), id);
    disk.snapshots.erase(id);
    disk.seals.erase(id);
  }
  auto& journal = disk.journal;
  if (!what.keep.empty() && journal.timeline == life_.timeline) {
    journal.released = std::max(journal.released, host.life().updates(what.keep.back().step));
  }
}

void LaneShell::act(Host& host, lane::RecordFinish& action) {
  state_.move(host.facts().lane, LaneState::concluding);
  host.judge().records_finish(host.disks(), life_, action.end);
  later(host, on_disk(host.life().storage_high), FinishRecord{action.end});
}

void LaneShell::done(Host& host, const FinishRecord& what) {
  disk(host).finished = what.end;
  step(host, lane::FinishRecorded{});
}

void LaneShell::act(Host& host, lane::Stop& action) {
  state_.move(host.facts().lane, LaneState::stopped);
  if (action.failure.find("other initial weights") != std::string::npos) {
    die();  // to come back with another file
    return host.end_server(life_);
  }
  end(host, action.failure);
}

void LaneShell::gather(LifeFacts& facts) const {
  facts.note(Fact::went_on, turns_.went_on());
  const auto counters = core_.counters();
  facts.note(Fact::superseded, counters.updates.superseded > 0);
  facts.note(Fact::gone, counters.replies.gone > 0);
  facts.note(Fact::served_older, counters.replies.served_older > 0);
  facts.note(Fact::deferred, counters.replies.deferred > 0);
  facts.note(Fact::duplicate, counters.updates.duplicates > 0);
  facts.note(Fact::stale, counters.stale > 0);
  facts.note(Fact::waited_for_factors, counters.updates.waited_for_factors > 0);
}

}  // namespace ballast::simulation
