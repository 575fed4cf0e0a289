#include "cli/models/predict.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "cli/models/predicted_examples.h"
#include "cli/models/prediction_kinds.h"
#include "cli/models/prediction_lines.h"
#include "cli/models/prediction_output.h"
#include "common/job/model_graph.h"
#include "worker/data/examples.h"
#include "worker/training/evaluate.h"

namespace ballast {

namespace {

// As many as evaluation computes at once, also if fewer are wanted: the last bits depend on their number.
class PredictedBatch {
 public:
  PredictedBatch(LoadedModel& model, const PredictionKind& kind, const PredictedExamples& examples, std::uint64_t begin)
      : begin_(begin),
        labelled_(examples.labelled),
        read_(model.job().shape,
              static_cast<std::uint32_t>(std::min<std::uint64_t>(kEvaluatedAtOnce, examples.count - begin))) {
    for (std::uint32_t i = 0; i < count(); ++i) {
      examples.read(begin + i, read_.room(i));
    }
    read_.pad();
    predictions_.resize(count() * kind.predictions(read_.steps));
    model.model().predict(read_.batch(), model.weights(), predictions_);
  }

  [[nodiscard]] std::uint32_t count() const { return read_.count; }
  [[nodiscard]] PredictedExample example(std::uint32_t index) const {
    const auto part = [&]<class Value>(const std::vector<Value>& values) {
      const auto size = values.size() / count();
      return std::span(values).subspan(index * size, size);
    };
    return {begin_ + index, labelled_, part(read_.labels), part(read_.targets), part(predictions_)};
  }

 private:
  std::uint64_t begin_;
  bool labelled_;
  SlotExamples read_;
  std::vector<float> predictions_;
};

void check_predicts(const Job& job) {
  if (!has_graph(job.spec.model)) {
    throw std::runtime_error("job " + job.spec.job + ": its model, " + job.spec.model.name +
                             ", computes no network and predicts nothing");
  }
}

// Standard output may be the predictions' own.
void tell(const PredictOptions& options, const LoadedModel& model, std::uint64_t lines) {
  if (const auto meaning = meaning_of_numbers(model.job()); !meaning.empty()) {
    std::fprintf(stderr, "%s\n", meaning.c_str());
  }
  if (!options.output.empty()) {
    std::printf("%s\n%llu predictions written to %s\n", model.words().c_str(), static_cast<unsigned long long>(lines),
                options.output.c_str());
  }
}

}  // namespace

int predict(const PredictOptions& options) {
  LoadedModel model(options.source);
  check_predicts(model.job());
  const auto examples =
      options.input.empty() ? examples_of_job(model, options.split) : examples_of_file(options.input, model.job());
  const auto count = std::min(examples.count, options.limit.value_or(examples.count));
  const auto kind = prediction_kind(model.job());
  const auto columns = kind->columns();
  const auto format = line_format(options.format);
  std::uint64_t lines = 0;
  PredictionOutput output(options.output);
  output.write(format->head(columns));
  for (std::uint64_t begin = 0; begin < count; begin += kEvaluatedAtOnce) {
    const PredictedBatch batch(model, *kind, examples, begin);
    for (std::uint32_t i = 0; i < std::min<std::uint64_t>(batch.count(), count - begin); ++i) {
      kind->lines(batch.example(i), [&](const std::vector<PredictionValue>& values) {
        output.write(format->line(columns, values));
        ++lines;
      });
    }
  }
  output.close();
  tell(options, model, lines);
  return 0;
}

}  // namespace ballast
