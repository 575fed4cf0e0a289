#include "common/protocol/lead.h"

#include <algorithm>
#include <utility>

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

namespace {

constexpr std::size_t kRecentSteps = 50;

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

Lead::Lead(LeadConfig config) : config_(std::move(config)), work_(config_.slots), step_time_(config_.late) {}

Actions Lead::step(const Event& event) {
  actions_.clear();
  std::visit([this](const auto& body) { on(body); }, event);
  return std::exchange(actions_, {});
}

// ---- the shards' side

void Lead::on(const FromLane& event) {
  if (const auto* hello = std::get_if<ShardHello>(event.message)) {
    on_shard_hello(event, *hello);
  } else if (const auto* report = std::get_if<LaneReport>(event.message)) {
    on_report(event, *report);
  }
}

bool Lead::check_shard_hello(const FromLane& event, const ShardHello& hello) {
  const auto refuse = [&](std::string text) {
    emit(SendToLane{event.lane, event.incarnation, Refused{RefusalCode::wrong_job, std::move(text)}});
    return false;
  };
  if (hello.lane != event.lane || hello.incarnation != event.incarnation) {
    return refuse("the hello names shard " + number(hello.lane.shard) + ", lane " + number(hello.lane.lane) +
                  ", but came from the connection of shard " + number(event.lane.shard) + ", lane " +
                  number(event.lane.lane) + ", or of another of its lives");
  }
  if (hello.spec_digest != config_.spec_digest || hello.layout_digest != config_.layout_digest) {
    return refuse("shard " + number(hello.lane.shard) + " was started with another job file than the lead's");
  }
  if (hello.shards != config_.shards || hello.lanes != config_.lanes || hello.lane.shard >= config_.shards ||
      hello.lane.lane >= config_.lanes) {
    return refuse("shard " + number(hello.lane.shard) + " was started for " + number(hello.shards) + " shards of " +
                  number(hello.lanes) + " lanes, the lead for " + number(config_.shards) + " of " +
                  number(config_.lanes));
  }
  return true;
}

void Lead::on_shard_hello(const FromLane& event, const ShardHello& hello) {
  if (!check_shard_hello(event, hello)) {
    return;
  }
  const auto known = lanes_.find(event.lane);
  if (is_over()) {
    emit(SendToLane{event.lane, event.incarnation, Finish{timeline_, work_.open(), failure_}});
  } else if (phase_ == Phase::assembling) {
    // A shard that was restarted before the timeline began brings all its lanes again.
    std::erase_if(lanes_, [&](const auto& lane) {
      return lane.first.shard == event.lane.shard && lane.second.incarnation != hello.incarnation;
    });
    lanes_.insert_or_assign(
        event.lane,
        LaneState{hello.incarnation, hello.address, {}, now_, LearntDeadline(config_.shard_silence), false});
    if (lanes_.size() == std::size_t{config_.shards} * config_.lanes) {
      phase_ = Phase::recording;
      timeline_ = 1;
      TimelineRecord record{timeline_, 0, std::vector<Incarnation>(config_.shards)};
      for (const auto& [id, lane] : lanes_) {
        record.incarnations[id.shard] = lane.incarnation;
      }
      emit(WriteLedger{std::move(record)});
    }
  } else if (known->second.incarnation != hello.incarnation) {
    fail("shard " + number(event.lane.shard) + " died and came back without its state at step " + number(work_.open()) +
         "; recovery is not built yet, so the run ends");
  } else {
    known->second.heard_at = now_;
    if (phase_ != Phase::recording) {
      emit(SendToLane{event.lane, event.incarnation, Confirm{hello.incarnation, timeline_, 0}});
    }
  }
}

void Lead::on(const LedgerWritten& /*event*/) {
  if (phase_ == Phase::recording) {
    phase_ = Phase::confirming;
    for (const auto& [id, lane] : lanes_) {
      emit(SendToLane{id, lane.incarnation, Confirm{lane.incarnation, timeline_, 0}});
    }
  } else if (phase_ == Phase::concluding) {
    phase_ = Phase::finished;
    finish_everyone();
  }
}

void Lead::on(const LedgerFailed& event) { fail("the lead's ledger cannot be written: " + event.text); }

void Lead::on_report(const FromLane& event, const LaneReport& report) {
  const auto known = lanes_.find(event.lane);
  if (known == lanes_.end() || known->second.incarnation != event.incarnation || report.lane != event.lane ||
      report.incarnation != event.incarnation) {
    return;
  }
  auto& lane = known->second;
  lane.silence.observe(now_ - lane.heard_at);
  lane.heard_at = now_;
  if (report.sequence <= lane.report.sequence) {
    return;
  }
  lane.report = report;
  lane.left = lane.left || report.leaving;
  if (!report.failure.empty() && !is_over()) {
    return fail("shard " + number(event.lane.shard) + " cannot go on: " + report.failure);
  }
  if (is_over()) {
    if (!report.leaving) {
      emit(SendToLane{event.lane, event.incarnation, Finish{timeline_, work_.open(), failure_}});
    }
    return leave_when_told();
  }
  on_statistics(report.statistics);
  if (report.timeline == timeline_) {
    if (phase_ == Phase::persisting && !report.persisted) {
      emit(SendToLane{event.lane, event.incarnation, Persist{timeline_, config_.steps}});
    }
    progress();
    send_plan(event.lane, lane);
  }
}

void Lead::on_statistics(const std::vector<StepStatistics>& statistics) {
  for (const auto& step : statistics) {
    if (step.step != statistics_next_) {
      continue;
    }
    ++statistics_next_;
    recent_.push_back(step);
    if (recent_.size() > kRecentSteps) {
      recent_.pop_front();
    }
    epoch_loss_ += static_cast<double>(step.loss) * static_cast<double>(step.examples);
    epoch_examples_ += static_cast<double>(step.examples);
    examples_ += static_cast<std::uint64_t>(step.examples);
  }
}

void Lead::send_plan(LaneId id, const LaneState& lane) {
  Plan plan;
  plan.timeline = timeline_;
  plan.first = std::min(lane.report.open_step, barrier_);
  const Step end = std::min(barrier_, plan.first + config_.plan_ahead);
  // A plan whose first half is still to be used needs no renewal: the empty one is a sign of life.
  if (lane.report.planned < end && lane.report.planned < plan.first + config_.plan_ahead / 2) {
    for (Step step = plan.first; step < end; ++step) {
      plan.factors.push_back(config_.factors(step));
    }
  }
  plan.statistics_through = statistics_next_;
  emit(SendToLane{id, lane.incarnation, std::move(plan)});
}

bool Lead::all_lanes(const std::function<bool(const LaneState&)>& holds) const {
  return lanes_.size() == std::size_t{config_.shards} * config_.lanes &&
         std::all_of(lanes_.begin(), lanes_.end(), [&](const auto& lane) { return holds(lane.second); });
}

void Lead::observe_shards() {
  Step open = config_.steps;
  for (const auto& [id, lane] : lanes_) {
    open = std::min(open, lane.report.open_step);
  }
  SlotSet missing(config_.slots);
  for (const auto& [id, lane] : lanes_) {
    if (lane.report.open_step == open && open < config_.steps) {
      missing.insert(SlotSet::from_words(config_.slots, lane.report.missing));
    }
  }
  if (open > work_.open()) {
    learn_step_time(open - work_.open());
    expect_step();
  }
  work_.observe(open, missing, now_);
  if (!half_time_ && work_.half_brought() && work_.handed_out() == handed_out_before_) {
    half_time_ = now_ - open_since_;
  }
}

void Lead::expect_step() {
  open_since_ = now_;
  half_time_.reset();
  handed_out_before_ = work_.handed_out();
}

void Lead::learn_step_time(Step steps) {
  // A step that waited for late slots must not teach when slots are late: each deadline would contain the one before,
  // and one straggler would make every wait longer. What half of the sessions need says it.
  if (half_time_) {
    step_time_.observe(*half_time_);
  } else if (work_.handed_out() == handed_out_before_) {
    step_time_.observe((now_ - open_since_) / steps);
  }
}

// ---- the job's course

void Lead::progress() {
  if (!all_lanes([&](const LaneState& lane) { return lane.report.serving && lane.report.timeline == timeline_; })) {
    return;
  }
  if (phase_ == Phase::confirming) {
    phase_ = Phase::waiting;
  }
  if (phase_ == Phase::waiting && ready_sessions().size() >= config_.start_workers) {
    begin_training();
  }
  if (phase_ == Phase::training) {
    observe_shards();
    if (work_.open() >= barrier_ && statistics_next_ >= barrier_) {
      end_epoch();
    } else {
      hand_out();
    }
  }
  if (phase_ == Phase::persisting && all_lanes([](const LaneState& lane) { return lane.report.persisted; })) {
    conclude();
  }
}

void Lead::begin_training() {
  began_at_ = now_;
  work_.divide(ready_sessions(), 0);
  observe_shards();
  begin_epoch();
}

void Lead::begin_epoch() {
  phase_ = Phase::training;
  barrier_ = std::min(config_.steps, barrier_ + config_.steps_per_epoch);
  expect_step();
  work_.reopen(now_);
  for (const auto& [id, lane] : lanes_) {
    send_plan(id, lane);
  }
  for (auto& [id, session] : sessions_) {
    send_assignment(id, session, false);
  }
}

void Lead::end_epoch() {
  epochs_ += barrier_ % config_.steps_per_epoch == 0 ? 1 : 0;
  if (epoch_examples_ > 0) {
    train_loss_ = epoch_loss_ / epoch_examples_;
    has_epoch_loss_ = true;
  }
  epoch_loss_ = 0;
  epoch_examples_ = 0;
  if (config_.test_examples == 0) {
    return end_evaluation();
  }
  phase_ = Phase::evaluating;
  board_ = EvaluationBoard(barrier_, config_.test_examples, config_.evaluation_item);
  hand_out();
}

void Lead::end_evaluation() {
  if (config_.test_examples > 0) {
    test_ = board_.total();
    evaluated_ = true;
  }
  board_ = {};
  if (barrier_ < config_.steps) {
    return begin_epoch();
  }
  training_ = now_ - began_at_;
  phase_ = Phase::persisting;
  for (auto& [id, session] : sessions_) {
    send_assignment(id, session, false);
  }
  for (const auto& [id, lane] : lanes_) {
    emit(SendToLane{id, lane.incarnation, Persist{timeline_, config_.steps}});
  }
}

void Lead::conclude() {
  phase_ = Phase::concluding;
  emit(WriteLedger{FinishedRecord{timeline_, config_.steps}});
}

void Lead::hand_out() {
  if (phase_ == Phase::training) {
    work_.hand_out(ready_sessions(), now_, step_time_.deadline());
  } else if (phase_ == Phase::evaluating) {
    for (const auto id : ready_sessions()) {
      if (!board_.held_by(id)) {
        board_.take(id, now_, config_.late.initial);
      }
    }
  } else {
    return;
  }
  for (auto& [id, session] : sessions_) {
    send_assignment(id, session, false);
  }
}

// ---- the workers' side

void Lead::on(const FromWorker& event) {
  if (const auto* hello = std::get_if<WorkerHello>(event.message)) {
    return on_worker_hello(event.session, *hello);
  }
  const auto known = sessions_.find(event.session);
  if (known == sessions_.end() || !known->second.live) {
    if (std::holds_alternative<Goodbye>(*event.message)) {
      return;
    }
    return emit(SendToWorker{event.session, Refused{RefusalCode::unknown_session, "say hello first"}});
  }
  auto& session = known->second;
  session.silence.observe(now_ - session.heard_at);
  session.heard_at = now_;
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

void Lead::on_worker_hello(SessionId id, const WorkerHello& hello) {
  if (is_over()) {
    return emit(SendToWorker{id, Finish{timeline_, work_.open(), failure_}});
  }
  if (!sessions_.contains(id) && !make_room_for_session()) {
    return emit(
        SendToWorker{id, Refused{RefusalCode::too_many, "the job has " + number(kMaxSessions) + " live sessions"}});
  }
  auto& session =
      sessions_.try_emplace(id, Session{{}, false, false, false, 0, LearntDeadline(config_.worker_silence), {}, {}})
          .first->second;
  session.name = hello.name;
  session.live = true;
  session.said_goodbye = false;
  session.heard_at = now_;
  // Addresses are complete once every lane has said hello; until then the worker asks again.
  if (phase_ != Phase::assembling) {
    emit(SendToWorker{id, welcome()});
  }
}

// On preemptible machines a job sees more workers than it can remember: the one dead for longest is forgotten.
bool Lead::make_room_for_session() {
  if (sessions_.size() < kMaxSessions) {
    return true;
  }
  auto oldest = sessions_.end();
  for (auto session = sessions_.begin(); session != sessions_.end(); ++session) {
    if (!session->second.live && (oldest == sessions_.end() || session->second.heard_at < oldest->second.heard_at)) {
      oldest = session;
    }
  }
  if (oldest == sessions_.end()) {
    return false;
  }
  sessions_.erase(oldest);
  return true;
}

WorkerWelcome Lead::welcome() const {
  WorkerWelcome welcome;
  welcome.job = config_.job;
  welcome.spec_digest = config_.spec_digest;
  welcome.layout_digest = config_.layout_digest;
  welcome.shards = config_.shards;
  welcome.lanes = config_.lanes;
  for (const auto& [id, lane] : lanes_) {
    welcome.addresses.push_back({id, lane.address});
  }
  return welcome;
}

void Lead::on_heartbeat(SessionId id, Session& session, const Heartbeat& beat) {
  session.beat = beat;
  if (is_over()) {
    return emit(SendToWorker{id, Finish{timeline_, work_.open(), failure_}});
  }
  if (beat.ready && !std::exchange(session.ready, true)) {
    joined_.push_back(id);
    members_changed();
  }
  progress();
  hand_out();
  send_assignment(id, session, true);
}

void Lead::on_evaluation(SessionId id, const EvaluationResult& result) {
  if (phase_ != Phase::evaluating) {
    return send_assignment(id, sessions_.at(id), true);
  }
  board_.put(result);
  if (board_.done()) {
    end_evaluation();
  } else {
    hand_out();
  }
}

void Lead::on_goodbye(SessionId id, Session& session) {
  session.said_goodbye = true;
  if (is_over()) {
    session.live = false;
    return leave_when_told();
  }
  lose(id, session);
}

void Lead::lose(SessionId id, Session& session) {
  session.live = false;
  session.ready = false;
  session.assign = {session.assign.order, 0, 0, {}, {}, {}};
  lost_workers_ += session.said_goodbye ? 0 : 1;
  work_.lose(id);
  board_.lose(id);
  if (std::erase(joined_, id) > 0) {
    members_changed();
  }
}

void Lead::members_changed() {
  if (phase_ != Phase::training && phase_ != Phase::evaluating) {
    return;
  }
  if (!joined_.empty()) {
    // Steps that are open now go on with the ranges they have; what nobody brings is handed out from the reports.
    work_.divide(joined_, std::min(work_.open() + 2, barrier_));
  }
  hand_out();
}

std::vector<SessionId> Lead::ready_sessions() const { return joined_; }

void Lead::send_assignment(SessionId id, Session& session, bool even_unchanged) {
  if (!session.live) {
    return;
  }
  Assign assign;
  assign.order = session.assign.order;
  assign.timeline = timeline_;
  if (session.ready && phase_ >= Phase::training && !is_over()) {
    assign.generation = work_.generation();
    assign.standing = work_.standing(id, barrier_);
    if (phase_ == Phase::training) {
      assign.extra = work_.extra(id);
    } else if (phase_ == Phase::evaluating) {
      assign.evaluation = board_.held_by(id);
    }
    if (!(assign == session.assign)) {
      ++assign.order;
      session.assign = assign;
      even_unchanged = true;
    }
  }
  if (even_unchanged) {
    emit(SendToWorker{id, std::move(assign)});
  }
}

// ---- time and endings

void Lead::on(const Tick& event) {
  const auto slept = event.now - now_;
  now_ = event.now;
  forgive_sleep(slept);
  if (is_over()) {
    return leave_when_told();
  }
  check_silence();
  if (!is_over()) {
    hand_out();
  }
}

void Lead::forgive_sleep(Micros slept) {
  // Time in which the lead itself did not run is nobody's silence: what they said meanwhile is still to be read.
  if (slept <= std::min(config_.worker_silence.floor, config_.shard_silence.floor) / 2) {
    return;
  }
  for (auto& [id, session] : sessions_) {
    session.heard_at += slept;
  }
  for (auto& [id, lane] : lanes_) {
    lane.heard_at += slept;
  }
  over_since_ += slept;
}

void Lead::check_silence() {
  for (auto& [id, session] : sessions_) {
    if (session.live && now_ - session.heard_at > session.silence.deadline()) {
      lose(id, session);
    }
  }
  if (phase_ == Phase::assembling) {
    return;
  }
  for (const auto& [id, lane] : lanes_) {
    const auto silent = now_ - lane.heard_at;
    if (silent > lane.silence.deadline()) {
      return fail("shard " + number(id.shard) + " (lane " + number(id.lane) + ") has not been heard of for " +
                  number(silent / 1000) + " ms, at step " + number(work_.open()) +
                  "; recovery is not built yet, so the run ends");
    }
  }
}

void Lead::fail(std::string reason) {
  phase_ = Phase::failed;
  failure_ = std::move(reason);
  finish_everyone();
}

void Lead::finish_everyone() {
  over_since_ = now_;
  for (const auto& [id, lane] : lanes_) {
    emit(SendToLane{id, lane.incarnation, Finish{timeline_, work_.open(), failure_}});
  }
  for (const auto& [id, session] : sessions_) {
    if (session.live) {
      emit(SendToWorker{id, Finish{timeline_, work_.open(), failure_}});
    }
  }
}

void Lead::leave_when_told() {
  const bool all_left =
      std::all_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane.second.left; }) &&
      std::none_of(sessions_.begin(), sessions_.end(), [](const auto& session) { return session.second.live; });
  if ((all_left || now_ - over_since_ >= config_.linger) && !std::exchange(stopped_, true)) {
    emit(Stop{failure_});
  }
}

Status Lead::status() const {
  static constexpr const char* kNames[] = {"assembling", "assembling", "assembling", "waiting",  "training",
                                           "evaluating", "finishing",  "finishing",  "finished", "failed"};
  Status status;
  status.phase = kNames[static_cast<std::size_t>(phase_)];
  status.failure = failure_;
  status.timeline = timeline_;
  status.step = work_.open();
  status.steps = config_.steps;
  status.epoch = epochs_;
  status.training = training_ != 0 ? training_ : (phase_ >= Phase::training ? now_ - began_at_ : 0);
  status.examples = examples_;
  status.train_loss = has_epoch_loss_ ? train_loss_ : (epoch_examples_ > 0 ? epoch_loss_ / epoch_examples_ : 0);
  double recent = 0;
  double recent_examples = 0;
  for (const auto& step : recent_) {
    recent += static_cast<double>(step.loss) * static_cast<double>(step.examples);
    recent_examples += static_cast<double>(step.examples);
  }
  status.recent_loss = recent_examples > 0 ? recent / recent_examples : 0;
  status.test_loss = test_.loss;
  status.test_accuracy = test_.accuracy;
  status.evaluated = evaluated_;
  status.lost_workers = lost_workers_;
  status.backups = work_.backups();
  std::map<SessionId, std::uint64_t> slots;
  for (const auto& [id, lane] : lanes_) {
    status.duplicates += lane.report.duplicates;
    status.superseded += lane.report.superseded;
    for (const auto& entry : lane.report.slots_by_session) {
      slots[entry.session] += entry.slots;
    }
  }
  for (const auto& [id, session] : sessions_) {
    status.sessions.push_back(
        {id, session.name, session.live, session.beat.step, slots[id], session.beat.fingerprint, session.beat.phases});
  }
  return status;
}

}  // namespace ballast
