#include "worker/training/evaluate.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "worker/data/examples.h"
#include "worker/data/failures.h"

namespace ballast {

namespace {

// Examples [begin, begin + count) of a split without those that could not be read.
SlotExamples read_good(const Dataset& dataset, DataSplit split, std::uint32_t begin, std::uint32_t count) {
  SlotExamples examples(dataset.shape(), count);
  std::uint32_t good = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    dataset.read(split, begin + i, examples.room(good));
    good += dataset.fault(split, begin + i).empty() ? 1 : 0;
  }
  examples.keep_first(good);
  examples.pad();
  return examples;
}

}  // namespace

EvaluationSums evaluate_examples(Model& model, const Dataset& dataset, DataSplit split, std::uint32_t begin,
                                 std::uint32_t end, const WeightArena& weights, MetricCounter counter) {
  if (begin > end || end > dataset.size(split)) {
    throw std::out_of_range("examples " + std::to_string(begin) + " to " + std::to_string(end) +
                            " are to be evaluated, but their split has " + std::to_string(dataset.size(split)));
  }
  EvaluationSums sums;
  for (auto at = begin; at < end; at += std::min(kEvaluatedAtOnce, end - at)) {
    const auto wanted = std::min(kEvaluatedAtOnce, end - at);
    const auto examples = reading_data([&] { return read_good(dataset, split, at, wanted); });
    sums.left_out += wanted - examples.count;
    if (examples.count == 0) {
      continue;
    }
    const auto batch = model.evaluate(examples.batch(), weights);
    if (counter.counts() && batch.predictions) {
      counter.add(batch.predictions(), examples.batch());
    }
    sums.loss_sum += batch.loss_sum;
    sums.correct += batch.correct;
    sums.examples += batch.examples;
  }
  sums.correct += counter.all_right();
  sums.counted = counter.counted();
  sums.squared_errors = counter.squared_errors();
  return sums;
}

}  // namespace ballast
