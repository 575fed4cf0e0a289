// Judges what the job's bits rest on beside its job file: the workers' data and arithmetic, and the weights that
// servers have read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Every method throws Violation.
class ProvenanceJudge {
 public:
  explicit ProvenanceJudge(const LifeSpec& life) : life_(life) {}

  void worker_starts(SessionId session, const std::string& name, const LifeWorker& worker);
  // A server with the digest of the initial weights that it has read; empty: it has read none.
  void server_starts(std::uint32_t shard, Incarnation incarnation, const std::string& weights);
  // A worker, by the lead.
  void refused(SessionId session) const;
  void lead_starts() { told_.clear(); }
  // The lead has heard a server's hello and refused nothing of it.
  void taken(Incarnation incarnation);
  // A server, by the lead. Returns the weights that it has read.
  const std::string& refused_weights(Incarnation incarnation) const;
  // Whether a server that has read these is to be refused.
  [[nodiscard]] bool is_unfit(const std::string& weights) const {
    return !weights.empty() && weights != durable_.initial_weights.value;
  }
  // The session's worker computes, or is given work.
  void works(SessionId session) const;
  void ledger_durable(const Ledger& ledger);

 private:
  struct Server {
    std::uint32_t shard = 0;
    std::string weights;
  };

  [[nodiscard]] std::string why_unfit(const LifeWorker& worker) const;
  [[nodiscard]] const LifeWorker* bearer(const Told& told) const;
  void check_workers(const Provenance& now) const;
  void check_weights(const Ledger& ledger) const;

  const LifeSpec& life_;
  Provenance durable_;
  std::map<SessionId, LifeWorker> workers_;
  std::map<std::string, LifeWorker> workers_by_name_;
  std::map<Incarnation, Server> servers_;
  std::map<std::uint32_t, std::string> told_;  // by the servers that the lead has taken last, by shard
};

}  // namespace ballast::simulation
