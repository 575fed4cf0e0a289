// Whether a worker or a shard fits a job whose bits are to be the same whoever computes them: its data, its initial
// weights and its arithmetic against what the job rests on.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/ledger.h"

namespace ballast {

// What the job file says of it.
struct ProvenanceRules {
  std::string data_digest;  // that counts; empty: the first ready worker's does
  bool exact = false;       // another arithmetic than the first worker's is refused, too
};

// What a ready worker tells of itself.
struct WorkerBits {
  std::string name;
  std::string data_digest;
  std::string fingerprint;
};

// All of them are pure. A reason is a sentence for people that names both sides and the remedy; empty: there is none.

// Why the worker must be given no work of a job that rests on `known`.
std::string why_refused(const Provenance& known, const ProvenanceRules& rules, const WorkerBits& worker);
// What the job rests on once this worker, which is not refused, is given work. Of more than kMaxArithmetics kinds the
// later ones are not named.
Provenance with_worker(Provenance known, const ProvenanceRules& rules, const WorkerBits& worker);
// Why the shard, which has read initial weights of this digest, must not be a part of the job. `others` is what the
// job's record says, or what another shard told if there is no record yet.
std::string why_refused(const Told& others, std::uint32_t shard, const std::string& initial_weights);
// Why a job that rests on `known` cannot go on by these rules.
std::string why_contradicted(const Provenance& known, const ProvenanceRules& rules);

}  // namespace ballast
