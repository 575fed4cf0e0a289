#include "tests/simulation/lead_shell.h"

#include <utility>

#include "tests/simulation/judge/violation.h"
#include "tests/simulation/strangers.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

LeadConfig lead_config(const World& world, std::uint64_t claim) {
  const auto& life = world.life;
  LeadConfig config;
  config.life = world.disks.present[0].life.count + 1;  // its shard starts with it
  config.claim = claim;
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
  config.best_by = life.best_by;
  config.metrics = kMetrics;
  config.snapshot_every = world.snapshot_every;
  config.snapshots_kept = life.snapshots_kept;
  config.run = life.restores ? kNamedRun : claim | 1U;
  if (life.copies) {
    config.copies = CopyRules{1, life.copy_patience, life.restores};
  }
  config.start_workers = life.start_workers;
  config.job = "job";
  config.spec_digest = "spec";
  config.layout_digest = "layout";
  config.factors = factors;
  config.decisions.non_finite = world.non_finite;
  config.decisions.norms = life.norms;
  config.decisions.norm_count = life.norm_count;
  config.decisions.scales = [norms_for = life.norms_for](const std::vector<double>& sums) {
    return scales(norms_for, sums);
  };
  config.decisions.of_updates = life.norms_for == LifeNorms::lamb;
  config.decisions.of_gradients = !life.has_trust_ratios();
  config.decisions.chunks = static_cast<std::uint32_t>(life.chunks.size());
  config.parameter_name = [](std::uint32_t parameter) { return "parameter " + std::to_string(parameter); };
  config.provenance = {life.data_digest, life.exact};
  config.memory = world.ledger.memory(life.steps_per_epoch, life.restores);
  config.plan_ahead = life.plan_ahead;
  config.worker_silence = life.worker_silence;
  config.shard_silence = life.shard_silence;
  config.late = life.late;
  config.shares.by_speed = life.by_speed;
  config.shares.redistributes = life.redistributes;
  config.shares.floors = life.share_floors;
  config.shares.step.bytes = 0;
  for (const auto& chunk : life.chunks) {
    config.shares.step.bytes += chunk.bytes;
  }
  config.shares.step.chunks = static_cast<std::uint32_t>(life.chunks.size());
  config.shares.late = life.late.initial;
  config.suspect_after = life.suspect_after;
  config.probe_after = life.probe_after;
  config.torn_after = life.torn_after;
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

LeadShell::LeadShell(World& world, ProcessId id, std::uint64_t claim)
    : Process(id, "lead"), core_(lead_config(world, claim)), state_(core_.phase()) {}

void LeadShell::tick(Host& host, Micros clock) {
  host.judge().lead_ticks(clock);
  hear(host, lead::Tick{clock});
}

void LeadShell::receive(Host& host, ProcessId from, const Message& message, const std::optional<Payload>& /*payload*/) {
  if (const auto* lane = host.lane_life(from)) {
    host.judge().heard(*lane, host.now());
    return receive_from_lane(host, *lane, message);
  }
  if (std::holds_alternative<WorkerHello>(message)) {
    host.judge().said_hello(from);
  }
  // What is of another timeline the lead does not take.
  if (const auto* beat = std::get_if<Heartbeat>(&message); beat != nullptr && beat->timeline == core_.timeline()) {
    host.judge().said_progress(from, *beat);
    if (host.life().items) {
      host.judge().items().settled(beat->delivered);
      host.judge().items().settled(beat->dropped);
    }
  }
  hear(host, lead::FromWorker{from, &message});
}

void LeadShell::receive_from_lane(Host& host, const LaneLife& lane, const Message& message) {
  if (const auto* report = std::get_if<LaneReport>(&message)) {
    host.judge().lead_hears(lane.lane, *report);
  }
  const lead::FromLane event{
      {lane.lane / host.life().lanes, lane.lane % host.life().lanes}, lane.incarnation, &message};
  if (!std::holds_alternative<ShardHello>(message)) {
    host.facts().note(Fact::reported_twice, !reported_.insert(lane.lane).second);
    return hear(host, event);
  }
  refusals_ = 0;
  step(host, event);
  if (refusals_ == 0 && core_.phase() < Lead::Phase::finished) {
    host.judge().taken(lane);
  }
}

void LeadShell::receive_command(Host& host, Control::Command command) { hear(host, lead::FromClient{command}); }

void LeadShell::receive_strange(Host& host, SessionId session, const Message& message) {
  refusals_ = 0;
  step(host, lead::FromWorker{session, &message});
  require(!alive() || refusals_ == 1, "the lead does not refuse a stranger's message");
}

// They say hello like a worker; what they say of themselves otherwise is nothing.
void LeadShell::receive_false_results(Host& host, SessionId session) {
  if (core_.phase() != Lead::Phase::evaluating || !evaluated_) {
    return;
  }
  host.facts().note(Fact::false_results);
  const Message hello = WorkerHello{"impostor"};
  step(host, lead::FromWorker{session, &hello});
  for (std::uint32_t item = 0; item < 4 && !crashed(); ++item) {
    auto of_item = *evaluated_;
    of_item.item = item;
    of_item.begin = item * host.life().evaluation_item;
    const auto examples = of_item.split == Split::test ? host.life().test_examples : host.life().validation_examples;
    of_item.end = std::min(examples, of_item.begin + host.life().evaluation_item);
    if (of_item.begin < of_item.end) {
      Message result = evaluate(of_item, ~Expression{0});
      std::get<EvaluationResult>(result).timeline = core_.timeline();
      step(host, lead::FromWorker{session, &result});
    }
  }
}

bool LeadShell::believes_in(SessionId session) const {
  for (const auto& known : core_.status().sessions) {
    if (known.session == session) {
      return known.live;
    }
  }
  return false;
}

template <typename Call>
void LeadShell::observed(Host& host, const Call& call) {
  const auto timeline = core_.timeline();
  const auto before = core_.phase();
  call();
  if (core_.timeline() > timeline) {
    host.judge().timeline_wanted(host.disks());
  }
  state_.move(host.facts().lead, core_.phase());
  judge_phase(host, before);
}

void LeadShell::hear(Host& host, const lead::Event& event) {
  if (host.life().lead_turn == 0) {
    return step(host, event);
  }
  observed(host, [&] { core_.hear(event); });
  if (!std::exchange(in_turn_, true)) {
    host.later(id(), within(host.life().lead_turn), LeadPending{LeadSettles{}});
  }
}

void LeadShell::step(Host& host, const lead::Event& event) {
  observed(host, [&] { core_.hear(event); });
  settle(host);
}

void LeadShell::done(Host& host, const LeadSettles& /*what*/) {
  in_turn_ = false;
  settle(host);
}

void LeadShell::settle(Host& host) {
  reported_.clear();
  lead::Actions actions;
  const auto before = core_.phase();
  observed(host, [&] { actions = core_.settle(); });
  const auto after = core_.phase();
  for (auto& action : actions) {
    std::visit([&](auto& body) { act(host, body); }, action);
    host.acted(id());
    if (crashed()) {
      return;
    }
  }
  host.judge().lead_settled(before, after);
}

void LeadShell::judge_phase(Host& host, Lead::Phase before) const {
  auto& judge = host.judge();
  judge.lead_stands(before, core_.phase());
  if (core_.phase() == Lead::Phase::stopped && before != Lead::Phase::stopped) {
    judge.stopped(before, core_.status(), host.now(), host.facts().has(Fact::copy_failed));
  }
}

// What a session that hangs has delivered before makes room for others, of which it brings none; then it gets no more.
void LeadShell::check_grants(Host& host, SessionId session, Timeline timeline) const {
  const auto in_vain = host.judge().items().granted_in_vain(session, timeline);
  require(in_vain <= 2 * host.life().items->ahead || host.was_disturbed(),
          "a session that hangs is granted one item after the other");
}

void LeadShell::act(Host& host, lead::SendToWorker& action) {
  if (action.session >= kFirstImpostor) {
    return;
  }
  if (action.session >= kFirstStranger) {
    require(std::holds_alternative<Refused>(action.message), "the lead takes a stranger for a worker");
    ++refusals_;
    return;
  }
  if (const auto* assign = std::get_if<Assign>(&action.message)) {
    host.judge().assigned(action.session, *assign);
    evaluated_ = assign->evaluation ? assign->evaluation : evaluated_;
    if (host.life().items) {
      check_grants(host, action.session, assign->timeline);
    }
  } else if (const auto* refused = std::get_if<Refused>(&action.message)) {
    if (refused->code == RefusalCode::wrong_bits) {
      host.judge().refused(action.session);
    } else {
      require(refused->code == RefusalCode::unknown_session, "the lead refuses an honest worker");
    }
  }
  if (const auto* finish = std::get_if<Finish>(&action.message);
      finish != nullptr && finish->ending == Ending::finished) {
    host.judge().said_finished(*finish);
  }
  // A process that is gone is noticed at once, a machine that is gone is not: every other worker's is.
  if (!host.is_alive(static_cast<ProcessId>(action.session)) && action.session % 2 == 0) {
    host.later(id(), after(0), LeadPending{Unreached{action.session}});
  }
  host.send(*this, static_cast<ProcessId>(action.session), std::move(action.message));
}

void LeadShell::done(Host& host, const Unreached& what) { hear(host, lead::Unreachable{what.session}); }

void LeadShell::act(Host& host, lead::SendToLane& action) {
  auto& judge = host.judge();
  const auto to = host.lane_id(action.lane.shard * host.life().lanes + action.lane.lane, action.incarnation);
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
      host.turned_away(to, refused->text);
    } else if (refused->code == RefusalCode::wrong_bits) {
      host.refused_weights(to);
    } else {
      require(asks_again || !host.is_alive(to), "the lead refuses a living shard of its own job");
    }
  }
  host.send(*this, to, std::move(action.message));
}

void LeadShell::act(Host& host, lead::WriteLedger& action) {
  require(!std::exchange(writing_, true), "the lead writes two changes of its ledger at once");
  host.judge().ledger_given(action.change.ledger);
  host.later(id(), within(host.life().storage_high), LeadPending{LedgerWrite{action.change}});
}

void LeadShell::carry_out(Host& host, const LeadPending& what) {
  std::visit([&](const auto& each) { done(host, each); }, what);
}

void LeadShell::done(Host& host, const LedgerWrite& what) {
  auto& stored = host.world().ledger;
  const bool goes_back = stored.ledger.timeline > 0 && what.change.ledger.timeline > stored.ledger.timeline;
  stored.apply(what.change);
  host.ledger_written(goes_back);
  if (host.traces()) {
    host.say("lead's ledger: " + words(what.change));
  }
  host.judge().ledger_durable(host.disks(), host.world().copies, stored, host.now());
  host.later(id(), within(host.life().storage_high / 4), LeadPending{LedgerAnswer{}});
}

void LeadShell::done(Host& host, const LedgerAnswer& /*what*/) {
  writing_ = false;
  host.judge().ledger_heard();
  hear(host, lead::LedgerWritten{});
}

void LeadShell::act(Host& host, lead::Stop& action) { end(host, action.failure); }

}  // namespace ballast::simulation
