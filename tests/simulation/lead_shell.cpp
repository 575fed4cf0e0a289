#include "tests/simulation/shells.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

LeadConfig lead_config(const LifeSpec& life) {
  LeadConfig config;
  config.shards = life.shards;
  config.lanes = life.lanes;
  config.slots = life.slots;
  config.steps = life.steps;
  config.steps_per_epoch = life.steps_per_epoch;
  config.test_examples = life.test_examples;
  config.evaluation_item = life.evaluation_item;
  config.start_workers = life.start_workers;
  config.job = "job";
  config.spec_digest = "spec";
  config.layout_digest = "layout";
  config.factors = factors;
  config.plan_ahead = life.plan_ahead;
  config.worker_silence = life.worker_silence;
  config.shard_silence = life.shard_silence;
  config.late = life.late;
  config.linger = life.linger;
  return config;
}

}  // namespace

LeadShell::LeadShell(Cluster& cluster, ProcessId id)
    : Process(cluster, id, "lead"), core_(lead_config(cluster.life())) {}

void LeadShell::tick() { step(lead::Tick{clock()}); }

void LeadShell::receive(ProcessId from, const Message& message, const std::optional<Payload>& /*payload*/) {
  if (from > cluster_.life().all_lanes()) {
    return step(lead::FromWorker{from, &message});
  }
  step(lead::FromLane{cluster_.lane_name(from - 1), 1, &message});
}

void LeadShell::receive_strange(SessionId session, const Message& message) {
  refusals_ = 0;
  step(lead::FromWorker{session, &message});
  require(refusals_ == 1, "the lead does not refuse a stranger's message");
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
  for (auto& action : core_.step(event)) {
    std::visit([this](auto& body) { act(body); }, action);
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
    require(refused->code == RefusalCode::unknown_session, "the lead refuses an honest worker");
  }
  cluster_.send(*this, static_cast<ProcessId>(action.session), std::move(action.message));
}

void LeadShell::act(lead::SendToLane& action) {
  if (const auto* plan = std::get_if<Plan>(&action.message)) {
    cluster_.judge().planned(*plan);
  }
  require(!std::holds_alternative<Refused>(action.message), "the lead refuses a shard of its own job");
  cluster_.send(*this, cluster_.lane_id(action.lane.shard * cluster_.life().lanes + action.lane.lane),
                std::move(action.message));
}

void LeadShell::act(lead::WriteLedger& action) {
  cluster_.judge().recorded(action.record);
  if (cluster_.traces()) {
    cluster_.say(std::holds_alternative<lead::FinishedRecord>(action.record) ? "lead writes to the ledger: finished"
                                                                             : "lead writes to the ledger: timeline");
  }
  cluster_.later(*this, cluster_.some(cluster_.life().storage_high), [this] { step(lead::LedgerWritten{}); });
}

void LeadShell::act(lead::Stop& action) { end(action.failure); }

}  // namespace ballast::simulation
