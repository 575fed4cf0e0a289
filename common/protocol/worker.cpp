#include "common/protocol/worker.h"
#include "common/protocol/journal_marks.h"

#include <algorithm>
#include <utility>

#include "common/protocol/journal_marks.h"

namespace ballast {

using namespace worker;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

using Kind = WorkerPlan::Target::Kind;

namespace {

// With so few left to compute, the one that is being computed among them, more are asked for. The next one has to be
// there when the gradients of the one in hand are sent, for the pull goes with them: with fewer left, a session whose
// items take no longer than the lead's answer would stand still until it comes.
constexpr std::size_t kGrantsInHand = 2;

}  // namespace

Worker::Worker(WorkerConfig config) : config_(std::move(config)), plan_(1), pull_time_(config_.retry) {}

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
  lead_known_ = true;
  lead_heard_ = true;
  if (const auto* welcome = std::get_if<WorkerWelcome>(event.message)) {
    on_lead_welcome(*welcome);
  } else if (const auto* assign = std::get_if<Assign>(event.message)) {
    on_assign(*assign);
  } else if (const auto* finish = std::get_if<Finish>(event.message)) {
    emit(SendToLead{Goodbye{"finished"}});
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
  if (computing_ && target_.kind == Kind::evaluate) {
    computing_timeline_ = 0;  // its result will not count
  }
  result_.reset();
  plan_.evaluate_again();
  for (const auto& staged : staged_) {
    if (layout_.chunks[staged.header.chunk].lane == lane) {
      emit(Release{staged.payload});
    }
  }
  std::erase_if(staged_, [&](const Staged& staged) { return layout_.chunks[staged.header.chunk].lane == lane; });
  for (const auto& chunk : layout_.chunks) {
    if (chunk.lane != lane) {
      continue;
    }
    auto& state = weights_[chunk.id];
    at_target_ -= state.held && target_.kind != Kind::none && state.key == target_key() ? 1 : 0;
    state.held = false;
    state.asked = false;
  }
}

void Worker::on_lead_refusal(const Refused& refused) {
  if (refused.code == RefusalCode::unknown_session) {
    hello_said_ = false;  // the lead forgot this session, or gave it up: it is a new one to it
    hello_at_ = 0;
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
  if (!plan_.take(assign)) {
    return;
  }
  if (result_ && (!assign.evaluation || assign.evaluation->item != result_->item ||
                  assign.evaluation->version != result_->version || assign.evaluation->split != result_->split)) {
    result_.reset();
  }
  advance();
}

void Worker::enter_timeline(Timeline timeline) {
  for (auto& lane : lanes_) {
    release(lane.outbox.drop_older_timelines(timeline));
  }
  computed_work_.unreceipted = 0;
  computing_work_.unreceipted = 0;
  for (auto& chunk : weights_) {
    chunk = {};
  }
  for (const auto& staged : std::exchange(staged_, {})) {
    emit(Release{staged.payload});
  }
  result_.reset();
  target_ = {};
  at_target_ = 0;
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
  }
  send_outbox(event.lane);
}

void Worker::on_welcome(LaneLink& lane, const LaneWelcome& welcome) {
  if (lane.welcome(welcome.credit_bytes)) {
    advance();
    pull_missing();
  }
}

void Worker::on_receipt(LaneLink& lane, const Receipt& receipt) {
  const auto free = lane.outbox.receipt(receipt.timeline, receipt.step, receipt.chunk, receipt.node, now_);
  if (free.empty()) {
    return;
  }
  counters_.duplicates += receipt.outcome == ReceiptOutcome::duplicate ? 1 : 0;
  counters_.expired += receipt.outcome == ReceiptOutcome::expired ? 1 : 0;
  release(free);
  if (layout_.ledgered && plan_.open_grants() <= kGrantsInHand &&
      !is_on_its_way(receipt.step * layout_.slots + receipt.node.begin)) {
    heartbeat();  // the lead grants the next one
  }
  count_receipts(receipt.step, receipt.node.begin, 1);
}

// In rounds the slot says nothing: all that is computed at once is of one step.
void Worker::count_receipts(Step step, Slot slot, std::uint64_t count) {
  const auto take = [&](Work& work) {
    if (work.unreceipted == 0 || (layout_.ledgered ? step != work.step || slot != work.slot : step < work.step)) {
      return false;
    }
    work.unreceipted -= std::min(work.unreceipted, count);
    return true;
  };
  if (!(computing_ && take(computing_work_)) && take(computed_work_)) {
    step_clock_.receipt(at_, computed_work_.unreceipted > 0);
  }
}

Worker::Key Worker::key_of(const Weights& header) {
  return header.ticket != 0 ? Key{kNewestVersion, header.ticket} : Key{header.version, 0};
}

bool Worker::wants(const ChunkWeights& chunk, Key key) const {
  if (chunk.held && chunk.key == key) {
    return false;
  }
  return (target_.kind != Kind::none && target_key() == key) || (chunk.asked && chunk.asked_key == key);
}

void Worker::on_weights(LaneLink& lane, const Weights& weights, PayloadId payload) {
  const bool known = weights.chunk < weights_.size();
  if (known && weights.timeline == plan_.timeline() && !layout_.ledgered) {
    const auto free = lane.outbox.before(weights.chunk, weights.version);
    release(free);
    if (!free.empty()) {
      count_receipts(weights.version - 1, kNoSlot, free.size());
    }
  }
  if (!known || weights.timeline != plan_.timeline() || !wants(weights_[weights.chunk], key_of(weights))) {
    emit(Release{payload});
    return;
  }
  auto& chunk = weights_[weights.chunk];
  if (chunk.asked && chunk.asked_key == key_of(weights) && chunk.tries == 1) {
    pull_time_.observe(now_ - chunk.asked_at);
  }
  if (computing_) {
    staged_.push_back({weights, payload});
    return;
  }
  store(weights, payload);
  advance();
}

void Worker::store(const Weights& header, PayloadId payload) {
  auto& chunk = weights_[header.chunk];
  const bool was_at_target = chunk.held && chunk.key == target_key();
  chunk.held = true;
  chunk.key = key_of(header);
  chunk.version = header.version;
  chunk.mark = {welcome_.addresses[layout_.chunks[header.chunk].lane].lane.shard, header.incarnation, header.sequence};
  if (chunk.asked && chunk.asked_key == chunk.key) {
    chunk.asked = false;
  }
  const bool is_at_target = chunk.key == target_key();
  if (target_.kind != Kind::none && is_at_target != was_at_target) {
    at_target_ += is_at_target ? 1 : -1;
  }
  emit(Store{header.chunk, header.version, payload});
}

void Worker::on_gone(const Gone& gone) {
  if (gone.timeline != plan_.timeline() || gone.chunk >= weights_.size()) {
    return;
  }
  ++counters_.gone;
  auto& chunk = weights_[gone.chunk];
  if (chunk.asked && chunk.asked_key == Key{gone.version, 0}) {
    chunk.asked = false;
  }
  plan_.gone(gone.version, gone.held);
  if (heartbeat_at_ != now_) {
    heartbeat();  // asks the lead, once for all chunks of the version
  }
  advance();
}

void Worker::on_stale(const Stale& stale) {
  // The work is lost with its timeline; the lead's next order names the new one.
  for (auto& lane : lanes_) {
    release(lane.outbox.drop_older_timelines(stale.timeline));
  }
  heartbeat();
}

void Worker::on_lane_refusal(LaneLink& lane, const Refused& refused) {
  if (refused.code == RefusalCode::unknown_session) {
    lane.forgotten();
  } else if (refused.code == RefusalCode::too_many) {
    lane.refused(refused.text);
  } else if (refused.code != RefusalCode::not_serving) {
    emit(SendToLead{Goodbye{"refused by a lane: " + refused.text}});
    stop("a lane refused this worker: " + refused.text);
  }
}

// ---- the schedule

void Worker::advance() {
  if (phase_ != Phase::ready || computing_) {
    return;
  }
  choose_target();
  if (target_.kind == Kind::none) {
    if (!std::exchange(idle_, true)) {
      heartbeat();
    }
    return;
  }
  idle_ = false;
  if (at_target_ == weights_.size()) {
    start();
  }
}

void Worker::choose_target() {
  auto target = plan_.next();
  if (target == target_) {
    return;
  }
  const bool same_version =
      target_.kind != Kind::none && target.version == target_.version && target.ticket == target_.ticket;
  target_ = std::move(target);
  if (target_.kind == Kind::none) {
    return;
  }
  if (target_.kind == Kind::train) {
    emit(Prefetch{target_.step, target_.ranges});
  }
  if (!same_version) {
    step_clock_.wants(at_);
  }
  at_target_ = static_cast<std::size_t>(std::count_if(weights_.begin(), weights_.end(), [&](const ChunkWeights& chunk) {
    return chunk.held && chunk.key == target_key();
  }));
  pull_missing();
}

void Worker::pull_missing() {
  if (phase_ != Phase::ready || target_.kind == Kind::none || computing_) {
    return;
  }
  std::vector<std::vector<ChunkId>> pulls(lanes_.size());
  for (const auto& chunk : layout_.chunks) {
    auto& state = weights_[chunk.id];
    if ((state.held && state.key == target_key()) || !lanes_[chunk.lane].is_welcome()) {
      continue;
    }
    const bool repeated = state.asked && state.asked_key == target_key();
    if (repeated && now_ - state.asked_at < pull_time_.deadline() * std::min(state.tries, 8U)) {
      continue;
    }
    counters_.pulls_repeated += repeated ? 1 : 0;
    state.asked = true;
    state.asked_key = target_key();
    state.asked_at = now_;
    state.tries = repeated ? state.tries + 1 : 1;
    pulls[chunk.lane].push_back(chunk.id);
  }
  for (std::uint32_t lane = 0; lane < pulls.size(); ++lane) {
    if (!pulls[lane].empty()) {
      emit(SendToLane{lane, Pull{plan_.timeline(), target_.version, std::move(pulls[lane]), target_.ticket},
                      kNoPayload});
    }
  }
}

void Worker::start() {
  computing_ = true;
  computing_timeline_ = plan_.timeline();
  if (target_.kind == Kind::evaluate) {
    emit(Evaluate{target_.evaluation});
    return;
  }
  step_clock_.begins(at_);
  computing_work_ = {target_.step, layout_.ledgered ? target_.ranges.front().begin : kNoSlot, 0};
  computing_ranges_ = target_.ranges;
  computing_ticket_ = target_.ticket;
  computing_marks_ = marks();
  emit(Compute{target_.step, target_.ranges});
  if (layout_.ledgered) {
    if (const auto next = plan_.grant_after(target_.ticket)) {
      const auto slot = static_cast<Slot>(next->item % layout_.slots);
      emit(Prefetch{next->item / layout_.slots, {{slot, slot + 1}}});
    }
  } else if (auto next = plan_.standing_work(target_.step + 1); !next.empty()) {
    emit(Prefetch{target_.step + 1, std::move(next)});
  }
}

// Of all the weights that are computed from: in a job whose shards come back within a timeline, what they rest on.
std::shared_ptr<const std::vector<JournalMark>> Worker::marks() const {
  if (!layout_.journaled) {
    return nullptr;
  }
  auto marks = std::make_shared<std::vector<JournalMark>>();
  for (const auto& chunk : weights_) {
    note_mark(*marks, chunk.mark);
  }
  return marks;
}

// What to ask for along with a chunk's last gradient.
std::optional<Worker::Key> Worker::next_key(const GradientReady& event) const {
  if (!event.last_node) {
    return std::nullopt;
  }
  if (layout_.ledgered) {
    const auto next = plan_.grant_after(computing_ticket_);
    return next ? std::optional<Key>({kNewestVersion, next->clock}) : std::nullopt;
  }
  const auto& chunk = weights_[event.chunk];
  const bool is_wanted = event.step == plan_.cursor() && !plan_.standing_work(event.step + 1).empty() &&
                         !(chunk.asked && chunk.asked_key.version > event.step);
  return is_wanted ? std::optional<Key>({event.step + 1, 0}) : std::nullopt;
}

bool Worker::is_on_its_way(ItemId item) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const LaneLink& lane) {
    return lane.outbox.has(item / layout_.slots, static_cast<Slot>(item % layout_.slots));
  });
}

void Worker::on(const GradientReady& event) {
  if (computing_timeline_ != plan_.timeline()) {
    return release({event.payload});  // of weights that the job has rolled back
  }
  auto& chunk = weights_[event.chunk];
  const auto lane = layout_.chunks[event.chunk].lane;
  const auto next = next_key(event);
  if (next) {
    chunk.asked = true;
    chunk.asked_key = *next;
    chunk.asked_at = now_;
    chunk.tries = 1;
  }
  const auto replaced =
      lanes_[lane].outbox.add({plan_.timeline(), event.step, event.chunk, event.node, next.has_value(), event.payload,
                               layout_.chunks[event.chunk].bytes, event.fault, layout_.ledgered ? chunk.version : 0,
                               next ? next->ticket : 0, computing_marks_});
  release(replaced);  // the same item, granted to this session again
  ++computing_work_.unreceipted;
  send_outbox(lane);
}

void Worker::on(const Computed& event) {
  computing_ = false;
  if (computing_timeline_ == plan_.timeline()) {
    if (layout_.ledgered) {
      plan_.computed(computing_ticket_);
    } else {
      plan_.computed(event.step, computing_ranges_);
    }
  }
  ++counters_.steps;
  for (const auto range : computing_ranges_) {
    counters_.slots += range.size();
  }
  computed_work_ = computing_work_;
  step_clock_.computed(at_, event.phases, computed_work_.unreceipted > 0);
  accept_staged();
  advance();
}

void Worker::on(const Evaluated& event) {
  computing_ = false;
  if (computing_timeline_ == plan_.timeline()) {
    plan_.evaluated(event.result);
    result_ = event.result;
    result_->timeline = computing_timeline_;
    emit(SendToLead{*result_});
  }
  accept_staged();
  advance();
}

void Worker::accept_staged() {
  target_ = {};
  at_target_ = 0;
  choose_target();
  for (const auto& staged : std::exchange(staged_, {})) {
    if (wants(weights_[staged.header.chunk], key_of(staged.header))) {
      store(staged.header, staged.payload);
    } else {
      emit(Release{staged.payload});
    }
  }
}

void Worker::send_outbox(std::uint32_t lane) {
  if (phase_ == Phase::stopped || !lanes_[lane].is_welcome()) {
    return;
  }
  for (const auto& contribution : lanes_[lane].outbox.take_sendable(now_)) {
    emit(SendToLane{lane,
                    Push{contribution.timeline, contribution.step, contribution.chunk, contribution.node,
                         contribution.want_next, contribution.fault, phases(), contribution.base, contribution.ticket,
                         contribution.marks ? *contribution.marks : std::vector<JournalMark>{}},
                    contribution.payload});
  }
}

// ---- time and life

void Worker::on(const Prepared& event) {
  layout_ = event.layout;
  config_.lead_silence = layout_.lead_silence.value_or(config_.lead_silence);
  plan_ = WorkerPlan(layout_.slots, layout_.ledgered);
  weights_.assign(layout_.chunks.size(), {});
  lanes_.assign(layout_.lanes, LaneLink(config_.retry));
  phase_ = Phase::ready;
  for (std::uint32_t lane = 0; lane < layout_.lanes; ++lane) {
    emit(Connect{lane, welcome_.addresses[lane].address});  // a newer timeline may have begun meanwhile
  }
  hello_lanes();
  heartbeat();
}

void Worker::on(const Failed& event) {
  emit(SendToLead{Goodbye{event.text}});
  stop(event.text, event.for_good);
}

void Worker::on(const Tick& event) {
  // Time in which this process did not run is not the lead's silence, and what was heard since the last tick was heard
  // just now.
  const bool was_asleep = event.now - now_ > config_.lead_silence / 2;
  now_ = event.now;
  if (std::exchange(lead_heard_, false) || was_asleep) {
    lead_heard_at_ = now_;
  }
  if (lead_known_ && now_ - lead_heard_at_ > config_.lead_silence) {
    return stop("the lead (shard 0) has not been heard of for " + std::to_string((now_ - lead_heard_at_) / 1'000'000) +
                " s (cluster.patience)");
  }
  if (!hello_said_ || (phase_ == Phase::hello && now_ - hello_at_ >= config_.hello_every)) {
    hello_said_ = true;
    hello_at_ = now_;
    emit(SendToLead{WorkerHello{config_.name}});
  }
  if (phase_ != Phase::hello && now_ - heartbeat_at_ >= config_.heartbeat_every) {
    heartbeat();
    if (result_) {
      emit(SendToLead{*result_});
    }
  }
  if (phase_ == Phase::ready) {
    hello_lanes();
    pull_missing();
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
      send_outbox(lane);
    }
  }
}

void Worker::hello_lanes() {
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].asks(now_, config_.hello_every)) {
      emit(SendToLane{lane, LaneHello{config_.name, layout_.spec_digest, layout_.layout_digest}, kNoPayload});
    }
  }
}

void Worker::on(const Unreachable& event) {
  if (event.lane < lanes_.size()) {
    lanes_[event.lane].unreachable(event.why);
  }
}

const LaneAddress* Worker::waiting_lane() const {
  const auto found = std::find_if(lanes_.begin(), lanes_.end(),
                                  [&](const LaneLink& lane) { return lane.lets_wait(now_, config_.lane_silence); });
  return found == lanes_.end() ? nullptr : &welcome_.addresses[static_cast<std::size_t>(found - lanes_.begin())];
}

std::string Worker::waits_for() const {
  const auto* at = waiting_lane();
  if (at == nullptr) {
    return {};
  }
  const auto& lane = lanes_[static_cast<std::size_t>(at - welcome_.addresses.data())];
  const auto others =
      std::count_if(lanes_.begin(), lanes_.end(),
                    [&](const LaneLink& other) { return other.lets_wait(now_, config_.lane_silence); }) -
      1;
  const auto text = lane.describe(*at);
  return others == 0 ? text : text + " (and " + std::to_string(others) + " other lane" + (others == 1 ? ")" : "s)");
}

void Worker::heartbeat() {
  heartbeat_at_ = now_;
  Heartbeat beat;
  beat.timeline = welcome_.timeline;
  beat.order = plan_.order();
  beat.step = plan_.step();
  beat.ready = phase_ == Phase::ready;
  beat.idle = phase_ == Phase::ready && !computing_ && target_.kind == Kind::none;
  beat.waits_for = phase_ == Phase::ready ? waits_for() : std::string();
  beat.fingerprint = layout_.fingerprint;
  beat.data_digest = layout_.data_digest;
  beat.phases = phases();
  beat.slots = counters_.slots;
  beat.placement = welcome_.placement;
  for (const auto& grant : plan_.computed_grants()) {
    if (!is_on_its_way(grant.item)) {
      beat.brought.push_back(grant.clock);
    }
  }
  emit(SendToLead{std::move(beat)});
}

void Worker::release(const std::vector<PayloadId>& payloads) {
  for (const auto payload : payloads) {
    emit(Release{payload});
  }
}

void Worker::stop(std::string failure, bool for_good) {
  phase_ = Phase::stopped;
  emit(Stop{std::move(failure), for_good});
}

std::uint64_t Worker::retries() const {
  std::uint64_t retries = counters_.pulls_repeated;
  for (const auto& lane : lanes_) {
    retries += lane.outbox.retries();
  }
  return retries;
}

std::uint64_t Worker::in_flight_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& lane : lanes_) {
    bytes += lane.outbox.in_flight_bytes();
  }
  return bytes;
}

std::size_t Worker::outstanding() const {
  std::size_t count = 0;
  for (const auto& lane : lanes_) {
    count += lane.outbox.size();
  }
  return count;
}

}  // namespace ballast
