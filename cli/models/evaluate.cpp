#include "cli/models/evaluate.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "worker/training/evaluate.h"

namespace ballast {

namespace {

struct Outcome {
  double loss = 0;
  double accuracy = 0;
  std::uint32_t examples = 0;
};

void print_json(const LoadedModel& model, const std::string& split, const Outcome& outcome) {
  nlohmann::ordered_json json;
  json["weights"] = model.words();
  json["job"] = model.job().spec.job;
  json["split"] = split;
  json["examples"] = outcome.examples;
  json["loss"] = std::isfinite(outcome.loss) ? nlohmann::ordered_json(outcome.loss) : nlohmann::ordered_json(nullptr);
  json["accuracy"] = outcome.accuracy;
  std::puts(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

}  // namespace

int evaluate(const EvaluateOptions& options) {
  LoadedModel model(options.source);
  const auto split = model.split_named(options.split);
  const auto data = model.open_data();
  const auto sums = evaluate_examples(model.model(), *data, split.split, 0, split.examples, model.weights());
  const Outcome outcome{sums.loss_sum / sums.examples, static_cast<double>(sums.correct) / sums.examples,
                        sums.examples};
  if (options.json) {
    print_json(model, options.split, outcome);
    return 0;
  }
  std::printf("%s\n%s split, %u examples: loss %.6f, accuracy %.2f %%\n", model.words().c_str(), options.split.c_str(),
              outcome.examples, outcome.loss, 100 * outcome.accuracy);
  return 0;
}

}  // namespace ballast
