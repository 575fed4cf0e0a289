// Symbolic payloads and the sequential reference: what a job's weights must be, whoever computes them.
#pragma once

#include <cstdint>
#include <vector>

#include "common/protocol/ids.h"
#include "common/protocol/messages.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// The hash of an expression: two of them are equal only if they were built alike, order of summation included.
using Expression = std::uint64_t;

struct Payload {
  Expression value = 0;
  std::uint64_t slots = 0;  // how often each slot went into it, four bits to a slot
};

Payload gradient(Step step, Slot slot, ChunkId chunk, Expression all_weights);
Payload sum(const Payload& left, const Payload& right);
// The weights of all chunks at one version.
Expression all_weights(const std::vector<Expression>& weights);
StepFactors factors(Step step);
StepStatistics statistics(Step step, Expression root);
EvaluationResult evaluate(const Evaluation& evaluation, Expression all_weights);

// A chunk's weights and optimizer state.
struct ChunkValue {
  Expression weights = 0;
  Expression state = 0;
};
ChunkValue initial(ChunkId chunk);
ChunkValue apply(const ChunkValue& value, const Payload& root, const StepFactors& factors);

// The whole history of a job, computed one step after the other by nobody in particular. Its tree is its own.
class Reference {
 public:
  explicit Reference(const LifeSpec& life);

  [[nodiscard]] Expression weights(Version version, ChunkId chunk) const { return weights_[version][chunk]; }
  [[nodiscard]] Expression all(Version version) const { return all_weights(weights_[version]); }
  [[nodiscard]] std::uint64_t examples() const { return examples_; }
  [[nodiscard]] double train_loss() const { return train_loss_; }
  [[nodiscard]] double test_loss() const { return test_loss_; }
  [[nodiscard]] double test_accuracy() const { return test_accuracy_; }

 private:
  void train(const LifeSpec& life);
  void test(const LifeSpec& life);

  std::vector<std::vector<Expression>> weights_;  // [version][chunk]
  std::uint64_t examples_ = 0;
  double train_loss_ = 0;
  double test_loss_ = 0;
  double test_accuracy_ = 0;
};

}  // namespace ballast::simulation
