// Symbolic payloads and the sequential reference: what a job's weights must be, whoever computes them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "protocol/metrics.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// The hash of an expression: two of them are equal only if they were built alike, order of summation included.
using Expression = std::uint64_t;

struct Payload {
  Expression value = 0;
  std::uint64_t slots = 0;   // how often each slot went into it, four bits to a slot
  Slot fault = kNoSlot;      // the first slot whose gradient is not finite
  Timeline timeline = 0;     // of the weights: of those that it was computed from
  std::uint32_t origin = 0;  // in item mode: what it was computed from, in the judge's list
};

Payload gradient(const LifeSpec& life, Step step, Slot slot, ChunkId chunk, Expression all_weights);
Payload sum(const Payload& left, const Payload& right);
// The weights of all chunks at one version.
Expression all_weights(const std::vector<Expression>& weights);
// Without what is decided by norms.
StepFactors factors(Step step, std::uint64_t updates);
// What a step's updates are scaled by, from the sum of squares of each norm.
std::vector<float> scales(LifeNorms norms_for, const std::vector<double>& sums);
StepStatistics statistics(Step step, Expression root);
// What a life's evaluations count.
constexpr MetricRules kMetrics{.top5 = true, .classes = 2, .scores = false, .likelihood = true, .errors = false};

EvaluationResult evaluate(const Evaluation& evaluation, Expression all_weights);

// A chunk's weights, optimizer state and, where LifeSpec::is_averaged, the average of its weights.
struct ChunkValue {
  Expression weights = 0;
  Expression state = 0;
  Expression average = 0;
  bool operator==(const ChunkValue&) const = default;
};
ChunkValue initial(const LifeSpec& life, ChunkId chunk);
// Whether a root, or in item mode a contribution, is finite.
bool is_finite(const LifeSpec& life, ChunkId chunk, Step step, const Payload& root);
// What a lane reads from a root, the chunk's newest value, and what it is told of the update to come.
ChunkMeasure measure(const LifeSpec& life, ChunkId chunk, Step step, const Payload& root, const ChunkValue& value,
                     const Prospect& prospect);
// What an update is, and the chunk's rule makes of it.
struct Update {
  ChunkId chunk = 0;
  Step step = 0;
  Slot slot = 0;                // in item mode
  std::uint64_t staleness = 0;  // in item mode
};
ChunkValue apply(const LifeSpec& life, const Update& update, const ChunkValue& value, const Payload& root,
                 const StepFactors& factors);
// What an update adds to a chunk of LifeRule::change. Sums of such are the same in any order, modulo 2^64.
Expression change(const LifeSpec& life, const Update& update, const Payload& root, const StepFactors& factors);
// What of a chunk's value is evaluated.
Expression evaluated(const LifeSpec& life, ChunkId chunk, const ChunkValue& value);
// The statistics chunk is no part of the model and of no snapshot: its content follows from the version alone.
ChunkValue statistics_value(Version version);

// All evaluations of a job that has come to an end, and where patience or its last step ends it. `weights` are those of
// all chunks after so many steps.
struct Evaluations {
  std::vector<EvaluationRecord> records;
  Step end = 0;
};
Evaluations evaluations(const LifeSpec& life, const std::function<Expression(Step)>& weights);
std::uint64_t examples(const std::vector<StepStatistics>& statistics, Step end);
// Of the last whole epoch before the end, or of all steps if there is none.
double train_loss(const LifeSpec& life, const std::vector<StepStatistics>& statistics, Step end);

// The whole history of a job that leaves out `skipped` steps, computed one step after the other by nobody in
// particular. Its tree, its norms and its patience are its own.
class Reference {
 public:
  Reference(const LifeSpec& life, std::vector<StepRange> skipped);

  [[nodiscard]] const std::vector<StepRange>& skipped() const { return skipped_; }
  [[nodiscard]] const ChunkValue& value(Version version, ChunkId chunk) const { return values_[version][chunk]; }
  [[nodiscard]] Expression weights(Version version, ChunkId chunk) const { return values_[version][chunk].weights; }
  [[nodiscard]] Expression all(Version version) const;
  // What is evaluated: averages where the life has them.
  [[nodiscard]] Expression evaluated(Version version, ChunkId chunk) const;
  [[nodiscard]] Expression all_evaluated(Version version) const;
  [[nodiscard]] Expression root(Step step, ChunkId chunk) const { return roots_[step][chunk].value; }
  [[nodiscard]] const Payload& root_payload(Step step, ChunkId chunk) const { return roots_[step][chunk]; }
  // What lanes are to be told of the step before it is decided.
  [[nodiscard]] Prospect prospect(Step step) const;
  // Whether these are the factors of the step.
  [[nodiscard]] bool agrees(Step step, const StepFactors& factors) const;
  [[nodiscard]] const StepStatistics& statistics(Step step) const { return statistics_[step]; }
  // Where the job ends, which patience may bring forward.
  [[nodiscard]] Step end() const { return evaluations_.end; }
  [[nodiscard]] const std::vector<EvaluationRecord>& evaluations() const { return evaluations_.records; }
  [[nodiscard]] std::uint64_t examples() const { return simulation::examples(statistics_, end()); }
  [[nodiscard]] double train_loss() const { return simulation::train_loss(life_, statistics_, end()); }

 private:
  void train();
  void decide(Step step);
  void update(Step step);
  [[nodiscard]] bool is_skipped(Step step) const;
  [[nodiscard]] std::uint64_t updates_before(Step step) const;

  const LifeSpec& life_;
  std::vector<StepRange> skipped_;
  std::vector<std::vector<ChunkValue>> values_;  // [version][chunk]
  std::vector<std::vector<Payload>> roots_;      // [step][chunk]
  std::vector<StepFactors> factors_;
  std::vector<StepStatistics> statistics_;
  Evaluations evaluations_;
};

}  // namespace ballast::simulation
