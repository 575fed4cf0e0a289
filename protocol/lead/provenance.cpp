#include "protocol/lead/provenance.h"

#include <algorithm>
#include <utility>

namespace ballast {

namespace {

constexpr const char* kJobFile = "data.digest of the job file";

// The digest that counts.
Told data_of(const Provenance& known, const ProvenanceRules& rules) {
  return rules.data_digest.empty() ? known.data : Told{rules.data_digest, kJobFile};
}

std::string text(const Told& told) { return told.value + " (" + told.by + ")"; }

}  // namespace

std::string why_refused(const Provenance& known, const ProvenanceRules& rules, const WorkerBits& worker) {
  const auto data = data_of(known, rules);
  if (!data.value.empty() && worker.data_digest != data.value) {
    return "worker " + worker.name + " has other data than the job: their digest is " +
           (worker.data_digest.empty() ? "missing" : worker.data_digest) + ", the job's is " + text(data) +
           "; give this worker the same files and the same version of Ballast. If it is the other one that is wrong, "
           "begin a new run, with data.digest in its job file";
  }
  if (rules.exact && !known.arithmetics.empty() && worker.fingerprint != known.arithmetics.front().value) {
    return "worker " + worker.name + " computes with other arithmetic than the job: its fingerprint is " +
           worker.fingerprint + ", the job's is " + text(known.arithmetics.front()) +
           ", and training.exact: required allows no other; run it on the same kind of processor or GPU with the same "
           "libraries, or let the job go on with training.exact=prefer";
  }
  return {};
}

Provenance with_worker(Provenance known, const ProvenanceRules& rules, const WorkerBits& worker) {
  if (known.data.value.empty()) {
    known.data = rules.data_digest.empty() ? Told{worker.data_digest, "worker " + worker.name} : data_of(known, rules);
  }
  const bool is_known = std::any_of(known.arithmetics.begin(), known.arithmetics.end(),
                                    [&](const Told& kind) { return kind.value == worker.fingerprint; });
  if (!is_known && known.arithmetics.size() < kMaxArithmetics) {
    known.arithmetics.push_back({worker.fingerprint, "worker " + worker.name});
  }
  return known;
}

std::string why_refused(const Told& others, std::uint32_t shard, const std::string& initial_weights) {
  if (others.value.empty() || initial_weights.empty() || initial_weights == others.value) {
    return {};
  }
  return "shard " + std::to_string(shard) +
         " has read other initial weights than the job's: the digest of its file's " + "tensors is " + initial_weights +
         ", the job's is " + text(others) + "; give every server the same file as training.init_from";
}

std::string why_contradicted(const Provenance& known, const ProvenanceRules& rules) {
  if (rules.data_digest.empty() || known.data.value.empty() || rules.data_digest == known.data.value) {
    return {};
  }
  return "data.digest of the job file is " + rules.data_digest + ", but the job has trained on data of digest " +
         text(known.data) + "; go on with that one, or begin a new run";
}

}  // namespace ballast
