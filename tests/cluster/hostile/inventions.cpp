// Values that nobody computed: roots, and results of evaluations.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "common/job/evaluation_metrics.h"
#include "common/job/load.h"
#include "common/job/steps.h"
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

bool push_root(Victim& victim, const Chunk& chunk, Step step, Slot slots) {
  const Push push{victim.timeline, step, chunk.id, {0, slots}, false, kNoSlot, {}};
  victim.probe.send(Frames{encoded(push), Bytes(chunk.bytes())});
  const auto answer = victim.probe.any();
  if (!answer) {
    throw std::runtime_error("a lane does not answer a push");
  }
  if (const auto* refused = std::get_if<Refused>(&*answer)) {
    std::printf("push refused: %s\n", refused->text.c_str());
    return false;
  }
  const auto* receipt = std::get_if<Receipt>(&*answer);
  const bool counts = receipt != nullptr && receipt->outcome == ReceiptOutcome::accepted;
  std::printf("root of step %llu, chunk %u: %s\n", static_cast<unsigned long long>(step), chunk.id,
              counts ? "taken" : "not taken");
  return true;
}

// All wrong answers.
EvaluationResult wrong_result(const Job& job, Timeline timeline, const Evaluation& of) {
  const auto rules = metric_rules(job.spec.model, job.shape);
  return {timeline,
          of.split,
          of.item,
          of.version,
          1e6,
          0,
          of.end - of.begin,
          std::vector<std::uint64_t>(rules.counts()),
          std::vector<double>(rules.sums())};
}

// Of the first item of every version that may be evaluated.
void send_results(Probe& lead, const Job& job, Timeline timeline) {
  constexpr std::uint64_t kExamplesOfItem = 500;
  const auto sizes = split_sizes(job.spec.data);
  const auto every = job.steps.steps_per_epoch * job.spec.training.evaluate_every_epochs;
  for (Step step = every;; step += every) {
    const auto version = std::min<Step>(step, job.steps.steps);
    for (const auto split : {Split::validation, Split::test}) {
      const auto all = split == Split::test ? sizes.test : sizes.validation;
      const auto examples = static_cast<std::uint32_t>(std::min<std::uint64_t>(all, kExamplesOfItem));
      lead.send(wrong_result(job, timeline, {split, 0, version, 0, examples}));
    }
    if (version == job.steps.steps) {
      return;
    }
  }
}

}  // namespace

void push_roots(zmq::context_t& context, const std::string& lead, SessionId session, Step roots) {
  Probe probe(context, lead, session_routing_id(session));
  const auto welcome = welcome_from(probe);
  if (!welcome) {
    return;
  }
  const auto job = make_job(parse_job(welcome->job, "the lead's job"));
  auto victims = victims_of(context, job, *welcome, session);
  if (!std::ranges::all_of(victims, [&](Victim& victim) { return greet(victim, job); })) {
    return;
  }
  for (Step i = 0; i < roots; ++i) {
    for (auto& victim : victims) {
      for (const auto& chunk : victim.chunks) {
        if (!push_root(victim, chunk, version_of(victim, chunk.id), job.spec.training.slots)) {
          return;
        }
      }
    }
  }
}

void flood_results(zmq::context_t& context, const std::string& lead, double seconds) {
  Probe probe(context, lead, session_routing_id(70));
  const auto welcome = welcome_from(probe);
  if (!welcome) {
    return;
  }
  const auto job = make_job(parse_job(welcome->job, "the lead's job"));
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < until) {
    send_results(probe, job, welcome->timeline);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::printf("sent\n");
}

}  // namespace ballast::hostile
