// The lead's guard of the bits: a worker with other data is given no work, nor one with another arithmetic where the
// job asks for that, and shards have read the same initial weights.
#include <utility>

#include "protocol/lead/lead.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

namespace {

constexpr Micros kRefusalTold = 300'000'000;  // after the last one

}  // namespace

// A worker that is ready gets work as soon as what it brings is durable: if the lead dies, the next one must not let
// others in by other data.
void Lead::consider(SessionId id, LeadSession& session) {
  if (!session.live || session.ready || !session.beat.ready || timeline() == 0 || is_over()) {
    return;
  }
  const WorkerBits bits{session.name, session.beat.data_digest, session.beat.fingerprint};
  const auto& durable = book_.durable().provenance;
  const auto& current = book_.current().provenance;
  if (auto why = why_refused(durable, config_.provenance, bits); !why.empty()) {
    return refuse(id, std::move(why));
  }
  if (!why_refused(current, config_.provenance, bits).empty()) {
    return;  // until that is durable
  }
  if (auto wanted = with_worker(current, config_.provenance, bits); !(wanted == current)) {
    book_.edit().provenance = std::move(wanted);
  }
  if (!(with_worker(durable, config_.provenance, bits) == durable)) {
    return;
  }
  sessions_.join(id);
  if (session.beat.order != kNoLeadNumber) {
    course_.has_orders(id);
  }
  turn_.spoke_up.insert(id);
  turn_.stirred = true;
}

void Lead::consider_all() {
  for (auto& [id, session] : sessions_.all()) {
    consider(id, session);
  }
}

void Lead::refuse(SessionId id, std::string why) {
  emit(SendToWorker{id, Refused{RefusalCode::wrong_bits, why}});
  sessions_.refuse(id, std::move(why), now_);
  course_.lose(id);
}

// By the ledger once there is one; else by what another shard told. A life that takes the place of an earlier one of
// the same shard may have been given another file.
Told Lead::initial_weights_of_others(std::uint32_t shard) const {
  if (timeline() > 0) {
    return book_.current().provenance.initial_weights;
  }
  for (const auto& [id, lane] : shards_.lanes()) {
    if (id.shard != shard && !lane.initial_weights.empty()) {
      return {lane.initial_weights, "shard " + std::to_string(id.shard)};
    }
  }
  return {};
}

std::string Lead::bits_trouble() const {
  const auto& kinds = book_.durable().provenance.arithmetics;
  const LeadSession* other = nullptr;
  const LeadSession* refused = nullptr;
  std::uint64_t others = 0;
  for (const auto& [id, session] : sessions_.all()) {
    if (session.live && session.ready && session.beat.fingerprint != kinds.front().value) {
      other = &session;
      ++others;
    }
    if (!session.refusal.empty() && now_ - session.refused_at < kRefusalTold &&
        (refused == nullptr || session.refused_at > refused->refused_at)) {
      refused = &session;
    }
  }
  std::string text;
  if (other != nullptr) {
    text = "worker " + other->name + (others > 1 ? " (and " + std::to_string(others - 1) + " more)" : "") +
           " computes with " + other->beat.fingerprint + ", the job began with " + kinds.front().value + " (" +
           kinds.front().by + "): the final bits depend on who computed what (training.exact)";
  }
  if (refused != nullptr) {
    text += (text.empty() ? "" : "; ") + ("refused: " + refused->refusal);
  }
  return text;
}

}  // namespace ballast
