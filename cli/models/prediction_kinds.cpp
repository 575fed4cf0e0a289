#include "cli/models/prediction_kinds.h"

#include <algorithm>

#include "cli/telling/target_units.h"
#include "common/job/model_graph.h"
#include "common/job/words.h"
#include "worker/data/normalise.h"

namespace ballast {
namespace {

// The likeliest class, the lowest among equals.
std::int64_t likeliest(std::span<const float> probabilities) {
  return std::ranges::max_element(probabilities) - probabilities.begin();
}

class OneClass : public PredictionKind {
 public:
  explicit OneClass(std::uint32_t classes) : classes_(classes) {}
  [[nodiscard]] std::size_t predictions(std::uint32_t /*steps*/) const override { return classes_; }
  [[nodiscard]] std::vector<PredictionColumn> columns() const override {
    return {{"label"}, {"predicted"}, {"probabilities", "p", classes_}};
  }
  void lines(const PredictedExample& example, const TakeLine& take) const override {
    const auto label = example.labelled ? PredictionValue(std::int64_t{example.labels[0]}) : PredictionValue();
    take({label, likeliest(example.predictions), example.predictions});
  }

 private:
  std::uint32_t classes_;
};

// A line for each step that is labelled.
class ClassOfEachStep : public PredictionKind {
 public:
  explicit ClassOfEachStep(std::uint32_t classes) : classes_(classes) {}
  [[nodiscard]] std::size_t predictions(std::uint32_t steps) const override { return std::size_t{steps} * classes_; }
  [[nodiscard]] std::vector<PredictionColumn> columns() const override {
    return {{"step"}, {"label"}, {"predicted"}, {"probabilities", "p", classes_}};
  }
  void lines(const PredictedExample& example, const TakeLine& take) const override {
    for (std::size_t step = 0; step < example.labels.size(); ++step) {
      if (example.labels[step] >= 0) {
        const auto of_step = example.predictions.subspan(step * classes_, classes_);
        take({static_cast<std::int64_t>(step), std::int64_t{example.labels[step]}, likeliest(of_step), of_step});
      }
    }
  }

 private:
  std::uint32_t classes_;
};

// What is to be predicted of each output, beside what is predicted.
class EachOutput : public PredictionKind {
 public:
  EachOutput(const PredictionColumn& targets, const PredictionColumn& predicted)
      : targets_(targets), predicted_(predicted) {}
  [[nodiscard]] std::size_t predictions(std::uint32_t /*steps*/) const override { return *predicted_.of_list; }
  [[nodiscard]] std::vector<PredictionColumn> columns() const override { return {targets_, predicted_}; }
  void lines(const PredictedExample& example, const TakeLine& take) const override {
    take({example.labelled ? PredictionValue(example.targets) : PredictionValue(), example.predictions});
  }

 private:
  PredictionColumn targets_;
  PredictionColumn predicted_;
};

class Reconstruction : public PredictionKind {
 public:
  explicit Reconstruction(std::uint32_t features) : features_(features) {}
  [[nodiscard]] std::size_t predictions(std::uint32_t /*steps*/) const override { return features_; }
  [[nodiscard]] std::vector<PredictionColumn> columns() const override { return {{"reconstruction", "r", features_}}; }
  void lines(const PredictedExample& example, const TakeLine& take) const override { take({example.predictions}); }

 private:
  std::uint32_t features_;
};

bool reconstructs(const Job& job) {
  const auto graph = model_graph(job.spec.model, job.shape);
  const auto* const squared = std::get_if<SquaredError>(&graph.loss);
  return squared != nullptr && squared->of_input;
}

// "number 0 is (price - 30.5) / 9.2"
std::string meaning_of_targets(const DataSpec& data) {
  const auto units = target_units(data);
  std::vector<std::string> meanings;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i].is_normalised()) {
      meanings.push_back("number " + std::to_string(i) + " is (" + units[i].name + " - " + number_text(units[i].mean) +
                         ") / " + number_text(units[i].deviation));
    }
  }
  return meanings.empty() ? "" : "targets and predictions are normalised as the job says: " + comma_list(meanings);
}

std::string meaning_of_features(const DataSpec& data) {
  const std::string begin = "reconstructed values are normalised as the job says: ";
  if (!is_example_files(data)) {
    return begin + normalisation_of(data).formula();
  }
  const bool of_columns = std::ranges::any_of(data.columns, [](const CsvColumn& column) {
    return column.kind == CsvColumn::Kind::number && (column.mean != 0 || column.deviation != 1);
  });
  if (of_columns) {
    return begin + "those of a number's column are (value - mean) / deviation of that column in data.columns";
  }
  return data.scale == 1 ? "" : begin + number_text(data.scale) + " x value";
}

}  // namespace

std::unique_ptr<PredictionKind> prediction_kind(const Job& job) {
  const auto& shape = job.shape;
  if (reconstructs(job)) {
    return std::make_unique<Reconstruction>(static_cast<std::uint32_t>(shape.features()));
  }
  switch (shape.labels) {
    case Labels::steps:
      return std::make_unique<ClassOfEachStep>(shape.classes);
    case Labels::several:
      return std::make_unique<EachOutput>(PredictionColumn{"labels", "label", shape.classes},
                                          PredictionColumn{"probabilities", "p", shape.classes});
    case Labels::numbers:
      return std::make_unique<EachOutput>(PredictionColumn{"targets", "target", shape.classes},
                                          PredictionColumn{"predicted", "predicted", shape.classes});
    case Labels::classes:
      break;
  }
  return std::make_unique<OneClass>(shape.classes);
}

std::string meaning_of_numbers(const Job& job) {
  if (reconstructs(job)) {
    return meaning_of_features(job.spec.data);
  }
  return job.shape.labels == Labels::numbers ? meaning_of_targets(job.spec.data) : "";
}

std::string meaning_of_errors(const Job& job) {
  const auto meaning = meaning_of_numbers(job);
  return meaning.empty() ? "" : "loss and errors are in normalised units: " + meaning;
}

}  // namespace ballast
