#include "server/lead_config.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/job/clip_norms.h"
#include "common/job/evaluation_metrics.h"
#include "common/job/schedule.h"
#include "common/job/shard_bytes.h"
#include "common/job/trust_ratios.h"
#include "common/net/random_id.h"
#include "server/copy_fetcher.h"

namespace ballast {

namespace {

// Statistics from the beginning of the epoch before the timeline's base on: what means over epochs can still ask for.
LeadMemory recall(const Job& job, const ShardStore& store, DiskRoom& room) {
  LeadMemory memory;
  auto content = value_or_throw(room.read([&] { return store.read_ledger(); }));
  memory.ledger = std::move(content.ledger);
  memory.evaluations = std::move(content.evaluations);
  const auto statistics = value_or_throw(room.read([&] { return store.read_statistics(0, job.steps.steps); }));
  const Step epoch = job.steps.steps_per_epoch;
  const Step base = memory.ledger.base.step;
  // A job that goes on from copies may have to go back further.
  const Step first = job.spec.durability.run.empty() ? base - base % epoch - std::min(base - base % epoch, epoch) : 0;
  for (const auto& step : statistics) {
    if (step.step < first) {
      memory.examples_before += static_cast<std::uint64_t>(step.examples);
    } else {
      memory.statistics.push_back(step);
    }
    memory.statistics_next = step.step + 1;
  }
  return memory;
}

// Plans reach far ahead, for each item needs a version of its own; a longer plan is no more work for anybody.
constexpr std::uint32_t kUpdatesAhead = 4096;

// A session with several grants computes one while the receipts of the one before are on their way. What is granted and
// not computed counts as stale already: where that is bounded, a second grant of a slow session uses up what the others
// could do meanwhile, so only a bound that is wide enough for one of a quarter of their speed allows it.
std::uint32_t grants_ahead(const JobSpec& spec) {
  constexpr std::uint32_t kMost = 4;
  if (spec.training.mode != Mode::ssp) {
    return kMost;
  }
  return std::clamp(spec.training.staleness.bound / (8 * spec.cluster.workers), 1U, kMost);
}

std::optional<ItemMode> item_mode(const JobSpec& spec) {
  if (!is_item_mode(spec.training.mode)) {
    return std::nullopt;
  }
  const auto bound = spec.training.mode == Mode::ssp ? spec.training.staleness.bound : 0;
  return ItemMode{bound, grants_ahead(spec), is_journaled(spec)};
}

void clip_by(ClipNorms norms, DecisionRules& rules) {
  rules.norms = std::move(norms.of_chunk);
  rules.norm_count = norms.count;
  rules.scales = [limit = norms.limit](const std::vector<double>& sums) {
    std::vector<float> scales;
    for (const auto sum : sums) {
      scales.push_back(clip_scale(limit, sum));
    }
    return scales;
  };
}

void scale_by_trust(const Job& job, DecisionRules& rules) {
  const auto own = descents(job.spec.training, job.arena.parameters);
  auto norms = trust_norms(own, job.arena);
  rules.norms = std::move(norms.of_chunk);
  rules.norm_count = norms.count;
  rules.scales = [own](const std::vector<double>& sums) { return trust_ratios(own, sums); };
  rules.of_updates = measures_updates(job.spec.training);
  rules.of_gradients = false;
}

// Whether a step waits for the lead: it clips by norm, has trust ratios, or acts on gradients that are not finite.
DecisionRules decision_rules(const Job& job) {
  DecisionRules rules;
  // A lane that makes an update of each item skips one by itself.
  rules.non_finite = is_item_mode(job.spec.training.mode) ? NonFinite::halt : job.spec.training.non_finite;
  rules.chunks = static_cast<std::uint32_t>(job.arena.chunks.size());
  if (has_trust_ratios(job.spec.training.optimizer)) {  // it is not clipped by norm then
    scale_by_trust(job, rules);
  } else {
    clip_by(clip_norms(clip_of_updates(job.spec.training), job.arena), rules);
  }
  return rules;
}

std::optional<CopyRules> copy_rules(const DurabilitySpec& durability) {
  if (durability.copy_to.empty()) {
    return std::nullopt;
  }
  // A ledger says of another place nothing about this one.
  return CopyRules{place_number(durability), Micros{durability.copy_patience} * 1'000'000, !durability.run.empty()};
}

}  // namespace

LeadConfig make_lead_config(const Job& job, const ShardStore& store, DiskRoom& room, const DatabaseLife& life) {
  const auto& training = job.spec.training;
  LeadConfig config;
  config.life = life.count;
  config.claim = random_id();
  config.shards = job.spec.cluster.shards;
  config.lanes = job.spec.cluster.lanes;
  config.slots = training.slots;
  config.steps = job.steps.steps;
  config.steps_per_epoch = job.steps.steps_per_epoch;
  config.evaluate_every = job.steps.steps_per_epoch * training.evaluate_every_epochs;
  config.validation_examples = job.sizes.validation;
  config.test_examples = job.sizes.test;
  config.early_stop_patience = training.early_stop.patience;
  config.early_stop_delta = training.early_stop.min_delta;
  config.keep_best = training.keep_best;
  config.metrics = metric_rules(job.spec.model, job.shape);
  config.best_by = best_by(training, config.metrics);
  config.snapshot_every = job.spec.durability.mode == "final" ? 0 : steps_between_snapshots(job);
  config.snapshots_kept = job.spec.durability.keep;
  config.run = job.spec.durability.run.empty() ? random_id() : named_run(job.spec);
  config.copies = copy_rules(job.spec.durability);
  config.start_workers = job.spec.cluster.start_workers;
  config.items = item_mode(job.spec);
  if (config.items) {
    config.plan_ahead = std::clamp(2 * config.slots, kUpdatesAhead, kMaxPlanned);
  }
  config.name = job.spec.job;
  config.mode = name_of(training.mode);
  config.job = job.yaml;
  config.spec_digest = job.spec_digest;
  config.layout_digest = job.layout_digest;
  config.factors = [&job](Step step, std::uint64_t updates) {
    return step_factors(job.spec.training, job.steps.steps, step, updates);
  };
  config.decisions = decision_rules(job);
  config.parameter_name = [&job](std::uint32_t index) {
    return index < job.arena.parameters.size() ? job.arena.parameters[index].name
                                               : "parameter " + std::to_string(index);
  };
  config.memory = recall(job, store, room);
  config.provenance = {job.spec.data.digest, training.exact == "required"};
  if (const auto why = why_contradicted(config.memory.ledger.provenance, config.provenance); !why.empty()) {
    throw std::runtime_error(why);
  }
  config.shares.by_speed = job.spec.cluster.divide_by_speed;
  config.shares.redistributes = job.spec.cluster.redistribute;
  config.shares.step = {training.slots, job.arena.elements * sizeof(float),
                        static_cast<std::uint32_t>(job.arena.chunks.size())};
  config.patience = Micros{job.spec.cluster.patience} * 1'000'000;
  config.stop_patience = Micros{job.spec.cluster.stop_patience} * 1'000'000;
  return config;
}

}  // namespace ballast
