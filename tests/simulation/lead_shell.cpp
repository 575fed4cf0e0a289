#include <utility>

#include "tests/simulation/shells.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

LeadConfig lead_config(Cluster& cluster) {
  const auto& life = cluster.life();
  LeadConfig config;
  config.life = cluster.random().next();
  config.shards = life.shards;
  config.lanes = life.lanes;
  config.slots = life.slots;
  config.steps = life.steps;
  config.steps_per_epoch = life.steps_per_epoch;
  config.evaluate_every = life.evaluate_every;
  config.validation_examples = life.validation_examples;
  config.test_examples = life.test_examples;
  config.evaluation_item = life.evaluation_item;
  config.early_stop_patience = life.early_stop_patience;
  config.early_stop_delta = life.early_stop_delta;
  config.keep_best = life.keep_best;
  config.snapshot_every = life.snapshot_every;
  config.snapshots_kept = life.snapshots_kept;
  config.run = config.life | 1U;
  if (life.copies) {
    config.copies = CopyRules{1, life.copy_patience};
  }
  config.start_workers = life.start_workers;
  config.job = "job";
  config.spec_digest = "spec";
  config.layout_digest = "layout";
  config.factors = factors;
  config.decisions.non_finite = cluster.non_finite();
  config.decisions.norms = life.norms;
  config.decisions.norm_count = life.norm_count;
  config.decisions.scale = norm_scale;
  config.decisions.chunks = static_cast<std::uint32_t>(life.chunks.size());
  config.parameter_name = [](std::uint32_t parameter) { return "parameter " + std::to_string(parameter); };
  config.provenance = {life.data_digest, life.exact};
  config.memory = cluster.stored_ledger().memory(life.steps_per_epoch);
  config.plan_ahead = life.plan_ahead;
  config.worker_silence = life.worker_silence;
  config.shard_silence = life.shard_silence;
  config.late = life.late;
  config.patience = life.patience;
  config.stop_patience = life.stop_patience;
  config.hold_again = life.hold_again;
  config.write_statistics_every = life.write_statistics_every;
  config.linger = life.linger;
  if (life.items) {
    config.items = ItemMode{life.items->bound, life.items->ahead, life.journaled()};
    config.decisions.non_finite = NonFinite::halt;  // skipping is the lanes' business
  }
  return config;
}

}  // namespace

LeadShell::LeadShell(Cluster& cluster, ProcessId id)
    : Process(cluster, id, "lead"), core_(lead_config(cluster)), state_(core_.phase()) {}

void LeadShell::tick() {
  const auto now = clock();
  cluster_.judge().lead_ticks(now);
  step(lead::Tick{now});
}

void LeadShell::receive(ProcessId from, const Message& message, const std::optional<Payload>& /*payload*/) {
  if (const auto* lane = cluster_.lane_life(from)) {
    cluster_.judge().heard(*lane, cluster_.now());
    return receive_from_lane(*lane, message);
  }
  if (std::holds_alternative<WorkerHello>(message)) {
    cluster_.judge().said_hello(from);
  }
  step(lead::FromWorker{from, &message});
}

void LeadShell::receive_from_lane(const LaneLife& lane, const Message& message) {
  refusals_ = 0;
  step(lead::FromLane{cluster_.lane_name(lane.lane), lane.incarnation, &message});
  if (std::holds_alternative<ShardHello>(message) && refusals_ == 0 && core_.phase() < Lead::Phase::finished) {
    cluster_.judge().taken(lane);
  }
}

void LeadShell::receive_command(Control::Command command) { step(lead::FromClient{command}); }

void LeadShell::receive_strange(SessionId session, const Message& message) {
  refusals_ = 0;
  step(lead::FromWorker{session, &message});
  require(!alive() || refusals_ == 1, "the lead does not refuse a stranger's message");
}

bool LeadShell::believes_in(SessionId session) const {
  for (const auto& known : core_.status().sessions) {
    if (known.session == session) {
      return known.live;
    }
  }
  return false;
}

void LeadShell::step(const lead::Event& event) {
  const auto timeline = core_.timeline();
  const auto before = core_.phase();
  auto actions = core_.step(event);
  if (core_.timeline() > timeline) {
    cluster_.judge().timeline_wanted();
  }
  state_.move(cluster_.facts().lead, core_.phase());
  judge_phase(before);
  for (auto& action : actions) {
    std::visit([this](auto& body) { act(body); }, action);
    if (burns_down()) {
      cluster_.crash_lead();
    }
    if (crashed()) {
      return;
    }
  }
}

void LeadShell::judge_phase(Lead::Phase before) const {
  auto& judge = cluster_.judge();
  judge.lead_stands(before, core_.phase());
  if (core_.phase() == Lead::Phase::stopped && before != Lead::Phase::stopped) {
    judge.stopped(before, core_.status(), cluster_.now(), cluster_.facts().has(Fact::copy_failed));
  }
}

void LeadShell::act(lead::SendToWorker& action) {
  if (action.session >= kFirstStranger) {
    require(std::holds_alternative<Refused>(action.message), "the lead takes a stranger for a worker");
    ++refusals_;
    return;
  }
  if (const auto* assign = std::get_if<Assign>(&action.message)) {
    cluster_.judge().assigned(action.session, *assign);
  } else if (const auto* refused = std::get_if<Refused>(&action.message)) {
    if (refused->code == RefusalCode::wrong_bits) {
      cluster_.judge().refused(action.session);
    } else {
      require(refused->code == RefusalCode::unknown_session, "the lead refuses an honest worker");
    }
  }
  if (const auto* finish = std::get_if<Finish>(&action.message);
      finish != nullptr && finish->ending == Ending::finished) {
    cluster_.judge().said_finished(*finish);
  }
  cluster_.send(*this, static_cast<ProcessId>(action.session), std::move(action.message));
}

void LeadShell::act(lead::SendToLane& action) {
  auto& judge = cluster_.judge();
  const auto to = cluster_.lane_id(action.lane.shard * cluster_.life().lanes + action.lane.lane, action.incarnation);
  if (const auto* plan = std::get_if<Plan>(&action.message)) {
    judge.planned(*plan);
  } else if (const auto* confirm = std::get_if<Confirm>(&action.message)) {
    require(confirm->incarnation == action.incarnation, "a confirmation is addressed to another life than it names");
    judge.confirmed(action.lane.shard, *confirm);
  } else if (const auto* finish = std::get_if<Finish>(&action.message)) {
    if (finish->ending == Ending::finished) {
      judge.said_finished(*finish);
    }
  } else if (const auto* refused = std::get_if<Refused>(&action.message)) {
    const bool asks_again = refused->code == RefusalCode::unknown_session || refused->code == RefusalCode::not_serving;
    refusals_ += asks_again ? 0 : 1;
    if (refused->code == RefusalCode::not_taken) {
      cluster_.turned_away(to, refused->text);
    } else if (refused->code == RefusalCode::wrong_bits) {
      cluster_.refused_weights(to);
    } else {
      require(asks_again || !cluster_.is_alive(to), "the lead refuses a living shard of its own job");
    }
  }
  cluster_.send(*this, to, std::move(action.message));
}

void LeadShell::act(lead::WriteLedger& action) {
  require(!std::exchange(writing_, true), "the lead writes two changes of its ledger at once");
  cluster_.judge().ledger_given();
  cluster_.later(*this, cluster_.some(cluster_.life().storage_high), [this, change = action.change] {
    auto& stored = cluster_.stored_ledger();
    const bool takes_back = change.ledger.rollbacks > stored.ledger.rollbacks;
    stored.apply(change);
    cluster_.take_listed(stored.ledger);
    if (takes_back) {
      cluster_.has_work_again();
    }
    if (cluster_.traces()) {
      cluster_.say("lead's ledger: " + words(change));
    }
    cluster_.judge().ledger_durable(stored, cluster_.now());
    cluster_.later(*this, cluster_.some(cluster_.life().storage_high / 4), [this] {
      writing_ = false;
      step(lead::LedgerWritten{});
    });
  });
}

void LeadShell::act(lead::Stop& action) { end(action.failure); }

}  // namespace ballast::simulation
