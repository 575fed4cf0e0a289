#include "tests/simulation/judge/provenance.h"

#include <algorithm>
#include <string_view>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

void ProvenanceJudge::worker_starts(SessionId session, const std::string& name, const LifeWorker& worker) {
  workers_[session] = worker;
  workers_by_name_[name] = worker;
}

void ProvenanceJudge::server_starts(std::uint32_t shard, Incarnation incarnation, const std::string& weights) {
  servers_[incarnation] = {shard, weights};
}

void ProvenanceJudge::taken(Incarnation incarnation) {
  const auto& server = servers_.at(incarnation);
  told_[server.shard] = server.weights;
}

// Against what the job file says, and what is durable now.
std::string ProvenanceJudge::why_unfit(const LifeWorker& worker) const {
  const auto& data = life_.data_digest.empty() ? durable_.data.value : life_.data_digest;
  if (!data.empty() && worker.data != data) {
    return "its data are " + worker.data + ", the job's are " + data;
  }
  if (life_.exact && !durable_.arithmetics.empty() && worker.arithmetic != durable_.arithmetics.front().value) {
    return "its arithmetic is " + worker.arithmetic + ", the job's is " + durable_.arithmetics.front().value;
  }
  return {};
}

void ProvenanceJudge::refused(SessionId session) const {
  require(!why_unfit(workers_.at(session)).empty(), "a worker is refused for what nothing durable says");
}

const std::string& ProvenanceJudge::refused_weights(Incarnation incarnation) const {
  const auto& server = servers_.at(incarnation);
  require(!server.weights.empty(), "a server is refused for initial weights that it has not read");
  const auto& jobs = durable_.initial_weights.value;
  const auto tells_others = [&](const auto& told) {
    return told.first != server.shard && !told.second.empty() && told.second != server.weights;
  };
  require(jobs.empty() ? std::any_of(told_.begin(), told_.end(), tells_others) : jobs != server.weights,
          "a server is refused for its initial weights, and neither the ledger nor another shard names others");
  return server.weights;
}

void ProvenanceJudge::works(SessionId session) const {
  const auto& worker = workers_.at(session);
  if (const auto why = why_unfit(worker); !why.empty()) {
    throw Violation("session " + std::to_string(session) + " works for a job that it does not fit: " + why);
  }
  require(!durable_.data.value.empty(), "work is done before it is durable by whose data");
  const auto& kinds = durable_.arithmetics;
  require(std::any_of(kinds.begin(), kinds.end(), [&](const Told& kind) { return kind.value == worker.arithmetic; }),
          "work is done by an arithmetic that the durable ledger does not name");
}

// What is durable stays, and names who brought it.
void ProvenanceJudge::ledger_durable(const Ledger& ledger) {
  check_workers(ledger.provenance);
  check_weights(ledger);
  durable_ = ledger.provenance;
}

const LifeWorker* ProvenanceJudge::bearer(const Told& told) const {
  static constexpr std::string_view kWord = "worker ";
  if (!told.by.starts_with(kWord)) {
    return nullptr;
  }
  const auto known = workers_by_name_.find(told.by.substr(kWord.size()));
  return known == workers_by_name_.end() ? nullptr : &known->second;
}

void ProvenanceJudge::check_workers(const Provenance& now) const {
  const auto& before = durable_;
  require(before.data.value.empty() || before.data == now.data, "the digest that counts changes");
  require(before.arithmetics.size() <= now.arithmetics.size() &&
              std::equal(before.arithmetics.begin(), before.arithmetics.end(), now.arithmetics.begin()),
          "a kind of arithmetic that has worked is forgotten");
  for (const auto& kind : now.arithmetics) {
    const auto* worker = bearer(kind);
    require(worker != nullptr && worker->arithmetic == kind.value, "an arithmetic is named with a worker of another");
  }
  if (!now.data.value.empty() && life_.data_digest.empty()) {
    const auto* worker = bearer(now.data);
    require(worker != nullptr && worker->data == now.data.value, "a digest is named with a worker of other data");
  }
}

// The servers of a timeline have read the same initial weights, those of the first one.
void ProvenanceJudge::check_weights(const Ledger& ledger) const {
  const auto& now = ledger.provenance.initial_weights;
  require(durable_.initial_weights.value.empty() || durable_.initial_weights == now, "the initial weights change");
  bool has_bearer = now.value.empty() || durable_.initial_weights == now;
  for (const auto incarnation : ledger.incarnations) {
    const auto& server = servers_.at(incarnation);
    require(server.weights.empty() || server.weights == now.value,
            "a timeline lists a server with other initial weights than those that its ledger names");
    has_bearer = has_bearer || (server.weights == now.value && now.by == "shard " + std::to_string(server.shard));
  }
  require(has_bearer, "initial weights are named with a shard that has not read them");
}

}  // namespace ballast::simulation
