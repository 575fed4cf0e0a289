// What only trust prevents, beside invented values of open work (inventions.cpp): docs/security-messages.md.
#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <thread>

#include "common/job/evaluation_metrics.h"
#include "common/job/load.h"
#include "common/net/peer.h"
#include "tests/cluster/hostile/greeting.h"
#include "tests/cluster/hostile/hostile.h"

namespace ballast::hostile {

using malformed::Bytes;
using malformed::encoded;
using malformed::Frames;
using malformed::Probe;

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBeat = std::chrono::milliseconds(20);

Version newest_of(Victim& victim, ChunkId chunk) {
  victim.probe.send(Pull{victim.timeline, kNewestVersion, {chunk}});
  const auto weights = victim.probe.answer<Weights>();
  if (!weights) {
    throw std::runtime_error("a lane does not give weights");
  }
  return weights->version;
}

}  // namespace

void answer_evaluations(zmq::context_t& context, const std::string& lead, const std::string& fingerprint,
                        const std::string& data_digest, double seconds) {
  Probe probe(context, lead, session_routing_id(71));
  const auto welcome = welcome_from(probe);
  if (!welcome) {
    return;
  }
  const auto job = make_job(parse_job(welcome->job, "the lead's job"));
  const auto rules = metric_rules(job.spec.model, job.shape);
  Heartbeat beat;
  beat.timeline = welcome->timeline;
  beat.ready = true;
  beat.idle = true;
  beat.fingerprint = fingerprint;
  beat.data_digest = data_digest;
  beat.placement = welcome->placement;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  std::optional<Evaluation> answered;
  while (Clock::now() < until) {
    probe.send(beat);  // of no order: so it is told its order again each time
    const auto assign = probe.answer<Assign>();
    if (!assign) {
      return;  // the lead is gone
    }
    if (const auto& item = assign->evaluation; item && item != answered) {
      answered = item;
      const std::uint64_t examples = item->end - item->begin;
      probe.send(EvaluationResult{assign->timeline, item->split, item->item, item->version, 1e6, 0, examples,
                                  std::vector<std::uint64_t>(rules.counts()), std::vector<double>(rules.sums())});
      std::printf("answered for examples %u to %u\n", item->begin, item->end);
      std::fflush(stdout);
    }
    std::this_thread::sleep_for(kBeat);
  }
}

void push_mark(zmq::context_t& context, const std::string& lead, SessionId session) {
  constexpr ItemId kAhead = 200;
  Probe probe(context, lead, session_routing_id(session));
  const auto welcome = welcome_from(probe);
  if (!welcome) {
    return;
  }
  const auto job = make_job(parse_job(welcome->job, "the lead's job"));
  auto victims = victims_of(context, job, *welcome, session);
  auto& victim = victims.front();
  if (!greet(victim, job)) {
    return;
  }
  const auto& chunk = victim.chunks.front();
  const auto version = newest_of(victim, chunk.id);
  const auto slots = job.spec.training.slots;
  for (ItemId item = version; item < version + kAhead; ++item) {
    const auto slot = static_cast<Slot>(item % slots);
    Push push{victim.timeline, item / slots, chunk.id, {slot, slot + 1}, false, kNoSlot, {}};
    push.items = {version, {}, {{0, 4711, 1}}};
    victim.probe.send(Frames{encoded(push), Bytes(chunk.bytes())});
    const auto answer = victim.probe.any();
    const auto* receipt = answer ? std::get_if<Receipt>(&*answer) : nullptr;
    if (receipt != nullptr && receipt->outcome == ReceiptOutcome::accepted) {
      std::printf("taken: item %llu\n", static_cast<unsigned long long>(item));
      return;
    }
    if (answer && std::holds_alternative<Stale>(*answer)) {
      std::printf("taken back at item %llu\n", static_cast<unsigned long long>(item));
      return;
    }
  }
  std::printf("not taken\n");
}

}  // namespace ballast::hostile
