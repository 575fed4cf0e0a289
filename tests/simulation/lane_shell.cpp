#include <algorithm>
#include <utility>

#include "tests/simulation/shells.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

// Of some lives: one update for each event, what else is due with the next.
std::uint64_t event_bytes(Incarnation incarnation) { return incarnation % 2 == 0 ? 1 : 8U << 20U; }

LaneConfig lane_config(Cluster& cluster, ProcessId id, std::uint32_t lane, Incarnation incarnation,
                       std::uint64_t database) {
  const auto& life = cluster.life();
  const auto& disk = cluster.disk(lane / life.lanes, database);
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
  config.address = Cluster::address(id);
  config.credit_bytes = life.credit_bytes;
  config.reply_window_bytes = life.reply_window_bytes;
  config.report_every = life.report_every;
  config.idle_report_every = life.idle_report_every;
  config.lead_silence = life.lead_silence;
  config.event_bytes = event_bytes(incarnation);
  if (life.items) {
    config.ledgered =
        LedgeredApply{life.items->bound, life.items->damped, cluster.non_finite() == NonFinite::skip, life.journaled()};
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

LaneShell::LaneShell(Cluster& cluster, ProcessId id, std::uint32_t lane, Incarnation incarnation,
                     std::uint64_t database)
    : Process(cluster, id, lane_name(cluster.life(), lane)),
      life_{id, lane, incarnation, 0, cluster.disk(lane / cluster.life().lanes, database).life},
      core_(lane_config(cluster, id, lane, incarnation, database)),
      turns_(cluster.life(), event_bytes(incarnation)) {
  for (ChunkId chunk = 0; chunk < cluster.life().chunks.size(); ++chunk) {
    if (cluster.life().chunks[chunk].lane == lane) {
      chunks_[chunk];
    }
  }
}

std::uint32_t LaneShell::shard() const { return life_.lane / cluster_.life().lanes; }

Disk& LaneShell::disk() { return cluster_.disk(shard(), life_.database.database); }

bool LaneShell::owns(ChunkId chunk) const { return chunks_.contains(chunk); }

void LaneShell::tick() { step(lane::Tick{clock()}); }

void LaneShell::note_asked(ProcessId from, const Message& message) {
  if (const auto* pull = std::get_if<Pull>(&message)) {
    for (const auto chunk : pull->chunks) {
      cluster_.judge().asked(from, chunk,
                             pull->version == kNewestVersion ? Judge::newest_for(pull->ticket) : pull->version);
    }
  } else if (const auto* push = std::get_if<Push>(&message); push != nullptr && push->want_next) {
    cluster_.judge().asked(from, push->chunk, cluster_.life().items ? Judge::newest_for(push->ticket) : push->step + 1);
  }
}

void LaneShell::note_plan(const Message& message) {
  const auto* plan = std::get_if<Plan>(&message);
  if (plan == nullptr || plan->timeline != life_.timeline || beginning_ != life_.timeline) {
    return;
  }
  auto open = cluster_.life().updates(cluster_.life().steps);
  for (const auto& [id, chunk] : chunks_) {
    open = std::min(open, chunk.versions.rbegin()->first);
  }
  turns_.planned(*plan, open);
}

void LaneShell::receive(ProcessId from, const Message& message, const std::optional<Payload>& payload) {
  if (cluster_.is_lead(from)) {
    heard_ = from;
    note_plan(message);
    return step(lane::FromLead{&message});
  }
  note_asked(from, message);
  const auto* push = std::get_if<Push>(&message);
  if (push == nullptr) {
    return step(lane::FromWorker{from, &message, kNoPayload, 0});
  }
  const auto id = next_payload_++;
  held_[id] = {push->chunk, push->step, push->node, payload.value(), from};
  answers_ = 0;
  base_in_hand_ = push->base;
  step(lane::FromWorker{from, &message, id, cluster_.life().chunks[push->chunk].bytes});
  if (!alive() || answers_ == 1) {
    return;
  }
  // What waits for its commit is answered then, and what stops the job not at all.
  require(answers_ == 0 && cluster_.life().items, "a push is not answered exactly once, at once");
  const ItemId item = push->step * cluster_.life().slots + push->node.begin;
  if (cluster_.judge().items()->is_pending(life_.timeline, push->chunk, item)) {
    unanswered_.insert({push->chunk, item, from});
  } else {
    require(push->fault != kNoSlot && cluster_.non_finite() == NonFinite::halt, "a push is not answered");
  }
}

void LaneShell::note_answer(SessionId session, const Receipt& receipt) {
  ++answers_;
  unanswered_.erase({receipt.chunk, receipt.step * cluster_.life().slots + receipt.node.begin, session});
  if (receipt.outcome == ReceiptOutcome::expired) {
    cluster_.facts().note(Fact::expired);
    cluster_.judge().expired(life_, receipt, base_in_hand_);
    require(cluster_.was_disturbed(), "a healthy session's contribution is refused as too stale");
  } else {
    cluster_.judge().receipt_sent(session, life_, receipt, held_);
  }
}

// Who waits for a receipt gets it as soon as the item is applied.
void LaneShell::check_answered() const {
  for (const auto& [chunk, item, session] : unanswered_) {
    require(cluster_.judge().items()->is_pending(life_.timeline, chunk, item),
            "an item is applied, and a session that sent it hears nothing of it");
  }
}

void LaneShell::receive_strange(SessionId session, bool says_hello, const StrangeMessage& strange) {
  if (says_hello) {
    const Message hello = LaneHello{"stranger", "spec", "layout"};
    step(lane::FromWorker{session, &hello, kNoPayload, 0});
  }
  PayloadId id = kNoPayload;
  const auto held_before = held_.size();
  if (const auto* push = std::get_if<Push>(&strange.message)) {
    id = next_payload_++;
    held_[id] = {push->chunk, push->step, push->node, {}, session};
  }
  refusals_ = 0;
  step(lane::FromWorker{session, &strange.message, id, strange.payload_bytes});
  require(!alive() || refusals_ == 1, "a lane does not refuse a stranger's message");
  require(!alive() || held_.size() == held_before, "a lane keeps a stranger's payload");
}

void LaneShell::step(const lane::Event& event) {
  own_events_.push_back(event);
  while (!own_events_.empty()) {
    const auto next = own_events_.front();
    own_events_.pop_front();
    turns_.turn_begins(next);
    auto actions = core_.step(next);
    if (core_.serving()) {
      state_.move_from(cluster_.facts().lane, LaneState::beginning, LaneState::serving);
      state_.move_from(cluster_.facts().lane, LaneState::resuming, LaneState::serving);
    }
    for (auto& action : actions) {
      std::visit([this](auto& body) { act(body); }, action);
      if (burns_down()) {
        cluster_.crash_lane(life_);
      }
      if (crashed()) {
        return;
      }
    }
    turns_.turn_ends(core_.has_more());
  }
  cluster_.judge().lane_settled(life_, held_, core_.held_payloads());
  check_answered();
  if (core_.has_more() && !std::exchange(goes_on_, true)) {
    cluster_.later(*this, cluster_.some(cluster_.life().release_high), [this] {
      goes_on_ = false;
      step(lane::GoOn{});
    });
  }
  require(core_.deferred_replies() <= core_.sessions() * chunks_.size(), "more deferred replies than can be");
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

void LaneShell::act(lane::SendToWorker& action) {
  if (action.session >= kFirstStranger) {
    refusals_ += std::holds_alternative<Refused>(action.message) || std::holds_alternative<Stale>(action.message);
    return;
  }
  auto& judge = cluster_.judge();
  if (const auto* receipt = std::get_if<Receipt>(&action.message)) {
    note_answer(action.session, *receipt);
  } else if (const auto* refused = std::get_if<Refused>(&action.message)) {
    ++answers_;
    judge.refused_by_lane(*refused);
  } else if (const auto* gone = std::get_if<Gone>(&action.message)) {
    judge.gone_sent(life_, *gone);
  } else if (const auto* stale = std::get_if<Stale>(&action.message)) {
    ++answers_;
    judge.stale_sent(life_, *stale);
  }
  cluster_.send(*this, static_cast<ProcessId>(action.session), std::move(action.message));
}

void LaneShell::act(lane::SendWeights& action) {
  auto& chunk = chunks_[action.header.chunk];
  const auto version = chunk.versions.find(action.header.version);
  if (version == chunk.versions.end()) {
    throw Violation(name() + " sends version " + std::to_string(action.header.version) + " of chunk " +
                    std::to_string(action.header.chunk) + ", which it does not hold");
  }
  const auto index = version->second;
  auto& buffer = chunk.buffers[index];
  ++buffer.references;
  cluster_.judge().weights_sent(action.session, life_, action.header, action.bytes, buffer.value);
  cluster_.send(*this, static_cast<ProcessId>(action.session), action.header,
                Payload{buffer.value, 0, kNoSlot, life_.timeline, 0});
  cluster_.later(*this, cluster_.some(cluster_.life().release_high),
                 [this, id = action.header.chunk, index, session = action.session, bytes = action.bytes] {
                   --chunks_[id].buffers[index].references;
                   cluster_.judge().replies_released(session, life_, bytes);
                   step(lane::RepliesReleased{session, bytes});
                 });
}

void LaneShell::act(lane::SendToLead& action) {
  if (const auto* report = std::get_if<LaneReport>(&action.message)) {
    cluster_.judge().reported(life_, *report);
  }
  cluster_.send(*this, cluster_.lead_id(), std::move(action.message));
}

void LaneShell::act(lane::Sum& action) {
  const auto left = take(action.join.into);
  const auto right = take(action.join.with);
  if (left.chunk != action.chunk || right.chunk != action.chunk || left.step != right.step) {
    throw Violation(name() + " sums payloads of different chunks or steps");
  }
  // Neighbours, the lower slots on the left; the judge sees the rest in the value.
  const Node node{std::min(left.node.begin, right.node.begin), std::max(left.node.end, right.node.end)};
  held_[action.join.into] = {left.chunk, left.step, node, sum(left.payload, right.payload), left.session};
}

void LaneShell::act(lane::Drop& action) { take(action.payload); }

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

void LaneShell::act(lane::Measure& action) {
  const auto root = held_.find(action.root);
  require(root != held_.end() && root->second.chunk == action.chunk && root->second.step == action.step,
          "the root of another chunk or step is measured");
  own_events_.push_front(lane::Measured{measure(cluster_.life(), action.chunk, action.step, root->second.payload)});
}

void LaneShell::apply_item(lane::Apply& action) {
  auto& chunk = chunks_.at(action.chunk);
  const auto update = take(action.root);
  require(update.chunk == action.chunk && update.step == action.step, "another chunk's or step's update is applied");
  chunk.value = action.chunk == cluster_.life().statistics() ? statistics_value(action.version + 1)
                                                             : apply(chunk.value, update.payload, action.factors);
  cluster_.judge().item_applied(life_, action, update, chunk.value);
  put_weights_in_place(chunk, action.version + 1);
  if (action.statistics) {
    own_events_.push_back(lane::StatisticsRead{statistics(action.step, update.payload.value)});
  }
  if (cluster_.traces()) {
    cluster_.say(name() + (action.factors.skip ? " skips step " : " applies step ") + std::to_string(action.step) +
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

void LaneShell::act(lane::Apply& action) {
  turns_.applied(action);
  if (cluster_.life().items) {
    return apply_item(action);
  }
  auto& chunk = chunks_.at(action.chunk);
  const auto root = take(action.root);
  require(root.chunk == action.chunk && root.step == action.step, "the root of another chunk or step is applied");
  chunk.value = action.chunk == cluster_.life().statistics() ? statistics_value(action.step + 1)
                                                             : apply(chunk.value, root.payload, action.factors);
  cluster_.judge().applied(life_, action.chunk, action.statistics, action.step, root, action.factors, chunk.value);
  if (action.step > 0) {
    chunk.versions.erase(action.step - 1);
  }
  const auto buffer = free_buffer(chunk);
  chunk.buffers[buffer].value = chunk.value.weights;
  chunk.versions[action.step + 1] = buffer;
  if (action.statistics) {
    own_events_.push_back(lane::StatisticsRead{statistics(action.step, root.payload.value)});
  }
  if (cluster_.traces()) {
    cluster_.say(name() + (action.factors.skip ? " skips step " : " applies step ") + std::to_string(action.step) +
                 " to chunk " + std::to_string(action.chunk));
  }
}

// ---- storage

void LaneShell::on_disk(Micros span, std::function<void()> what) {
  cluster_.later(*this, cluster_.storage_delay(shard(), span), std::move(what));
}

void LaneShell::act(lane::Begin& action) {
  state_.move(cluster_.facts().lane, LaneState::beginning);
  beginning_ = action.timeline;
  turns_.begins();
  taken_.clear();
  unanswered_.clear();
  on_disk(cluster_.life().storage_high, [this, timeline = action.timeline, base = action.base] {
    if (cluster_.life().journaled()) {
      disk().journal.begin(timeline, life_.incarnation);
    }
    disk().timeline = std::max(disk().timeline, timeline);
    disk().sync();
    if (cluster_.traces()) {
      cluster_.say(name() + " makes timeline " + std::to_string(timeline) + " durable");
    }
    on_disk(cluster_.life().storage_high / 4, [this, timeline, base] {
      if (timeline == beginning_) {
        life_.timeline = timeline;
        cluster_.judge().began(life_, base, put_base_in_place(base));
      }
      step(lane::Begun{timeline});
    });
  });
}

std::map<ChunkId, ChunkValue> LaneShell::put_base_in_place(SnapshotId base) {
  std::map<ChunkId, ChunkValue> values;
  for (auto& [id, chunk] : chunks_) {
    if (id == cluster_.life().statistics()) {
      chunk.value = statistics_value(cluster_.life().updates(base.step));
    } else {
      const auto* stored = disk().durable(base, id);
      if (stored == nullptr) {
        throw Violation(name() + " does not find chunk " + std::to_string(id) + " of the base, the snapshot of step " +
                        std::to_string(base.step) + " on timeline " + std::to_string(base.timeline));
      }
      chunk.value = *stored;
      values[id] = *stored;
    }
    put_weights_in_place(chunk, cluster_.life().updates(base.step));
  }
  return values;
}

void LaneShell::act(lane::TakeSnapshot& action) {
  const auto& value = chunks_.at(action.chunk).value;
  cluster_.judge().snapshot_taken(life_, action.id, action.chunk, value);
  require(taken_[action.id].insert(action.chunk).second, "a chunk is taken twice into one snapshot");
  on_disk(cluster_.life().storage_high / 4, [this, action, value] {
    if (action.id.timeline < beginning_) {
      return;  // given up
    }
    if (cluster_.write_fails()) {
      failed_.insert(action.id);
    } else {
      disk().write(action.id, action.chunk, value);
    }
    if (cluster_.crashes_in_snapshot()) {
      cluster_.crash_lane(life_);
    }
  });
}

void LaneShell::act(lane::SealSnapshot& action) {
  std::size_t own = chunks_.size() - (owns(cluster_.life().statistics()) ? 1 : 0);
  require(taken_[action.id].size() == own, "a snapshot is sealed before all its chunks are taken");
  on_disk(cluster_.life().storage_high, [this, id = action.id] {
    if (id.timeline < beginning_ || (!failed_.contains(id) && !cluster_.write_fails())) {
      if (id.timeline == beginning_) {
        disk().sync();
        disk().seal(id, life_.lane);
      }
      step(lane::SnapshotDurable{id});
    } else {
      step(lane::SnapshotFailed{id, "no space is left"});
    }
  });
}

void LaneShell::act(lane::Retain& action) {
  if (life_.lane % cluster_.life().lanes != 0) {
    return;  // one lane speaks for the shard: they share the database
  }
  on_disk(cluster_.life().storage_high / 4, [this, keep = action.keep] {
    for (const auto id : disk().superseded(keep)) {
      cluster_.judge().deletes(shard(), id);
      disk().snapshots.erase(id);
      disk().seals.erase(id);
    }
    auto& journal = disk().journal;
    if (!keep.empty() && journal.timeline == life_.timeline) {
      journal.released = std::max(journal.released, cluster_.life().updates(keep.back().step));
    }
  });
}

// ---- copies

void LaneShell::act(lane::Copy& action) {
  const auto before = std::exchange(copies_, action.copies);
  if (shard() == 0) {
    clean_copies();
  }
  if (copies_.named != SnapshotId{} && std::tie(copies_.run, copies_.named) != std::tie(before.run, before.named)) {
    copy(copies_.run, copies_.named, 0);
  }
}

bool LaneShell::is_copying(RunId run, SnapshotId named) const { return copies_.run == run && copies_.named == named; }

void LaneShell::clean_copies() {
  for (const auto id : cluster_.copies().superseded(copies_)) {
    cluster_.judge().removes(copies_.run, id);
    cluster_.copies().remove(copies_.run, id);
  }
}

void LaneShell::copy(RunId run, SnapshotId named, std::uint32_t failures) {
  const auto tell = [this](const CopyProgress& progress) {
    cluster_.later(*this, cluster_.some(2'000), [this, progress] {
      if (is_copying(progress.run, progress.snapshot)) {
        step(lane::Copying{progress});
      }
    });
  };
  auto& place = cluster_.copies();
  if (!place.is_taken(run) && place.has(run, named, shard())) {
    return tell({run, named, 1, failures, true, false});  // by an earlier life
  }
  cluster_.later(*this, cluster_.some(cluster_.life().copy_high), [this, run, named, failures, tell, &place] {
    if (!is_copying(run, named)) {
      return;
    }
    if (shard() == 0 && cluster_.takes_name(run)) {
      return tell({run, named, 0, failures, false, true});
    }
    if (place.is_taken(run)) {
      return copy(run, named, failures);  // nothing is written where shard 0 has left no mark
    }
    if (cluster_.copy_fails(shard())) {
      tell({run, named, 1, failures + 1, false, false});
      return copy(run, named, failures + 1);
    }
    CopyPlace::Part part;
    for (ChunkId chunk = 0; chunk < cluster_.life().statistics(); ++chunk) {
      if (cluster_.life().chunks[chunk].lane / cluster_.life().lanes != shard()) {
        continue;
      }
      const auto* stored = disk().durable(named, chunk);
      require(stored != nullptr, "a snapshot that is to be copied is not there any more");
      part[chunk] = *stored;
    }
    place.put(run, named, shard(), std::move(part));
    if (cluster_.traces()) {
      cluster_.say(name() + " has copied its part of snapshot " + words(named));
    }
    tell({run, named, 1, failures, true, false});
  });
}

void LaneShell::act(lane::RecordFinish& action) {
  state_.move(cluster_.facts().lane, LaneState::concluding);
  cluster_.judge().records_finish(life_, action.end);
  on_disk(cluster_.life().storage_high, [this, end = action.end] {
    disk().finished = end;
    step(lane::FinishRecorded{});
  });
}

void LaneShell::act(lane::Stop& action) {
  state_.move(cluster_.facts().lane, LaneState::stopped);
  if (action.failure.find("other initial weights") != std::string::npos) {
    die();  // to come back with another file
    return cluster_.end_server(life_);
  }
  end(action.failure);
}

void LaneShell::gather(LifeFacts& facts) const {
  facts.note(Fact::went_on, turns_.went_on());
  const auto counters = core_.counters();
  facts.note(Fact::superseded, counters.superseded > 0);
  facts.note(Fact::gone, counters.replies.gone > 0);
  facts.note(Fact::served_older, counters.replies.served_older > 0);
  facts.note(Fact::deferred, counters.replies.deferred > 0);
  facts.note(Fact::duplicate, counters.duplicates > 0);
  facts.note(Fact::stale, counters.stale > 0);
  facts.note(Fact::waited_for_factors, counters.waited_for_factors > 0);
}

}  // namespace ballast::simulation
