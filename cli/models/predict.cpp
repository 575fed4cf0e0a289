#include "cli/models/predict.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
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

// As many as evaluation computes at once, also if fewer are wanted: the last bits depend on their number. Those that
// could not be read are in it without predictions.
class PredictedBatch {
 public:
  PredictedBatch(LoadedModel& model, const PredictionKind& kind, ExampleStream& examples, bool labelled)
      : labelled_(labelled), read_(model.job().shape, kEvaluatedAtOnce) {
    std::uint32_t good = 0;
    while (entries_.size() < kEvaluatedAtOnce) {
      auto example = examples.next(read_.room(good));
      if (!example) {
        break;
      }
      entries_.push_back({std::move(*example), good});
      good += entries_.back().example.fault.empty() ? 1 : 0;
    }
    read_.keep_first(good);
    if (good > 0) {
      read_.pad();
      predictions_.resize(good * kind.predictions(read_.steps));
      model.model().predict(read_.batch(), model.weights(), predictions_);
    }
  }

  [[nodiscard]] std::size_t count() const { return entries_.size(); }
  [[nodiscard]] const StreamedExample& read(std::size_t index) const { return entries_[index].example; }
  // Of one without a fault.
  [[nodiscard]] PredictedExample predicted(std::size_t index) const {
    const auto part = [&]<class Value>(const std::vector<Value>& values) {
      const auto size = values.size() / read_.count;
      return std::span(values).subspan(entries_[index].place * size, size);
    };
    return {labelled_, part(read_.labels), part(read_.targets), part(predictions_)};
  }

 private:
  struct Entry {
    StreamedExample example;
    std::uint32_t place;  // in the batch
  };

  bool labelled_;
  SlotExamples read_;
  std::vector<Entry> entries_;
  std::vector<float> predictions_;
};

struct Written {
  std::uint64_t lines = 0;
  std::uint64_t corrupt = 0;

  [[nodiscard]] bool nothing_predicted() const { return corrupt > 0 && corrupt == lines; }
};

// Lines of examples, numbered as they come.
class PredictionWriter {
 public:
  PredictionWriter(const PredictionKind& kind, const PredictOptions& options)
      : kind_(kind), format_(line_format(options.format)), output_(options.output) {
    std::ranges::copy(kind.columns(), std::back_inserter(columns_));
    output_.write(format_->head(columns_));
  }

  void add(const PredictedBatch& batch, std::size_t index) {
    const auto& example = batch.read(index);
    std::vector<PredictionValue> values = {static_cast<std::int64_t>(index_++), text_or_none(example.source),
                                           PredictionValue()};
    if (!example.fault.empty()) {
      values.back() = "corrupt: " + example.fault;
      values.resize(columns_.size());
      ++written_.corrupt;
      return write(values);
    }
    kind_.lines(batch.predicted(index), [&](const std::vector<PredictionValue>& own) {
      auto line = values;
      line.insert(line.end(), own.begin(), own.end());
      write(line);
    });
  }
  Written close() {
    output_.close();
    return written_;
  }

 private:
  static PredictionValue text_or_none(const std::string& text) {
    return text.empty() ? PredictionValue() : PredictionValue(text);
  }
  void write(const std::vector<PredictionValue>& values) {
    output_.write(format_->line(columns_, values));
    ++written_.lines;
  }

  const PredictionKind& kind_;
  std::unique_ptr<LineFormat> format_;
  PredictionOutput output_;
  std::vector<PredictionColumn> columns_ = {{"index"}, {"source"}, {"error"}};
  std::uint64_t index_ = 0;
  Written written_;
};

void check_predicts(const Job& job) {
  if (!has_graph(job.spec.model)) {
    throw std::runtime_error("job " + job.spec.job + ": its model, " + job.spec.model.name +
                             ", computes no network and predicts nothing");
  }
}

std::unique_ptr<ExampleStream> open_examples(const PredictOptions& options, const LoadedModel& model) {
  if (!options.inputs.empty()) {
    return examples_of_inputs(model, options.inputs);
  }
  const auto split = model.split_named(options.split);
  if (split.split != DataSplit::test && options.split.empty()) {
    std::fprintf(stderr, "the job has no test examples: these are predictions of its %s split\n", split.name.c_str());
  }
  return examples_of_split(model, split);
}

// Standard output may be the predictions' own.
void tell(const PredictOptions& options, const LoadedModel& model, const Written& written, std::uint64_t passed_over) {
  if (const auto meaning = meaning_of_numbers(model.job()); !meaning.empty()) {
    std::fprintf(stderr, "%s\n", meaning.c_str());
  }
  if (written.corrupt > 0) {
    std::fprintf(stderr, "corrupt examples, whose lines say why (error) and predict nothing: %llu\n",
                 static_cast<unsigned long long>(written.corrupt));
  }
  if (written.nothing_predicted()) {
    std::fprintf(stderr, "nothing was predicted: no example could be read; each line's error says why\n");
  }
  if (passed_over > 0) {
    std::fprintf(stderr, "files of --input that are neither PNG nor JPEG and were passed over: %llu\n",
                 static_cast<unsigned long long>(passed_over));
  }
  if (!options.output.empty()) {
    std::printf("%s\n%llu prediction%s written to %s\n", model.words().c_str(),
                static_cast<unsigned long long>(written.lines), written.lines == 1 ? "" : "s", options.output.c_str());
  }
}

}  // namespace

int predict(const PredictOptions& options) {
  LoadedModel model(options.source);
  check_predicts(model.job());
  const auto examples = open_examples(options, model);
  const auto kind = prediction_kind(model.job());
  PredictionWriter writer(*kind, options);
  auto left = options.limit.value_or(std::numeric_limits<std::uint64_t>::max());
  while (left > 0) {
    const PredictedBatch batch(model, *kind, *examples, options.inputs.empty());
    for (std::size_t i = 0; i < std::min<std::uint64_t>(batch.count(), left); ++i) {
      writer.add(batch, i);
    }
    left -= std::min<std::uint64_t>(batch.count(), left);
    if (batch.count() < kEvaluatedAtOnce) {
      break;
    }
  }
  const auto written = writer.close();
  tell(options, model, written, examples->passed_over());
  return written.nothing_predicted() ? 1 : 0;
}

}  // namespace ballast
