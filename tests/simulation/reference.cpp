#include "tests/simulation/reference.h"

#include <algorithm>
#include <bit>

#include "tests/simulation/random.h"

namespace ballast::simulation {

namespace {

template <typename... Parts>
Expression expression(char kind, Parts... parts) {
  Expression hash = Random::mix(static_cast<Expression>(kind));
  ((hash = Random::mix(hash * 0x9e3779b97f4a7c15U + static_cast<Expression>(parts))), ...);
  return hash;
}

// The sum over slots [begin, begin + count), the left part being the largest power of two below count.
Payload tree_sum(Step step, ChunkId chunk, Expression weights, Slot begin, Slot count) {
  if (count == 1) {
    return gradient(step, begin, chunk, weights);
  }
  Slot left = 1;
  while (left * 2 < count) {
    left *= 2;
  }
  return sum(tree_sum(step, chunk, weights, begin, left), tree_sum(step, chunk, weights, begin + left, count - left));
}

}  // namespace

Payload gradient(Step step, Slot slot, ChunkId chunk, Expression all_weights) {
  return {expression('g', step, slot, chunk, all_weights), std::uint64_t{1} << (4 * slot)};
}

Payload sum(const Payload& left, const Payload& right) {
  return {expression('+', left.value, right.value), left.slots + right.slots};
}

Expression all_weights(const std::vector<Expression>& weights) {
  Expression all = expression('a');
  for (const auto chunk : weights) {
    all = expression('a', all, chunk);
  }
  return all;
}

StepFactors factors(Step step) { return {0.5F + static_cast<float>(step)}; }

StepStatistics statistics(Step step, Expression root) {
  // Dyadic values, whose sums are exact in any order.
  return {step, static_cast<float>(root % 1024) / 16, static_cast<float>(root % 7), static_cast<float>(8 + root % 8)};
}

EvaluationResult evaluate(const Evaluation& evaluation, Expression all_weights) {
  const auto value = expression('e', evaluation.begin, evaluation.end, all_weights);
  const std::uint64_t examples = evaluation.end - evaluation.begin;
  return {evaluation.item, evaluation.version, static_cast<double>(value % 4096) / 16, value % (examples + 1),
          examples};
}

ChunkValue initial(ChunkId chunk) { return {expression('w', chunk), expression('o', chunk)}; }

ChunkValue apply(const ChunkValue& value, const Payload& root, const StepFactors& factors) {
  const auto rate = std::bit_cast<std::uint32_t>(factors.learning_rate);
  return {expression('w', value.weights, value.state, root.value, rate),
          expression('o', value.weights, value.state, root.value, rate)};
}

Reference::Reference(const LifeSpec& life) {
  train(life);
  test(life);
}

void Reference::train(const LifeSpec& life) {
  const auto chunks = static_cast<ChunkId>(life.chunks.size());
  std::vector<ChunkValue> values;
  std::vector<Expression> weights;
  for (ChunkId chunk = 0; chunk < chunks; ++chunk) {
    values.push_back(initial(chunk));
    weights.push_back(values.back().weights);
  }
  weights_.push_back(weights);
  double loss = 0;
  double examples = 0;
  for (Step step = 0; step < life.steps; ++step) {
    const auto before = all(step);
    for (ChunkId chunk = 0; chunk < chunks; ++chunk) {
      const auto root = tree_sum(step, chunk, before, 0, life.slots);
      values[chunk] = apply(values[chunk], root, factors(step));
      weights[chunk] = values[chunk].weights;
      if (chunk == life.statistics()) {
        const auto found = statistics(step, root.value);
        loss += static_cast<double>(found.loss) * static_cast<double>(found.examples);
        examples += static_cast<double>(found.examples);
        examples_ += static_cast<std::uint64_t>(found.examples);
      }
    }
    weights_.push_back(weights);
    if ((step + 1) % life.steps_per_epoch == 0 || step + 1 == life.steps) {
      train_loss_ = loss / examples;
      loss = examples = 0;
    }
  }
}

void Reference::test(const LifeSpec& life) {
  double loss = 0;
  double correct = 0;
  std::uint32_t item = 0;
  for (std::uint32_t begin = 0; begin < life.test_examples; begin += life.evaluation_item) {
    const auto end = std::min(life.test_examples, begin + life.evaluation_item);
    const auto result = evaluate({item++, life.steps, begin, end}, all(life.steps));
    loss += result.loss_sum;
    correct += static_cast<double>(result.correct);
  }
  if (life.test_examples > 0) {
    test_loss_ = loss / life.test_examples;
    test_accuracy_ = correct / life.test_examples;
  }
}

}  // namespace ballast::simulation
