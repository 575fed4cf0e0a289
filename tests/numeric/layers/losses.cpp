#include <cmath>

#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/reference.h"

namespace ballast::layers {

LossReference loss_of(const SoftmaxCrossEntropy& /*loss*/, const Values& prediction, const ExampleShape& /*example*/,
                      const Batch& batch) {
  const std::size_t classes = prediction.shape.features();
  LossReference result;
  for (std::size_t row = 0; row < prediction.shape.rows(); ++row) {
    const auto* const logits = &prediction.values[row * classes];
    double total = 0;
    std::size_t best = 0;
    for (std::size_t j = 0; j < classes; ++j) {
      total += std::exp(logits[j]);
      best = logits[j] > logits[best] ? j : best;
    }
    const auto label = static_cast<std::size_t>(batch.labels[row]);
    result.loss_sum += std::log(total) - logits[label];
    result.correct += best == label ? 1 : 0;
    for (std::size_t j = 0; j < classes; ++j) {
      result.predictions.push_back(std::exp(logits[j]) / total);
    }
  }
  return result;
}

LossCase draw_softmax_cross_entropy(Draw& draw, std::uint32_t /*number*/) {
  const std::uint32_t n = draw.between(1, 9);
  const std::uint32_t classes = draw.between(2, 30);
  LossCase drawn{.loss = SoftmaxCrossEntropy{}, .prediction = {n, classes}, .example = {1, 8, 8, classes}};
  drawn.labels = draw.labels(n, classes);
  return drawn;
}

}  // namespace ballast::layers
