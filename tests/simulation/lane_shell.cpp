#include "tests/simulation/lane_shell.h"

#include <algorithm>
#include <utility>

#include "protocol/lane/lane_budget.h"
#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

namespace {

// Of some lives: one update for each event, what else is due with the next.
std::uint64_t event_bytes(Incarnation incarnation) { return incarnation % 2 == 0 ? 1 : 8U << 20U; }

// At least what a single update may keep.
std::uint64_t kept_bytes_of(const LifeSpec& life, const LaneConfig& config) {
  std::uint64_t least = 0;
  for (const auto& chunk : config.chunks) {
    least = std::max(least, kept_of({chunk}, config.averages));
  }
  return least + (kept_of(config.chunks, config.averages) - least) * life.kept_percent / 100;
}

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
  config.run = life.restores ? kNamedRun : 0;
  config.address = Host::address(id);
  config.needs_whole_gradient = !life.items && (!life.norms.empty() || world.non_finite != NonFinite::halt);
  config.call_pause = 5'000;  // so that lives end
  config.memory_bytes =
      life.spare_bytes + reserve_of(config.slots, config.chunks, config.needs_whole_gradient, life.items.has_value());
  config.call_overdue = life.call_overdue;
  config.kept_patience = kKeptPatience;
  config.reply_window_bytes = life.reply_window_bytes;
  config.all_replies_bytes = life.all_replies_bytes;
  config.report_every = life.report_every;
  config.idle_report_every = life.idle_report_every;
  config.lead_silence = life.lead_silence;
  config.hold_patience = life.hold_patience;
  config.event_bytes = event_bytes(incarnation);
  config.measures_updates = life.norms_for == LifeNorms::lamb;
  config.averages = life.averaged_from.has_value();
  config.kept_bytes = kept_bytes_of(life, config);
  if (life.items) {
    config.items =
        ItemRules{life.items->bound, life.items->damped, world.non_finite == NonFinite::skip, life.journaled()};
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
      turns_(world.life, event_bytes(incarnation)),
      memory_(lane_config(world, id, lane, incarnation, database).memory_bytes),
      kept_aside_(lane_config(world, id, lane, incarnation, database).kept_bytes) {
  for (ChunkId chunk = 0; chunk < world.life.chunks.size(); ++chunk) {
    if (world.life.chunks[chunk].lane == lane) {
      chunks_[chunk];
    }
  }
}

std::uint32_t LaneShell::shard(Host& host) const { return life_.lane / host.life().lanes; }

Disk& LaneShell::disk(Host& host) { return host.world().disk(shard(host), life_.database.database); }

bool LaneShell::owns(ChunkId chunk) const { return chunks_.contains(chunk); }

void LaneShell::tick(Host& host, Micros clock) {
  constexpr std::uint32_t kMostTicks = 6 * kKeptPatience / 4'000;
  require(++ticks_without_cut_ < kMostTicks || waits_since_.empty(), "an update waits for readers without end");
  step(host, lane::Tick{clock, clock});  // what had come before is read
  if (host.life().restores && alive()) {
    look_for_copies(host);
  }
}

void LaneShell::note_asked(Host& host, ProcessId from, const Message& message) {
  if (const auto* pull = std::get_if<Pull>(&message)) {
    for (const auto chunk : pull->chunks) {
      host.judge().asked(from, chunk, {pull->version, pull->clock, pull->averages});
    }
  } else if (const auto* push = std::get_if<Push>(&message); push != nullptr && push->want_next) {
    host.judge().asked(
        from, push->chunk,
        host.life().items ? WeightsKey{kNewestVersion, push->items.clock} : WeightsKey{push->step + 1, {}});
  }
}

void LaneShell::note_plan(Host& host, const Message& message) {
  const auto* plan = std::get_if<Plan>(&message);
  if (plan == nullptr || plan->timeline != life_.timeline || beginning_ != life_.timeline ||
      plan->incarnation != life_.incarnation) {
    return;
  }
  auto open = host.life().updates(host.life().steps);
  for (const auto& [id, chunk] : chunks_) {
    open = std::min(open, chunk.versions.rbegin()->first);
  }
  turns_.planned(*plan, open);
  barred_ = plan->barred;
}

void LaneShell::note_payment(ProcessId from, const Message& message) {
  if (const auto* push = std::get_if<Push>(&message)) {
    payments_.paid(from, push->call, push->timeline);
  } else if (const auto* none = std::get_if<CallVoid>(&message)) {
    payments_.voided(from, none->number);
  }
}

void LaneShell::receive(Host& host, ProcessId from, ConnectionId connection, const Message& message,
                        const std::optional<Payload>& payload) {
  if (host.is_lead(from)) {
    heard_ = from;
    note_plan(host, message);
    return step(host, lane::FromLead{&message});
  }
  note_asked(host, from, message);
  payments_.heard(from, connection);
  heard_over_[from] = std::max(heard_over_[from], connection);
  note_payment(from, message);
  const auto* push = std::get_if<Push>(&message);
  if (push == nullptr) {
    return step(host, lane::FromWorker{from, &message, kNoPayload, 0, connection, from});
  }
  const auto id = next_payload_++;
  held_[id] = {push->chunk, push->step, push->node, payload.value(), from};
  in_hand_.answers = 0;
  in_hand_.session = from;
  in_hand_.work = {push->step, push->chunk, push->node};
  in_hand_.base = push->items.computed_from;
  in_hand_.is_lost = is_lost(host, *push);
  step(host, lane::FromWorker{from, &message, id, host.life().chunks[push->chunk].bytes, connection, from});
  in_hand_.is_lost = false;
  if (!alive() || in_hand_.answers == 1) {
    return;
  }
  // What waits for its commit is answered then, and what stops the job not at all.
  require(in_hand_.answers == 0 && host.life().items, "a push is not answered exactly once, at once");
  const ItemId item = push->step * host.life().slots + push->node.begin;
  if (push->fault == kNoSlot || host.world().non_finite != NonFinite::halt) {
    require(is_pending(host, push->chunk, item), "a push is not answered");
    unanswered_.emplace(std::tuple(push->chunk, item, from), push->items.computed_from);
  }
}

// Accepted, and not applied: not committed, or held up by who reads weights.
bool LaneShell::is_pending(Host& host, ChunkId chunk, ItemId item) const {
  const bool is_held = std::ranges::any_of(held_, [&](const auto& held) {
    return held.second.chunk == chunk && held.second.step * host.life().slots + held.second.node.begin == item;
  });
  return host.life().journaled() ? host.judge().items().is_pending(life_.timeline, chunk, item)
                                 : is_held && is_held_up();
}

// By who reads weights, or until it goes on, having waited for them.
bool LaneShell::is_held_up() const { return core_.has_more() || !core_.waiting_for_readers().empty(); }

bool LaneShell::is_lost(Host& host, const Push& push) const {
  return host.life().journaled() && core_.serving() && push.timeline == life_.timeline &&
         push.items.computed_from > host.judge().items().version(life_.timeline, push.chunk);
}

void LaneShell::note_answer(Host& host, SessionId session, const Receipt& receipt) {
  const Work work{receipt.step, receipt.chunk, receipt.node};
  in_hand_.answers += session == in_hand_.session && work == in_hand_.work ? 1 : 0;
  const auto asked =
      unanswered_.extract({receipt.chunk, receipt.step * host.life().slots + receipt.node.begin, session});
  if (receipt.outcome == ReceiptOutcome::not_yet) {
    return;
  }
  if (receipt.outcome == ReceiptOutcome::expired) {
    host.facts().note(in_hand_.is_lost ? Fact::lost_version : Fact::expired);
    host.judge().expired(host.disks(), life_, receipt, asked.empty() ? in_hand_.base : asked.mapped());
    require(host.was_disturbed(), "a healthy session's contribution is refused for good");
  } else {
    host.judge().receipt_sent(host.disks(), session, life_, receipt, held_);
  }
}

// Who waits for a receipt gets it as soon as the item is applied.
void LaneShell::check_answered(Host& host) const {
  for (const auto& [what, base] : unanswered_) {
    const auto& [chunk, item, session] = what;
    require(is_pending(host, chunk, item), "an item is applied, and a session that sent it hears nothing of it");
  }
}

void LaneShell::receive_strange(Host& host, SessionId session, bool says_hello, const StrangeMessage& strange) {
  if (says_hello) {
    const Message hello = LaneHello{"stranger", "spec", "layout"};
    step(host, lane::FromWorker{session, &hello, kNoPayload, 0, 1, session});
  }
  PayloadId id = kNoPayload;
  const auto held_before = held_.size();
  if (const auto* push = std::get_if<Push>(&strange.message)) {
    id = next_payload_++;
    held_[id] = {push->chunk, push->step, push->node, {}, session};
  }
  in_hand_.refusals = 0;
  step(host, lane::FromWorker{session, &strange.message, id, strange.payload_bytes, 1, session});
  require(!alive() || in_hand_.refusals == 1, "a lane does not refuse a stranger's message");
  require(!alive() || held_.size() == held_before, "a lane keeps a stranger's payload");
}

// True ones, which nobody can have computed: no bits tell, only that the lane gets ahead of the others. Of all chunks,
// one step after the other, or of one alone, which the lane does not take beyond its others.
void LaneShell::receive_roots(Host& host, SessionId session, std::uint32_t steps, bool of_all) {
  if (!core_.serving() || host.life().items) {
    return;
  }
  const Message hello = LaneHello{"impostor", "spec", "layout"};
  step(host, lane::FromWorker{session, &hello, kNoPayload, 0, 1, session});
  for (std::uint32_t i = 0; i < steps && alive(); ++i) {
    for (const auto& [id, chunk] : chunks_) {
      if (alive() && core_.serving() && (of_all || id == chunks_.begin()->first)) {
        receive_root(host, session, id, chunk.versions.rbegin()->first);
      }
    }
  }
}

void LaneShell::receive_root(Host& host, SessionId session, ChunkId chunk, Step of_step) {
  if (of_step >= host.life().steps) {
    return;
  }
  const Node all{0, host.life().slots};
  const auto payload = host.judge().true_root(life_.timeline, of_step, chunk);
  const auto id = next_payload_++;
  held_[id] = {chunk, of_step, all, payload, session};
  in_hand_.refusals = 0;
  const bool is_barred = std::ranges::find(barred_, session) != barred_.end();
  const Message push = Push{life_.timeline, of_step, chunk, all, false, payload.fault, {}};
  host.facts().note(Fact::barred, is_barred);
  step(host, lane::FromWorker{session, &push, id, host.life().chunks[chunk].bytes, 1, session});
  require(!alive() || !is_barred || in_hand_.refusals == 1, "a lane takes a contribution of a session that is barred");
}

void LaneShell::step(Host& host, const lane::Event& event) {
  own_events_.push_back(event);
  while (!own_events_.empty()) {
    const auto next = own_events_.front();
    own_events_.pop_front();
    turns_.turn_begins(next);
    in_hand_.gone.clear();
    const auto taken_back_before = core_.counters().calls.taken_back;
    auto actions = core_.step(next);
    const auto is_drop = [](const auto& action) { return std::holds_alternative<lane::DropConnection>(action); };
    // At a tick, those that are cut for what they do not read come last, and may have been cut before; at no other
    // event is anybody cut for that.
    in_hand_.drops = std::holds_alternative<lane::Tick>(next)
                         ? core_.counters().calls.taken_back - taken_back_before
                         : static_cast<std::uint64_t>(std::ranges::count_if(actions, is_drop));
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
    note_waiting(host);
    require(waits_since_.empty() || !replies_.empty() || core_.has_more(),
            "an update waits for readers, and nobody reads");
    turns_.turn_ends(core_.has_more(), waits_since_);
  }
  if (!host.life().items || host.life().journaled() || !is_held_up()) {
    host.judge().lane_settled(host.disks(), life_, held_, core_.held_payloads());
  }
  check_answered(host);
  check_memory(host);
  if (core_.has_more() && !std::exchange(goes_on_, true)) {
    later(host, within(host.life().release_high), LaneGoesOn{});
  }
  const auto kinds = host.life().averaged_from ? 2U : 1U;  // weights, and their averages
  require(core_.deferred_replies() <= core_.sessions() * chunks_.size() * kinds, "more deferred replies than can be");
}

void LaneShell::check_memory(Host& host) const {
  std::uint64_t bytes = host.under_way(id());
  for (const auto& [payload, held] : held_) {
    bytes += host.life().chunks[held.chunk].bytes;
  }
  require(bytes <= memory_, "contributions take more than the lane's memory for them");
  require(kept_bytes(host) <= kept_aside_, "weights that are read take more than is set aside for them");
}

void LaneShell::connection_ended(Host& host, ProcessId worker, ConnectionId connection) {
  if (alive()) {
    payments_.ended(worker);
    ended_.insert({worker, connection});
    release_all_over(host, worker, connection);
  }
  if (alive() && !crashed()) {
    step(host, lane::ConnectionEnded{worker, connection});
  }
}

void LaneShell::act(Host& host, lane::DropConnection& action) {
  const bool is_for_reading = in_hand_.drops == 0;
  in_hand_.drops -= is_for_reading ? 0 : 1;
  if (action.session < kFirstStranger) {
    if (is_for_reading) {
      judge_cut(host, action.session, action.connection);
    } else {
      payments_.dropped(action.session, action.connection);  // honest ones send nothing unasked
    }
    host.drop_connection(id(), static_cast<ProcessId>(action.session), action.connection);
  }
}

void LaneShell::carry_out(Host& host, const LanePending& what) {
  std::visit([&](const auto& each) { done(host, each); }, what);
}

void LaneShell::done(Host& host, const LaneGoesOn& /*what*/) {
  goes_on_ = false;
  step(host, lane::GoOn{});
}

// ---- actions

void LaneShell::act(Host& host, lane::SendToWorker& action) {
  if (action.session >= kFirstStranger) {
    in_hand_.refusals +=
        std::holds_alternative<Refused>(action.message) || std::holds_alternative<Stale>(action.message);
    if (const auto* receipt = std::get_if<Receipt>(&action.message); action.session >= kFirstImpostor && receipt) {
      host.judge().receipt_sent(host.disks(), action.session, life_, *receipt, held_);
    }
    return;
  }
  auto& judge = host.judge();
  if (const auto* receipt = std::get_if<Receipt>(&action.message)) {
    note_answer(host, action.session, *receipt);
  } else if (const auto* call = std::get_if<Call>(&action.message)) {
    payments_.called(action.session, call->number, life_.timeline);
  } else if (const auto* refused = std::get_if<Refused>(&action.message)) {
    ++in_hand_.answers;
    require(!in_hand_.is_lost || refused->code != RefusalCode::not_serving,
            "what was computed from a version that is lost is to be sent again");
    judge.refused_by_lane(*refused);
  } else if (const auto* gone = std::get_if<Gone>(&action.message)) {
    judge.gone_sent(host.disks(), life_, *gone);
    require(in_hand_.gone.emplace(action.session, gone->version, gone->averages).second,
            "one word tells that a version is gone, not one for each chunk");
  } else if (const auto* stale = std::get_if<Stale>(&action.message)) {
    ++in_hand_.answers;
    judge.stale_sent(host.disks(), life_, *stale);
  }
  host.send(*this, static_cast<ProcessId>(action.session), std::move(action.message));
}

void LaneShell::act(Host& host, lane::SendToLead& action) {
  if (const auto* report = std::get_if<LaneReport>(&action.message)) {
    host.judge().reported(host.disks(), life_, *report);
    if (!host.life().items) {
      payments_.reported(report->rounds);
    }
  }
  host.send(*this, host.lead_id(), std::move(action.message));
}

void LaneShell::act(Host& host, lane::Stop& action) {
  state_.move(host.facts().lane, LaneState::stopped);
  if (action.failure.find("other initial weights") != std::string::npos) {
    die();  // to come back with another file
    return host.end_server(life_);
  }
  end(host, action.failure);
}

void LaneShell::depart(Host& host) { step(host, lane::Depart{}); }

void LaneShell::act(Host& host, lane::Leave& action) {
  state_.move(host.facts().lane, LaneState::stopped);
  host.judge().departs(life_, {action.whole, !action.lost.empty(), core_.serving()});
  die();
  host.departs(life_, action.whole, !action.lost.empty());
}

void LaneShell::gather(LifeFacts& facts) const {
  facts.note(Fact::went_on, turns_.went_on());
  const auto counters = core_.counters();
  facts.note(Fact::called, counters.calls.calls > 0);
  facts.note(Fact::spine_called, counters.calls.spine_calls > 0);
  facts.note(Fact::waited_for_room, counters.calls.waits > 0);
  facts.note(Fact::room_returned, counters.calls.returns > 0);
  facts.note(Fact::waited_for_reader, counters.readers.waits > 0);
  facts.note(Fact::reader_cut, counters.readers.cut > 0);
  facts.note(Fact::superseded, counters.updates.superseded > 0);
  facts.note(Fact::gone, counters.replies.gone > 0);
  facts.note(Fact::served_older, counters.replies.served_older > 0);
  facts.note(Fact::deferred, counters.replies.deferred > 0);
  facts.note(Fact::duplicate, counters.updates.duplicates > 0);
  facts.note(Fact::stale, counters.stale > 0);
  facts.note(Fact::waited_for_factors, counters.updates.waited_for_factors > 0);
}

}  // namespace ballast::simulation
