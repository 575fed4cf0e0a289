#include "worker/training/evaluate.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "worker/data/examples.h"

namespace ballast {

BatchResult evaluate_examples(Model& model, const Dataset& dataset, DataSplit split, std::uint32_t begin,
                              std::uint32_t end, const WeightArena& weights) {
  if (begin > end || end > dataset.size(split)) {
    throw std::out_of_range("examples " + std::to_string(begin) + " to " + std::to_string(end) +
                            " are to be evaluated, but their split has " + std::to_string(dataset.size(split)));
  }
  BatchResult result;
  for (auto at = begin; at < end; at += std::min(kEvaluatedAtOnce, end - at)) {
    const auto examples = read_examples(dataset, split, at, std::min(kEvaluatedAtOnce, end - at));
    const auto batch = model.evaluate(examples.batch(), weights);
    result.loss_sum += batch.loss_sum;
    result.correct += batch.correct;
    result.examples += batch.examples;
  }
  return result;
}

}  // namespace ballast
