#include "tests/numeric/layers/loss_run.h"

#include <limits>

namespace ballast::layers {

LossOutcome run_loss(Backend& backend, const LossCase& drawn, const std::vector<float>& prediction_values) {
  const auto prediction = backend.input(drawn.prediction, true);
  const auto loss = backend.prepare_loss(drawn.loss, *prediction, drawn.example);
  const Pass pass = pass_of(drawn);
  backend.begin(pass);
  backend.write(*prediction, prediction_values);
  backend.write_gradient(*prediction,
                         std::vector<float>(prediction_values.size(), std::numeric_limits<float>::quiet_NaN()));
  loss->forward();
  loss->backward(kLossScale);
  LossOutcome outcome;
  outcome.sums = loss->sums();
  outcome.predictions.assign(loss->predictions().begin(), loss->predictions().end());
  outcome.gradient.resize(prediction_values.size());
  backend.read_gradient(*prediction, outcome.gradient);
  return outcome;
}

}  // namespace ballast::layers
