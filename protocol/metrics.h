// What evaluations tell beside the loss: metrics, and what they are counted from. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ballast {

// As job files and `ballast` name them: name_of. Larger is better but for losses, perplexities and errors.
enum class MetricKind : std::uint8_t {
  loss,
  accuracy,
  top5,       // share of answers whose label is among the five likeliest classes
  precision,  // these three: the mean over the classes that occur among labels
  recall,
  f1,
  auc,             // area under the receiver operating characteristic
  perplexity,      // exp of the mean of -log of the label's probability
  squared_error,   // mean
  absolute_error,  // mean
};
inline constexpr std::size_t kMetricKinds = 10;
const char* name_of(MetricKind kind);
std::optional<MetricKind> metric_named(std::string_view name);
bool is_larger_better(MetricKind kind);

struct Metric {
  MetricKind kind = MetricKind::loss;
  double value = 0;
  bool operator==(const Metric&) const = default;
};

// Classes beyond so many are not counted one by one.
inline constexpr std::uint32_t kMostCountedClasses = 1024;
// Scores are counted by bins: 32 for each halving of the distance from 0 or from 1, down to 2^-17 of it, each at most
// 3 % of that distance wide. Within a bin the area under the curve is taken as if the scores were equal.
inline constexpr std::uint32_t kScoreBins = 1024;

// What is counted in a job's evaluations. An answer: an example's; a labelled step's; or each of an example's outputs.
struct MetricRules {
  bool top5 = false;
  std::uint32_t classes = 0;  // counted one by one, at most kMostCountedClasses; 0: none is
  bool scores = false;        // of a yes or no
  bool likelihood = false;
  bool errors = false;    // of numbers
  bool of_input = false;  // these are an autoencoder's, whose target is its input
  bool operator==(const MetricRules&) const = default;

  // How many counts and sums a result has: none without any of these.
  [[nodiscard]] std::size_t counts() const;
  [[nodiscard]] std::size_t sums() const { return likelihood || errors ? 3 : 0; }
  // Whether evaluations tell it.
  [[nodiscard]] bool tell(MetricKind kind) const;
};

// Of some examples; to be added, element by element.
struct MetricCounts {
  // Places among counts; behind them, for each class: right, answered, labelled; then for each bin of scores: no, yes.
  static constexpr std::size_t kAnswers = 0;
  static constexpr std::size_t kAmongFive = 1;
  static constexpr std::size_t kClasses = 2;
  // Places among sums.
  static constexpr std::size_t kLikelihood = 0;  // of -log of the label's probability
  static constexpr std::size_t kSquared = 1;
  static constexpr std::size_t kAbsolute = 2;

  std::vector<std::uint64_t> counts = {};
  std::vector<double> sums = {};
  bool operator==(const MetricCounts&) const = default;
};

// The share of right answers; none of a model that predicts numbers, which tells its errors instead.
std::optional<double> told_accuracy(double accuracy, const std::vector<Metric>& metrics);

// Whether a worker can have counted this over so many examples: as many counts and sums as the rules say, no part above
// its whole, and no more answers than 2^32 an example, so that sums over a job's examples do not overflow.
bool can_be(const MetricRules& rules, std::uint64_t examples, const std::vector<std::uint64_t>& counts,
            const std::vector<double>& sums);

// The bin of a score from 0 to 1; ascending with it.
std::uint32_t score_bin(double score);

// One class's precision, recall and F1; 0 where nothing was answered, or labelled.
struct ClassMetrics {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
};
ClassMetrics class_metrics(std::uint64_t right, std::uint64_t answered, std::uint64_t labelled);

// All that the rules tell, but for loss and accuracy; what is not defined (no answers, only one kind of label) is left
// out. `counted` has as many counts and sums as the rules say.
std::vector<Metric> metrics_of(const MetricRules& rules, const MetricCounts& counted);

}  // namespace ballast
