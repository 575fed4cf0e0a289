#include "protocol/lead/lead.h"

#include <algorithm>
#include <utility>

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

namespace {

EvaluationRules evaluation_rules(const LeadConfig& config) {
  return {config.steps,
          config.evaluate_every,
          config.validation_examples,
          config.test_examples,
          config.evaluation_item,
          config.early_stop_patience,
          config.early_stop_delta,
          // While nobody knows what an item takes, idle sessions soon try themselves.
          {config.late.floor, std::min(config.late.initial, 4 * config.late.floor), config.late.ceiling},
          config.metrics,
          config.best_by};
}

Course::Rules course_rules(const LeadConfig& config) {
  if (!config.items) {
    auto shares = config.shares;
    shares.step.slots = config.slots;
    return RoundCourse::Rules{config.steps, shares};
  }
  return ItemCourse::Rules{config.slots,
                           config.steps,
                           config.snapshot_every,
                           config.items->journaled,
                           {config.items->ahead, config.items->staleness_bound, config.life, config.late}};
}

}  // namespace

Lead::Lead(LeadConfig config)
    : config_(std::move(config)),
      book_(config_.memory.ledger, config_.memory.statistics_next),
      shards_(config_.shards, config_.lanes, config_.shard_silence, config_.memory.ledger),
      sessions_(config_.max_sessions, config_.worker_silence),
      course_(course_rules(config_)),
      planner_(std::make_shared<const DecisionRules>(config_.decisions), config_.factors, course_.updates(1),
               book_.durable().base.step),
      evaluations_(evaluation_rules(config_), config_.memory.evaluations),
      log_(config_.memory.statistics, config_.memory.statistics_next, config_.memory.examples_before),
      // In item mode a step to be kept is one where all wait: the course orders it.
      schedule_(config_.items ? 0 : config_.snapshot_every),
      copies_(config_.run, config_.claim, config_.copies),
      tears_(config_.torn_after),
      pauses_({config_.stop_patience, config_.hold_again}) {
  const auto& ledger = book_.durable();
  schedule_.rewind(ledger.base.step);
  barrier_ = ledger.base.step;
  if (ledger.finished) {
    phase_ = Phase::finished;
  }
}

void Lead::hear(const Event& event, Micros at) {
  const auto* tick = std::get_if<Tick>(&event);
  at_ = std::max({at_, at, tick != nullptr ? tick->now : now_});
  course_.at(at_);
  std::visit([this](const auto& body) { on(body); }, event);
}

// ---- the ledger

void Lead::write_ledger() {
  if (auto change = book_.next(now_)) {
    emit(WriteLedger{std::move(*change)});
  }
}

void Lead::on(const LedgerWritten& /*event*/) {
  const auto copies = book_.durable().copies;
  const bool was_held = book_.durable().held;
  book_.written();
  shards_.list(book_.durable());
  if (is_over()) {
    return;
  }
  if (is_confirmed()) {
    order_kept();
  }
  if (is_confirmed() && (!(copies == book_.durable().copies) || was_held != book_.durable().held)) {
    send_plans();  // before the end, if that comes next: shard 0 still has old copies to remove
  }
  const bool was_confirmed = is_confirmed();
  confirm_if_durable();
  if (course_.resumes_shards() && was_confirmed) {
    send_confirms();
  }
  if (book_.durable().finished) {
    return end(Phase::finished, {});
  }
  stop_if_without_work();
  if (!is_over()) {
    consider_all();
    turn_.stirred = true;
  }
}

void Lead::on(const LedgerFailed& event) {
  if (!is_over()) {
    fail("the lead's ledger cannot be written: " + event.text);
  }
}

void Lead::on(const StayNoLonger& /*event*/) { config_.stay = 0; }

// ---- the workers' side

void Lead::on(const FromWorker& event) {
  if (const auto* hello = std::get_if<WorkerHello>(event.message)) {
    return on_worker_hello(event, *hello);
  }
  auto* known = sessions_.heard(event.session, now_);
  if (known == nullptr) {
    if (std::holds_alternative<Goodbye>(*event.message)) {
      return;
    }
    return emit(SendToWorker{event.session, Refused{RefusalCode::unknown_session, "say hello first"}});
  }
  auto& session = *known;
  if (const auto* beat = std::get_if<Heartbeat>(event.message)) {
    on_heartbeat(event.session, session, *beat);
  } else if (const auto* result = std::get_if<EvaluationResult>(event.message)) {
    on_evaluation(event.session, *result);
  } else if (std::holds_alternative<Goodbye>(*event.message)) {
    on_goodbye(event.session, session);
  } else {
    emit(SendToWorker{event.session, Refused{RefusalCode::wrong_target,
                                             "the lead takes hellos, heartbeats, results and goodbyes from workers"}});
  }
}

void Lead::on_worker_hello(const FromWorker& event, const WorkerHello& hello) {
  const auto id = event.session;
  if (is_over()) {
    return emit(SendToWorker{id, finish_message()});
  }
  if (barred_.contains(id)) {
    return emit(SendToWorker{id, Refused{RefusalCode::wrong_bits, why_barred()}});
  }
  auto* const session = sessions_.hello(id, hello.name, now_);
  if (session == nullptr) {
    return emit(SendToWorker{
        id, Refused{RefusalCode::too_many, "the job has " + std::to_string(config_.max_sessions) + " live sessions"}});
  }
  session->key = event.key;
  // Addresses are known once every lane has said hello; until then the worker asks again.
  if (can_welcome()) {
    emit(SendToWorker{id, welcome()});
  }
}

bool Lead::can_welcome() const {
  // A placement that is not durable could be met again with other addresses, from a lead that lost this one's memory.
  return is_confirmed() && shards_.all_there() && book_.durable().placement == book_.current().placement;
}

WorkerWelcome Lead::welcome() const {
  WorkerWelcome welcome;
  welcome.timeline = timeline();
  welcome.placement = book_.current().placement;
  welcome.job = config_.job;
  welcome.spec_digest = config_.spec_digest;
  welcome.layout_digest = config_.layout_digest;
  welcome.shards = config_.shards;
  welcome.lanes = config_.lanes;
  for (const auto& [id, lane] : shards_.lanes()) {
    welcome.addresses.push_back({id, lane.incarnation, lane.address});
  }
  return welcome;
}

void Lead::on_heartbeat(SessionId id, LeadSession& session, const Heartbeat& beat) {
  turn_.freed = turn_.freed || beat.placement != session.beat.placement;
  session.beat = beat;
  if (is_over()) {
    return emit(SendToWorker{id, finish_message()});
  }
  consider(id, session);
  if (!session.live) {
    return;
  }
  if ((beat.timeline != timeline() || beat.placement != book_.current().placement) && can_welcome()) {
    emit(SendToWorker{id, welcome()});
  }
  if (beat.timeline == timeline() && !(beat.delivered.empty() && beat.dropped.empty())) {
    course_.delivered(id, beat.delivered, now_);
    course_.dropped(id, beat.dropped, now_);
    turn_.freed = true;
  }
  if (beat.timeline == timeline() && course_.heard(id, beat.progress)) {
    turn_.freed = true;
  }
  turn_.spoke_up.insert(id);
}

void Lead::on_evaluation(SessionId id, const EvaluationResult& result) {
  if (result.timeline == timeline()) {
    evaluations_.put(id, result, now_);
  }
  turn_.spoke_up.insert(id);
  turn_.stirred = true;
}

void Lead::on_goodbye(SessionId id, LeadSession& session) {
  session.said_goodbye = true;
  if (is_over()) {
    session.live = false;
    return leave_when_told();
  }
  lose(id);
}

void Lead::lose(SessionId id) {
  sessions_.lose(id);
  course_.lose(id);
  evaluations_.lose(id);
  turn_.stirred = true;
  stop_if_without_work();
}

// Whoever still has in hand what others have brought evaluates nothing either.
std::set<SessionId> Lead::busy_elsewhere() const {
  auto busy = sessions_.suspects();
  for (const auto& [session, since] : course_.overtaken()) {
    busy.insert(session);
  }
  return busy;
}

void Lead::hand_out() {
  if (phase_ == Phase::training) {
    course_.hand_out(sessions_.joined(), sessions_.suspects(), shards_, limit(), now_);
  } else if (phase_ == Phase::evaluating) {
    auto staying = sessions_.joined();
    std::erase_if(staying, [&](SessionId id) { return sessions_.at(id).beat.progress.leaving; });
    evaluations_.hand_out(staying, busy_elsewhere(), now_);
  }
}

void Lead::send_welcomes() {
  for (const auto& [id, session] : sessions_.all()) {
    if (session.live) {
      emit(SendToWorker{id, welcome()});
    }
  }
}

// ---- time

void Lead::on(const Tick& event) {
  const bool is_first = now_ == 0;
  const auto slept = event.now - now_;
  now_ = event.now;
  if (is_first) {
    assembling_since_ = now_;
    end_.since = now_;
    shards_.begin(now_);
  } else {
    forgive_sleep(slept);
  }
  if (is_over()) {
    return leave_when_told();
  }
  pace_.observe(now_, log_.examples(), std::max(course_.open_step(), book_.current().base.step));
  book_.flush_if_due(now_, config_.write_statistics_every, config_.plan_ahead);
  if (is_confirmed() && !is_first && !is_sleep(slept)) {
    copies_.wait(slept);
  }
  observe_copies();
  check_workers();
  check_shards();
  if (pauses_.waits_for_copy() && !is_over() && !is_confirmed()) {
    stop_when_copied();
  }
  if (!is_over()) {
    check_wishes();
  }
  if (!is_over()) {
    check_versions();
  }
  turn_.ticked = true;
  turn_.stirred = true;
}

bool Lead::is_sleep(Micros span) const {
  return span > std::min(config_.worker_silence.floor, config_.shard_silence.floor) / 2;
}

void Lead::forgive_sleep(Micros slept) {
  // Time in which the lead itself did not run is nobody's silence: what they said meanwhile is still to be read.
  if (!is_sleep(slept)) {
    return;
  }
  sessions_.forgive(slept);
  shards_.forgive(slept);
  course_.forgive(slept);
  assembling_since_ += slept;
  end_.since += slept;
  pauses_.forgive(slept);
}

void Lead::check_workers() {
  for (const auto id : sessions_.silent(now_)) {
    lose(id);
  }
  for (const auto id :
       sessions_.suspect_silent(now_, {config_.suspect_after, std::max(config_.probe_after, 2 * beats_apart())})) {
    turn_.spoke_up.insert(id);
  }
}

void Lead::on(const Unreachable& event) { turn_.freed = sessions_.unreachable(event.session) || turn_.freed; }

}  // namespace ballast
