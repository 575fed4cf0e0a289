#include "tests/simulation/reference.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <stdexcept>
#include <utility>

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
Payload tree_sum(const LifeSpec& life, Step step, ChunkId chunk, Expression weights, Slot begin, Slot count) {
  if (count == 1) {
    return gradient(life, step, begin, chunk, weights);
  }
  Slot left = 1;
  while (left * 2 < count) {
    left *= 2;
  }
  return sum(tree_sum(life, step, chunk, weights, begin, left),
             tree_sum(life, step, chunk, weights, begin + left, count - left));
}

// A number in [1, 2) with a full fraction, so that another order of addition is another sum.
double number_of(Expression value) { return std::bit_cast<double>((value >> 12U) | 0x3ff0000000000000U); }

}  // namespace

Payload gradient(const LifeSpec& life, Step step, Slot slot, ChunkId chunk, Expression all_weights) {
  const auto& faults = life.non_finite_gradients;
  const bool is_fault = std::find(faults.begin(), faults.end(), LifeFault{step, chunk, slot}) != faults.end();
  return {expression('g', step, slot, chunk, all_weights), std::uint64_t{1} << (4 * slot), is_fault ? slot : kNoSlot, 0,
          0};
}

Payload sum(const Payload& left, const Payload& right) {
  // Of two timelines: of none that there is.
  const auto timeline = left.timeline == right.timeline ? left.timeline : ~Timeline{0};
  return {expression('+', left.value, right.value), left.slots + right.slots, std::min(left.fault, right.fault),
          timeline, 0};
}

bool is_finite(const LifeSpec& life, ChunkId chunk, Step step, const Payload& root) {
  const auto& faults = life.non_finite_gradients;
  // In item mode there is no sum that could overflow.
  const bool overflows =
      !life.items && std::find(faults.begin(), faults.end(), LifeFault{step, chunk, kNoSlot}) != faults.end();
  return root.fault == kNoSlot && !overflows;
}

namespace {

double sum_of(const LifeSpec& life, std::size_t piece, bool of_weights, const Payload& root, const ChunkValue& value,
              const Prospect& prospect) {
  if (of_weights) {
    return number_of(expression('n', value.weights, piece));
  }
  if (life.norms_for == LifeNorms::lamb) {
    return number_of(expression('u', root.value, value.weights, value.state, piece,
                                std::bit_cast<std::uint32_t>(prospect.step_size),
                                std::bit_cast<std::uint32_t>(prospect.second_moment_root)));
  }
  return number_of(expression('n', root.value, piece));
}

}  // namespace

ChunkMeasure measure(const LifeSpec& life, ChunkId chunk, Step step, const Payload& root, const ChunkValue& value,
                     const Prospect& prospect) {
  ChunkMeasure measure;
  measure.chunk = chunk;
  measure.step = step;
  measure.finite = is_finite(life, chunk, step, root);
  if (!life.norms.empty()) {
    for (std::size_t piece = 0; piece < life.norms[chunk].size(); ++piece) {
      const bool of_weights = life.has_trust_ratios() && piece % 2 == 0;
      measure.sums.push_back(sum_of(life, piece, of_weights, root, value, prospect));
    }
  }
  return measure;
}

Expression all_weights(const std::vector<Expression>& weights) {
  Expression all = expression('a');
  for (const auto chunk : weights) {
    all = expression('a', all, chunk);
  }
  return all;
}

StepFactors factors(Step step, std::uint64_t updates) {
  StepFactors factors;
  factors.learning_rate = 0.5F + static_cast<float>(step);
  factors.step_size = static_cast<float>(updates);
  factors.second_moment_root = static_cast<float>(2 + updates);
  return factors;
}

std::vector<float> scales(LifeNorms norms_for, const std::vector<double>& sums) {
  const auto scale = [](Expression of) { return static_cast<float>(1 + of % 1'000'000); };
  std::vector<float> found;
  for (std::size_t norm = 0; norm < sums.size(); ++norm) {
    const auto sum = std::bit_cast<std::uint64_t>(sums[norm]);
    if (norms_for == LifeNorms::clip) {
      found.push_back(scale(expression('c', sum)));
    } else if (norm % 2 == 1) {
      found.push_back(scale(expression('t', std::bit_cast<std::uint64_t>(sums[norm - 1]), sum)));
    }
  }
  return found;
}

StepStatistics statistics(Step step, Expression root) {
  // Dyadic values, whose sums are exact in any order.
  return {step, static_cast<float>(root % 1024) / 16, static_cast<float>(root % 7), static_cast<float>(8 + root % 8)};
}

EvaluationResult evaluate(const Evaluation& evaluation, Expression all_weights) {
  const auto value =
      expression('e', static_cast<Expression>(evaluation.split), evaluation.begin, evaluation.end, all_weights);
  const std::uint64_t examples = evaluation.end - evaluation.begin;
  EvaluationResult result;
  result.split = evaluation.split;
  result.item = evaluation.item;
  result.version = evaluation.version;
  result.loss_sum = static_cast<double>(value % 4096) / 16;
  result.correct = value % (examples + 1);
  result.examples = examples;
  result.counts.resize(kMetrics.counts());
  for (std::size_t place = 0; place < result.counts.size(); ++place) {
    result.counts[place] = place == MetricCounts::kAnswers ? examples : (value >> (3 * place)) % (examples + 1);
  }
  for (std::size_t at = MetricCounts::kClasses; at < MetricCounts::kClasses + 3 * kMetrics.classes; at += 3) {
    result.counts[at] = std::min({result.counts[at], result.counts[at + 1], result.counts[at + 2]});
  }
  result.sums.resize(kMetrics.sums());
  for (std::size_t place = 0; place < result.sums.size(); ++place) {
    result.sums[place] = static_cast<double>((value >> (5 * place)) % 64) / 8;
  }
  return result;
}

ChunkValue initial(const LifeSpec& life, ChunkId chunk) {
  if (chunk == life.statistics()) {
    return statistics_value(0);
  }
  const auto weights = expression('w', chunk);
  return {weights, expression('o', chunk), life.is_averaged(chunk) ? weights : 0};
}

Expression change(const LifeSpec& life, const Update& update, const Payload& root, const StepFactors& factors) {
  if (factors.skip || (life.items && !life.has_examples(update.step, update.slot))) {
    return 0;
  }
  return expression('d', root.value, std::max<std::uint64_t>(update.staleness, 1));
}

namespace {

// In rounds an update's step is the version that it changes.
Expression average(const LifeSpec& life, const Update& update, Expression before, Expression weights) {
  if (!life.is_averaged(update.chunk)) {
    return 0;
  }
  return update.step + 1 <= *life.averaged_from ? weights : expression('m', before, weights);
}

}  // namespace

ChunkValue apply(const LifeSpec& life, const Update& update, const ChunkValue& value, const Payload& root,
                 const StepFactors& factors) {
  const auto rule = life.chunks[update.chunk].rule;
  if (rule == LifeRule::change || (rule == LifeRule::statistic && !life.items)) {
    return {value.weights + change(life, update, root, factors), value.state};
  }
  if (factors.skip || (rule == LifeRule::statistic && !life.has_examples(update.step, update.slot))) {
    return value;
  }
  if (rule == LifeRule::statistic) {
    return {expression('b', value.weights, root.value), value.state};
  }
  Expression rate = expression('f', std::bit_cast<std::uint32_t>(factors.learning_rate),
                               std::bit_cast<std::uint32_t>(factors.step_size));
  for (const auto scale : factors.scales) {
    rate = expression('f', rate, std::bit_cast<std::uint32_t>(scale));
  }
  const auto weights = expression('w', value.weights, value.state, root.value, rate);
  return {weights, expression('o', value.weights, value.state, root.value, rate),
          average(life, update, value.average, weights)};
}

Expression evaluated(const LifeSpec& life, ChunkId chunk, const ChunkValue& value) {
  return life.is_averaged(chunk) ? value.average : value.weights;
}

ChunkValue statistics_value(Version version) { return {expression('s', version), 0}; }

// ---- what follows from a history

namespace {

EvaluationRecord evaluate_split(const LifeSpec& life, Split split, Step step, Expression weights) {
  const auto examples = split == Split::test ? life.test_examples : life.validation_examples;
  double loss = 0;
  double correct = 0;
  MetricCounts counted{std::vector<std::uint64_t>(kMetrics.counts()), std::vector<double>(kMetrics.sums())};
  std::uint32_t item = 0;
  for (std::uint32_t begin = 0; begin < examples; begin += life.evaluation_item) {
    const auto end = std::min(examples, begin + life.evaluation_item);
    const auto result = evaluate({split, item++, step, begin, end}, weights);
    loss += result.loss_sum;
    correct += static_cast<double>(result.correct);
    std::ranges::transform(counted.counts, result.counts, counted.counts.begin(), std::plus{});
    std::ranges::transform(counted.sums, result.sums, counted.sums.begin(), std::plus{});
  }
  return {step, split, loss / examples, correct / examples, examples, metrics_of(kMetrics, counted)};
}

// The larger the better.
double what_counts(const LifeSpec& life, const EvaluationRecord& record) {
  if (life.best_by == MetricKind::accuracy) {
    return record.accuracy;
  }
  for (const auto& metric : record.metrics) {
    if (metric.kind == life.best_by) {
      return -metric.value;
    }
  }
  throw std::logic_error("a life's evaluations do not tell what they are compared by");
}

}  // namespace

Evaluations evaluations(const LifeSpec& life, const std::function<Expression(Step)>& weights) {
  Evaluations found;
  std::optional<double> best;
  std::uint32_t without = 0;
  for (found.end = 1;; ++found.end) {
    const bool is_last = found.end == life.steps;
    if (!is_last && found.end % life.evaluate_every != 0) {
      continue;
    }
    bool stops = is_last;
    if (life.validation_examples > 0) {
      found.records.push_back(evaluate_split(life, Split::validation, found.end, weights(found.end)));
      const auto value = what_counts(life, found.records.back());
      const bool improves = !best || value > *best + life.early_stop_delta;
      best = improves ? std::optional(value) : best;
      without = improves ? 0 : without + 1;
      stops = stops || (life.early_stop_patience > 0 && without >= life.early_stop_patience);
    }
    if (life.test_examples > 0 && (stops || life.validation_examples == 0)) {
      found.records.push_back(evaluate_split(life, Split::test, found.end, weights(found.end)));
    }
    if (stops) {
      return found;
    }
  }
}

std::uint64_t examples(const std::vector<StepStatistics>& statistics, Step end) {
  std::uint64_t examples = 0;
  for (Step step = 0; step < end; ++step) {
    examples += static_cast<std::uint64_t>(statistics[step].examples);
  }
  return examples;
}

double train_loss(const LifeSpec& life, const std::vector<StepStatistics>& statistics, Step end) {
  const Step whole = end / life.steps_per_epoch;
  const Step from = whole == 0 ? 0 : (whole - 1) * life.steps_per_epoch;
  const Step until = whole == 0 ? end : whole * life.steps_per_epoch;
  double loss = 0;
  double examples = 0;
  for (Step step = from; step < until; ++step) {
    loss += static_cast<double>(statistics[step].loss) * static_cast<double>(statistics[step].examples);
    examples += static_cast<double>(statistics[step].examples);
  }
  return examples > 0 ? loss / examples : 0;
}

// ---- the reference

Reference::Reference(const LifeSpec& life, std::vector<StepRange> skipped) : life_(life), skipped_(std::move(skipped)) {
  train();
  evaluations_ = simulation::evaluations(life_, [this](Step step) { return all_evaluated(step); });
}

bool Reference::is_skipped(Step step) const {
  return std::any_of(skipped_.begin(), skipped_.end(), [&](StepRange range) { return range.contains(step); });
}

Expression Reference::all(Version version) const {
  std::vector<Expression> weights;
  for (const auto& value : values_[version]) {
    weights.push_back(value.weights);
  }
  return all_weights(weights);
}

Expression Reference::evaluated(Version version, ChunkId chunk) const {
  return simulation::evaluated(life_, chunk, values_[version][chunk]);
}

Expression Reference::all_evaluated(Version version) const {
  std::vector<Expression> values;
  for (ChunkId chunk = 0; chunk < values_[version].size(); ++chunk) {
    values.push_back(evaluated(version, chunk));
  }
  return all_weights(values);
}

void Reference::train() {
  values_.emplace_back();
  for (ChunkId chunk = 0; chunk < life_.chunks.size(); ++chunk) {
    values_[0].push_back(initial(life_, chunk));
  }
  for (Step step = 0; step < life_.steps; ++step) {
    const auto before = all(step);
    roots_.emplace_back();
    for (ChunkId chunk = 0; chunk < life_.chunks.size(); ++chunk) {
      roots_[step].push_back(tree_sum(life_, step, chunk, before, 0, life_.slots));
    }
    decide(step);
    update(step);
  }
}

std::uint64_t Reference::updates_before(Step step) const {
  std::uint64_t updates = 0;
  for (Step earlier = 0; earlier < step; ++earlier) {
    updates += is_skipped(earlier) ? 0 : 1;
  }
  return updates;
}

Prospect Reference::prospect(Step step) const { return prospect_of(factors(step, updates_before(step))); }

void Reference::decide(Step step) {
  auto decided = factors(step, updates_before(step));
  decided.skip = is_skipped(step);
  std::vector<double> norms;
  for (std::uint32_t norm = 0; norm < life_.norm_count && !decided.skip; ++norm) {
    double squares = 0;
    for (ChunkId chunk = 0; chunk < life_.chunks.size(); ++chunk) {
      const auto sums = measure(life_, chunk, step, roots_[step][chunk], values_[step][chunk], prospect(step)).sums;
      for (std::size_t piece = 0; piece < sums.size(); ++piece) {
        squares += life_.norms[chunk][piece] == norm ? sums[piece] : 0;
      }
    }
    norms.push_back(squares);
  }
  decided.scales = scales(life_.norms_for, norms);
  factors_.push_back(std::move(decided));
}

void Reference::update(Step step) {
  auto next = values_[step];
  for (ChunkId chunk = 0; chunk < life_.chunks.size(); ++chunk) {
    next[chunk] = chunk == life_.statistics()
                      ? statistics_value(step + 1)
                      : apply(life_, {chunk, step, 0, 0}, next[chunk], roots_[step][chunk], factors_[step]);
  }
  statistics_.push_back(is_skipped(step) ? StepStatistics{step, 0, 0, 0}
                                         : simulation::statistics(step, roots_[step][life_.statistics()].value));
  values_.push_back(std::move(next));
}

bool Reference::agrees(Step step, const StepFactors& found) const {
  const auto& own = factors_[step];
  return own.skip ? found.skip : own == found;
}

}  // namespace ballast::simulation
