#include "protocol/worker/worker.h"

#include <algorithm>
#include <utility>

namespace ballast {

using namespace worker;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

using Kind = WorkerTarget::Kind;

Worker::Worker(WorkerConfig config)
    : config_(std::move(config)),
      lead_({config_.hello_every, config_.lead_silence}),
      lanes_(0, config_.retry),
      plan_(1),
      weights_(0, config_.retry) {}

Actions Worker::step(const Event& event, Micros at) {
  actions_.clear();
  const auto* tick = std::get_if<Tick>(&event);
  at_ = std::max({at_, at, tick != nullptr ? tick->now : now_});
  if (phase_ != Phase::stopped) {
    std::visit([this](const auto& body) { on(body); }, event);
  } else if (const auto* late = std::get_if<FromLane>(&event); late != nullptr && late->payload != kNoPayload) {
    emit(Release{late->payload});
  }
  return std::exchange(actions_, {});
}

// ---- the lead's side

void Worker::on(const FromLead& event) {
  lead_.heard();
  if (const auto* welcome = std::get_if<WorkerWelcome>(event.message)) {
    on_lead_welcome(*welcome);
  } else if (const auto* assign = std::get_if<Assign>(event.message)) {
    on_assign(*assign);
  } else if (const auto* finish = std::get_if<Finish>(event.message)) {
    emit(SendToLead{Goodbye{"finished"}});
    drains_.clear();  // the job does not go on without it
    stop(finish->failure);
  } else if (const auto* refused = std::get_if<Refused>(event.message)) {
    on_lead_refusal(*refused);
  }
}

void Worker::on_lead_welcome(const WorkerWelcome& welcome) {
  if (phase_ == Phase::hello) {
    phase_ = Phase::preparing;
    welcome_ = welcome;
    emit(Prepare{welcome});
  } else if (welcome.timeline >= welcome_.timeline && welcome.placement > welcome_.placement) {
    follow(welcome);
  }
}

// To a newer timeline of the same job, or to a shard's new life within one.
void Worker::follow(const WorkerWelcome& welcome) {
  if (welcome.spec_digest != welcome_.spec_digest || welcome.layout_digest != welcome_.layout_digest ||
      welcome.addresses.size() != welcome_.addresses.size()) {
    emit(SendToLead{Goodbye{"the job was started again with other settings"}});
    return stop("the job was started again with other settings (job file or cluster.lanes); start this worker again");
  }
  const auto old = std::exchange(welcome_, welcome);
  if (phase_ != Phase::ready) {
    return;  // it connects when it is prepared
  }
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    if (old.addresses[lane] == welcome.addresses[lane]) {
      continue;
    }
    emit(Connect{lane, welcome.addresses[lane].address});
    lanes_[lane].moved();
    forget_weights(lane);
  }
  hello_lanes();
  heartbeat();
  advance();
}

// A shard that has come back may have lost the version that they are, and come to another one of that number.
void Worker::forget_weights(std::uint32_t lane) {
  work_.discard_evaluation();
  plan_.evaluation().again();
  std::vector<bool> lost;
  for (const auto& chunk : layout_.chunks) {
    lost.push_back(chunk.lane == lane);
  }
  release(weights_.forget(lost));
}

void Worker::on_lead_refusal(const Refused& refused) {
  if (refused.code == RefusalCode::unknown_session) {
    lead_.greet_again();  // it forgot this session, or gave it up: it is a new one to it
  } else {
    stop("the lead refused this worker: " + refused.text, refused.code != RefusalCode::too_many);
  }
}

void Worker::on_assign(const Assign& assign) {
  if (phase_ != Phase::ready || assign.timeline > welcome_.timeline) {
    return;  // where the timeline's lanes live is told first
  }
  if (assign.timeline > plan_.timeline()) {
    enter_timeline(assign.timeline);
  }
  if (plan_.take(assign)) {
    beats_apart_ = assign.beats_apart;
    amend();
    advance();
  }
}

// What is being computed follows the newest order at the next slot.
void Worker::amend() {
  const auto& target = work_.target();
  if (!work_.is_running() || target.kind != Kind::train || work_.timeline() != plan_.timeline() || !drains_.empty()) {
    return;
  }
  const auto ranges = plan_.amend(target);
  if (!ranges) {
    return;
  }
  emit(Amend{target.step, *ranges});
  SlotSet ahead(layout_.slots);
  for (const auto range : *ranges) {
    ahead.insert(range);
  }
  ahead.erase(plan_.begun_of(target.step));
  if (!ahead.empty()) {
    emit(Prefetch{target.step, ahead.runs()});
  }
}

void Worker::enter_timeline(Timeline timeline) {
  release(lanes_.drop_older_timelines(timeline));
  work_.forget_receipts();
  release(weights_.forget_all());
  if (work_.is_running() && work_.target().kind == Kind::train) {
    emit(Amend{work_.target().step, {}});  // nothing of it is wanted
  }
  slot_clock_.rewind();
  up_.forget_sent();
  down_.forget_sent();
  plan_.evaluation().forget_result();
  target_ = {};
  weights_.aim({});
}

// ---- the lanes' side

void Worker::on(const FromLane& event) {
  if (event.lane >= lanes_.size()) {
    if (event.payload != kNoPayload) {
      emit(Release{event.payload});
    }
    return;
  }
  auto& lane = lanes_[event.lane];
  lane.answered();
  if (const auto* weights = std::get_if<Weights>(event.message)) {
    on_weights(lane, *weights, event.payload);
  } else if (const auto* receipt = std::get_if<Receipt>(event.message)) {
    on_receipt(lane, *receipt);
  } else if (const auto* gone = std::get_if<Gone>(event.message)) {
    on_gone(*gone);
  } else if (const auto* welcome = std::get_if<LaneWelcome>(event.message)) {
    on_welcome(lane, *welcome);
  } else if (const auto* stale = std::get_if<Stale>(event.message)) {
    on_stale(*stale);
  } else if (const auto* refused = std::get_if<Refused>(event.message)) {
    on_lane_refusal(lane, *refused);
  } else if (const auto* call = std::get_if<Call>(event.message)) {
    on_call(event.lane, *call);
  } else if (const auto* ahead = std::get_if<BytesAhead>(event.message)) {
    lane.has_room(ahead->bytes);
  } else if (const auto* asked = std::get_if<ReturnAsked>(event.message)) {
    on_return_asked(event.lane, *asked);
  }
  send_outbox(event.lane);
  leave_if_drained();
}

void Worker::on_welcome(LaneLink& lane, const LaneWelcome& welcome) {
  if (lane.welcome(welcome.credit_bytes)) {
    welcome_at_ = now_;
    advance();
    pull_missing();
  }
}

void Worker::on_receipt(LaneLink& lane, const Receipt& receipt) {
  if (receipt.outcome == ReceiptOutcome::not_yet) {
    return lane.outbox.not_yet(receipt.timeline, {receipt.step, receipt.chunk, receipt.node});
  }
  const auto free = lane.outbox.receipt(receipt.timeline, receipt.step, receipt.chunk, receipt.node, now_);
  if (free.empty()) {
    return;
  }
  up_.arrived(layout_.chunks[receipt.chunk].bytes, at_);
  counters_.duplicates += receipt.outcome == ReceiptOutcome::duplicate ? 1 : 0;
  counters_.expired += receipt.outcome == ReceiptOutcome::expired ? 1 : 0;
  release(free);
  if (receipt.outcome == ReceiptOutcome::expired) {
    drop_item(receipt.step, receipt.node.begin);
  } else if (plan_.is_short() && !lanes_.has(receipt.step, receipt.node.begin)) {
    heartbeat();  // the lead grants the next one
  }
  work_.receipts(receipt.step, receipt.node.begin, 1, at_);
}

// It is to be computed from other weights, by whoever is granted it. With the other parts of this computation it would
// be no nearer to its end, and each of them that a chunk takes takes the job back if the weights were lost. A part that
// is on its way may still be taken. Receipts do not say which computation they are for: that of a dropped part may drop
// the same item once it is computed again, which costs that computation and no more.
void Worker::drop_item(Step step, Slot slot) {
  if (work_.drop(step, slot)) {
    plan_.computed(work_.target());
  }
  plan_.drop(step, slot);
  const auto dropped = lanes_.drop(step, slot);
  for (const auto& contribution : dropped) {
    emit(Release{contribution.payload});
    if (contribution.want_next) {  // nobody may have been asked
      weights_.gone(contribution.chunk, {kNewestVersion, contribution.clock});
    }
  }
  work_.receipts(step, slot, dropped.size(), at_);
  heartbeat();  // the lead grants it again
  pull_missing();
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    send_outbox(lane);
  }
}

void Worker::on_weights(LaneLink& lane, const Weights& weights, PayloadId payload) {
  const bool known = weights.chunk < weights_.size() && weights.timeline == plan_.timeline();
  if (known) {
    take_as_receipt(lane, weights);
  }
  if (!known || !weights_.wants(weights.chunk, key_of(weights))) {
    emit(Release{payload});
    return;
  }
  weights_.came(weights, now_);
  down_.arrived(layout_.chunks[weights.chunk].bytes, at_);
  if (work_.is_running()) {
    weights_.stage(weights, payload);
    return;
  }
  store(weights, payload);
  advance();
}

void Worker::take_as_receipt(LaneLink& lane, const Weights& weights) {
  const auto covered = plan_.covered_by(weights.version);
  if (!covered) {
    return;
  }
  const auto free = lane.outbox.before(weights.chunk, *covered);
  release(free);
  if (!free.empty()) {
    up_.forget_sent(free.size() * layout_.chunks[weights.chunk].bytes);  // others brought it: it may still be under way
    work_.receipts(*covered - 1, kNoSlot, free.size(), at_);
  }
}

void Worker::store(const Weights& header, PayloadId payload) {
  weights_.store(header, welcome_.addresses[layout_.chunks[header.chunk].lane].lane.shard);
  emit(Store{header.chunk, header.version, payload});
}

void Worker::on_gone(const Gone& gone) {
  if (gone.timeline != plan_.timeline() || gone.chunk >= weights_.size()) {
    return;
  }
  ++counters_.gone;
  weights_.gone(gone.chunk, {gone.version, {}, gone.averages});
  plan_.gone(gone);
  if (!lead_.has_beaten(at_)) {
    heartbeat();  // asks the lead, once for all chunks of the version
  }
  advance();
}

void Worker::on_stale(const Stale& stale) {
  // The work is lost with its timeline; the lead's next order names the new one.
  release(lanes_.drop_older_timelines(stale.timeline));
  heartbeat();
}

void Worker::on_lane_refusal(LaneLink& lane, const Refused& refused) {
  if (refused.code == RefusalCode::unknown_session) {
    lane.forgotten();
  } else if (refused.code == RefusalCode::too_many) {
    lane.refused(refused.text);
  } else if (refused.code != RefusalCode::not_serving) {
    emit(SendToLead{Goodbye{"refused by a lane: " + refused.text}});
    stop("a lane refused this worker: " + refused.text, refused.code == RefusalCode::not_taken);
  }
}

// ---- the schedule

void Worker::advance() {
  if (phase_ != Phase::ready || work_.is_running()) {
    return;
  }
  choose_target();
  if (!has_target()) {
    if (lead_.becomes_idle()) {
      heartbeat();
    }
    return;
  }
  lead_.works();
  if (weights_.is_complete()) {
    start();
  }
}

void Worker::choose_target() {
  auto target = drains_.empty() ? plan_.next() : WorkerTarget{};
  if (target == target_) {
    return;
  }
  const bool same_weights = has_target() && target.weights == target_.weights;
  target_ = std::move(target);
  if (!has_target()) {
    weights_.aim({});
    return;
  }
  if (target_.kind == Kind::train) {
    emit(Prefetch{target_.step, target_.ranges});
  }
  if (!same_weights) {
    work_.wants(at_);
  }
  weights_.aim(target_.weights);
  pull_missing();
}

void Worker::pull_missing() {
  if (phase_ != Phase::ready || !has_target() || work_.is_running()) {
    return;
  }
  std::vector<std::vector<ChunkId>> pulls(lanes_.size());
  for (const auto& chunk : layout_.chunks) {
    const auto ask = lanes_[chunk.lane].is_welcome() ? weights_.ask(chunk.id, now_) : PulledWeights::Ask::no;
    if (ask != PulledWeights::Ask::no) {
      counters_.pulls_repeated += ask == PulledWeights::Ask::again ? 1 : 0;
      pulls[chunk.lane].push_back(chunk.id);
      down_.sent(chunk.bytes, at_);
    }
  }
  const auto& key = target_.weights;
  for (std::uint32_t lane = 0; lane < pulls.size(); ++lane) {
    if (!pulls[lane].empty()) {
      emit(SendToLane{lane, Pull{plan_.timeline(), key.version, std::move(pulls[lane]), key.clock, key.averages},
                      kNoPayload});
    }
  }
}

void Worker::start() {
  down_.forget_sent();  // all that was asked for is here
  if (target_.kind == Kind::evaluate) {
    work_.begin_evaluation(plan_.timeline(), target_);
    emit(Evaluate{target_.evaluation});
    return;
  }
  auto marks = plan_.has_marks() ? weights_.marks() : nullptr;
  if (marks && marks->size() > kMaxMarks) {
    return skip_target();
  }
  plan_.begins(target_);
  work_.begin(plan_.timeline(), target_, plan_.scope(target_), std::move(marks), at_);
  shortage_.begin(plan_.timeline(), target_.step);
  emit(Compute{target_.step, target_.ranges});
  if (auto next = plan_.after(target_)) {
    emit(Prefetch{next->step, std::move(next->ranges)});
  }
}

// Its weights are of more lives than a contribution can name: too many shards came back while they arrived. The lead
// grants the item again, and whoever computes it then pulls its own.
void Worker::skip_target() {
  const auto [step, slot] = plan_.scope(target_);
  plan_.computed(target_);
  plan_.drop(step, slot);
  heartbeat();
  advance();
}

void Worker::on(const GradientReady& event) {
  if (work_.timeline() != plan_.timeline() || work_.is_dropped()) {
    return release({event.payload});  // of weights that the job has rolled back, or of an item that has expired
  }
  const auto next =
      event.last_node ? plan_.next_key(work_.target(), weights_.asked(event.chunk)) : std::optional<WeightsKey>();
  if (next) {
    weights_.ask_along(event.chunk, *next, now_);
    down_.awaited(layout_.chunks[event.chunk].bytes);
  }
  shortage_.left(event.node);
  const auto& chunk = layout_.chunks[event.chunk];
  const auto replaced = lanes_[chunk.lane].outbox.add(
      {plan_.timeline(), event.step, event.chunk, event.node, next.has_value(), event.payload, chunk.bytes, event.fault,
       plan_.computed_from(weights_.version(event.chunk)), next ? next->clock : kNoLeadNumber, work_.marks()},
      now_);
  release(replaced);  // the same item, granted to this session again
  work_.contributed();
  send_outbox(chunk.lane);
}

void Worker::on(const SlotBegun& event) {
  ++counters_.slots;
  shortage_.end_wait();
  if (work_.timeline() == plan_.timeline()) {
    slot_clock_.begins(event.step, event.slot, at_);
    plan_.begun(event.slot);
    tell_progress();
  }
}

void Worker::on(const Computed& event) {
  shortage_.end_wait();
  if (work_.timeline() == plan_.timeline()) {
    slot_clock_.ends(at_);
    plan_.computed(work_.target());
  }
  ++counters_.steps;
  work_.computed(event.phases, at_);
  give_back_ahead();
  accept_staged();
  advance();
  tell_progress();
  leave_if_drained();
}

// At once, as far as many sessions may: the lead shares out what is left by it.
void Worker::tell_progress() {
  if (plan_.shares_slots() && lead_.is_silent_for(std::max(config_.news_apart, beats_apart_), at_)) {
    heartbeat();
  }
}

void Worker::on(const Evaluated& event) {
  work_.evaluated();
  if (work_.timeline() == plan_.timeline()) {
    auto result = event.result;
    result.timeline = work_.timeline();
    plan_.evaluation().done(result);
    emit(SendToLead{std::move(result)});
  }
  give_back_ahead();
  accept_staged();
  advance();
  leave_if_drained();
}

void Worker::accept_staged() {
  target_ = {};
  weights_.aim({});
  choose_target();
  for (const auto& staged : weights_.take_staged()) {
    take_as_receipt(lanes_[layout_.chunks[staged.header.chunk].lane], staged.header);  // of what was computed since
    if (weights_.wants(staged.header.chunk, key_of(staged.header))) {
      store(staged.header, staged.payload);
    } else {
      emit(Release{staged.payload});
    }
  }
}

void Worker::send_outbox(std::uint32_t lane, bool offers_again) {
  if (phase_ == Phase::stopped || !lanes_[lane].is_welcome()) {
    return;
  }
  for (const auto& contribution : lanes_[lane].outbox.take_sendable(now_)) {
    send(lane, contribution, 0);
  }
  if (auto offers = lanes_[lane].outbox.offers(offers_again)) {
    emit(SendToLane{lane, Offers{plan_.timeline(), std::move(*offers)}, kNoPayload});
  }
}

void Worker::send(std::uint32_t lane, const Contribution& contribution, std::uint64_t call) {
  Push push{.timeline = contribution.timeline,
            .step = contribution.step,
            .chunk = contribution.chunk,
            .node = contribution.node,
            .want_next = contribution.want_next,
            .fault = contribution.fault,
            .phases = phases(),
            .items = {contribution.computed_from, contribution.clock, {}},
            .call = call};
  if (contribution.marks) {
    push.items.marks = *contribution.marks;
  }
  up_.sent(contribution.bytes, at_);
  emit(SendToLane{lane, std::move(push), contribution.payload});
}

void Worker::on_call(std::uint32_t lane, const Call& call) {
  const auto called = lanes_[lane].called(call, now_);
  if (called.contribution) {
    send(lane, *called.contribution, call.number);
  } else if (called.is_new) {
    emit(SendToLane{lane, CallVoid{call.number}, kNoPayload});
  }
}

// What waits goes first: answers come in order, so the lane knows what is spent.
void Worker::on_return_asked(std::uint32_t lane, const ReturnAsked& asked) {
  if (lanes_[lane].is_welcome()) {
    send_outbox(lane);
    emit(SendToLane{lane, BytesReturned{asked.number, lanes_[lane].outbox.give_back()}, kNoPayload});
  }
}

// What it has computed needs no more.
void Worker::give_back_ahead() {
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    auto& outbox = lanes_[lane].outbox;
    if (outbox.has_waiting()) {
      continue;
    }
    if (const auto bytes = outbox.give_back(); bytes > 0) {
      emit(SendToLane{lane, BytesReturned{0, bytes}, kNoPayload});
    }
  }
}

// ---- time and life

void Worker::on(const Prepared& event) {
  layout_ = event.layout;
  lead_.set_silence(layout_.lead_silence.value_or(config_.lead_silence));
  plan_ = WorkerPlan(layout_.slots, layout_.mode, layout_.averages);
  weights_ = PulledWeights(layout_.chunks.size(), config_.retry);
  lanes_ = LaneLinks(layout_.lanes, config_.retry);
  shortage_ = BufferShortage(layout_.slots, layout_.chunks.size());
  phase_ = Phase::ready;
  for (std::uint32_t lane = 0; lane < layout_.lanes; ++lane) {
    emit(Connect{lane, welcome_.addresses[lane].address});  // a newer timeline may have begun meanwhile
  }
  hello_lanes();
  heartbeat();
}

void Worker::on(const Failed& event) {
  emit(SendToLead{Goodbye{event.text}});
  stop(event.text, event.for_good, event.of_data);
}

// What it has begun counts, so that no slot is computed twice. In item mode the lead grants again what it has not
// begun.
void Worker::on(const Drain& event) {
  if (!drains_.empty()) {
    return;
  }
  drains_ = event.reason;
  drains_since_ = at_;
  const auto& target = work_.target();
  if (work_.is_running() && target.kind == Kind::train && plan_.shares_slots()) {
    emit(Amend{target.step, plan_.begun_now().runs()});
  } else if (!work_.is_running()) {
    choose_target();
  }
  if (phase_ != Phase::hello) {
    heartbeat();  // the others take over what it has not begun
  }
  leave_if_drained();
}

void Worker::leave_if_drained() {
  if (drains_.empty() || phase_ == Phase::stopped) {
    return;
  }
  if (phase_ == Phase::ready && !has_delivered() && at_ - drains_since_ < config_.drain_patience) {
    return;
  }
  if (phase_ != Phase::hello) {
    heartbeat();
    emit(SendToLead{Goodbye{drains_}});
  }
  stop({});
}

void Worker::on(const Tick& event) {
  now_ = event.now;
  if (const auto silent = lead_.tick(now_)) {
    return stop("the lead (shard 0) has not been heard of for " + std::to_string(*silent / 1'000'000) +
                " s (cluster.patience)");
  }
  if (lead_.greets(phase_ != Phase::hello, now_)) {
    emit(SendToLead{WorkerHello{config_.name}});
  }
  const auto every =
      work_.is_running() ? std::min(config_.heartbeat_every, config_.busy_heartbeat_every) : config_.heartbeat_every;
  if (phase_ != Phase::hello && lead_.is_silent_for(std::max(every, beats_apart_), now_)) {
    heartbeat();
    if (const auto& result = plan_.evaluation().result()) {
      emit(SendToLead{*result});
    }
  }
  if (phase_ == Phase::ready) {
    hello_lanes();
    pull_missing();
    const bool offers_again = now_ - offered_at_ >= config_.offers_every;
    offered_at_ = offers_again ? now_ : offered_at_;
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
      send_outbox(lane, offers_again);
    }
    find_buffer();
  }
  leave_if_drained();
}

void Worker::hello_lanes() {
  for (const auto lane : lanes_.greets(now_, config_.hello_every)) {
    emit(SendToLane{lane, LaneHello{config_.name, layout_.spec_digest, layout_.layout_digest, true}, kNoPayload});
  }
}

void Worker::on(const Unreachable& event) {
  if (event.lane < lanes_.size()) {
    lanes_[event.lane].unreachable(event.why);
  }
}

// What was pulled over it is asked for again; what was sent is offered again.
void Worker::on(const ConnectionOver& event) {
  if (event.lane >= lanes_.size()) {
    return;
  }
  lanes_[event.lane].forgotten();
  for (const auto& chunk : layout_.chunks) {
    if (chunk.lane == event.lane) {
      weights_.unasked(chunk.id);
    }
  }
  hello_lanes();
}

void Worker::heartbeat() {
  if (lanes_.in_flight_bytes() == 0) {
    up_.forget_sent();  // what was sent again was counted twice
  }
  lead_.beats(at_);
  emit(SendToLead{heartbeat_now()});
}

Heartbeat Worker::heartbeat_now() const {
  Heartbeat beat;
  beat.timeline = welcome_.timeline;
  beat.order = plan_.order();
  beat.step = plan_.step();
  beat.ready = phase_ == Phase::ready;
  beat.idle = phase_ == Phase::ready && !work_.is_running() && !has_target();
  beat.waits_for = phase_ == Phase::ready ? waits_for() : std::string();
  beat.fingerprint = layout_.fingerprint;
  beat.data_digest = layout_.data_digest;
  beat.phases = phases();
  beat.slots = counters_.slots;
  beat.placement = welcome_.placement;
  for (const auto& grant : plan_.computed_grants()) {
    if (!lanes_.has(grant.item / layout_.slots, static_cast<Slot>(grant.item % layout_.slots))) {
      beat.delivered.push_back(grant.clock);
    }
  }
  beat.dropped = plan_.dropped_grants();
  beat.progress = progress_now();
  return beat;
}

SlotProgress Worker::progress_now() const {
  SlotProgress progress;
  progress.step = slot_clock_.step();
  progress.in_hand = slot_clock_.in_hand();
  progress.in_hand_for = slot_clock_.in_hand_for(at_);
  progress.begun = slot_clock_.since_step_begun(at_);
  progress.slot_time = slot_clock_.slot_time();
  auto computed = plan_.begun_of(progress.step);
  if (progress.in_hand != kNoSlot) {
    computed.erase({progress.in_hand, progress.in_hand + 1});
  }
  progress.computed = computed.runs();
  progress.up = up_.bytes_per_second();
  progress.down = down_.bytes_per_second();
  progress.without_receipt = lanes_.bytes();
  progress.leaving = !drains_.empty();
  return progress;
}

void Worker::release(const std::vector<PayloadId>& payloads) {
  for (const auto payload : payloads) {
    emit(Release{payload});
  }
}

void Worker::stop(std::string failure, bool for_good, bool of_data) {
  phase_ = Phase::stopped;
  emit(Stop{std::move(failure), for_good, of_data});
}

}  // namespace ballast
