#include "tests/numeric/layers/reference.h"

namespace ballast::layers {

Values reference_output(const Layer& layer, const Given& given) {
  return std::visit([&](const auto& described) { return output_of(described, given); }, layer);
}

std::vector<std::vector<double>> reference_statistics(const Layer& layer, const Given& given) {
  return std::visit([&](const auto& described) { return statistics_of(described, given); }, layer);
}

LossReference reference_loss(const Loss& loss, const Values& prediction, const ExampleShape& example,
                             const Batch& batch) {
  return std::visit([&](const auto& described) { return loss_of(described, prediction, example, batch); }, loss);
}

}  // namespace ballast::layers
