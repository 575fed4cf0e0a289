#include "cli/models/predict.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "common/files/new_file.h"
#include "common/job/model_graph.h"
#include "worker/data/examples.h"
#include "worker/data/idx.h"
#include "worker/data/normalise.h"
#include "worker/training/evaluate.h"

namespace ballast {

namespace {

// Where examples come from.
struct Examples {
  std::uint64_t count = 0;
  bool labelled = false;
  std::function<void(std::uint64_t index, const ExampleRoom& room)> read;
};

Examples examples_of_file(const std::string& path, const Job& job) {
  const auto& shape = job.shape;
  if (shape.channels != 1) {
    throw std::runtime_error("--input reads images of one channel; the job's have " + std::to_string(shape.channels));
  }
  const auto images = std::make_shared<IdxArray>(read_idx(path, {std::nullopt, shape.height, shape.width}));
  const auto pixels = shape.features();
  return {
      images->dimensions[0], false,
      [images, pixels, normalisation = normalisation_of(job.spec.data)](std::uint64_t index, const ExampleRoom& room) {
        normalisation.apply(std::span(images->values).subspan(index * pixels, pixels), room.features);
      }};
}

Examples examples_of_job(const LoadedModel& model, const std::string& name) {
  const auto split = model.split_named(name);
  const std::shared_ptr<const Dataset> data = model.open_data();
  return {split.examples, true, [data, split](std::uint64_t index, const ExampleRoom& room) {
            data->read(split.split, static_cast<std::uint32_t>(index), room);
          }};
}

constexpr std::size_t kHeldText = 1U << 16U;  // bytes, before they are written

// Standard output, or a file that has its name when close() succeeds.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path) {
    if (!path.empty()) {
      check(file_.create(path, {.suffix = ".part", .through_special = true}), "cannot be made");
    }
  }

  void write(const std::string& text) {
    held_ += text;
    if (held_.size() >= kHeldText) {
      flush();
    }
  }
  void close() {
    flush();
    if (!path_.empty()) {
      check(file_.finish(), "cannot be written");
    } else if (std::fflush(stdout) != 0) {
      check(std::error_code(errno, std::generic_category()), "cannot be written");
    }
  }

 private:
  void flush() {
    const auto text = std::exchange(held_, {});
    if (!path_.empty()) {
      check(file_.append(text), "cannot be written");
    } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
      check(std::error_code(errno, std::generic_category()), "cannot be written");
    }
  }
  void check(const std::error_code& refused, const char* what) const {
    if (refused) {
      throw std::runtime_error((path_.empty() ? "standard output" : path_) + " " + what + ": " + refused.message());
    }
  }

  std::string path_;
  NewFile file_;
  std::string held_;
};

// The shortest text that reads back as the same float; `other` for what is no number.
std::string number_text(float value, const char* other) {
  if (!std::isfinite(value)) {
    return other;
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string joined(std::span<const float> values, const char* other) {
  std::string text;
  for (const auto value : values) {
    text += (text.empty() ? "" : ",") + number_text(value, other);
  }
  return text;
}

std::string csv_head(std::uint32_t classes) {
  std::string text = "index,label,predicted";
  for (std::uint32_t i = 0; i < classes; ++i) {
    text += ",p" + std::to_string(i);
  }
  return text + "\n";
}

struct Line {
  std::uint64_t index = 0;
  std::optional<std::int32_t> label;
  std::span<const float> probabilities;

  // The likeliest class, the lowest among equals.
  [[nodiscard]] std::string predicted() const {
    return std::to_string(std::ranges::max_element(probabilities) - probabilities.begin());
  }
  [[nodiscard]] std::string csv() const {
    return std::to_string(index) + "," + (label ? std::to_string(*label) : "") + "," + predicted() + "," +
           joined(probabilities, "nan") + "\n";
  }
  [[nodiscard]] std::string json() const {
    return "{\"index\":" + std::to_string(index) + ",\"label\":" + (label ? std::to_string(*label) : "null") +
           ",\"predicted\":" + predicted() + ",\"probabilities\":[" + joined(probabilities, "null") + "]}\n";
  }
};

struct Predicted {
  std::vector<std::optional<std::int32_t>> labels;
  std::vector<float> probabilities;  // labels x classes
};

// As many as evaluation computes at once, also if fewer are wanted: the last bits depend on their number.
Predicted predict_batch(LoadedModel& model, const Examples& examples, std::uint64_t begin) {
  const auto& shape = model.job().shape;
  const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(kEvaluatedAtOnce, examples.count - begin));
  SlotExamples read(shape, size);
  Predicted batch;
  for (std::uint32_t i = 0; i < size; ++i) {
    examples.read(begin + i, read.room(i));
    batch.labels.push_back(examples.labelled ? std::optional(read.labels[i]) : std::nullopt);
  }
  read.pad();
  batch.probabilities.resize(std::size_t{size} * shape.classes);
  model.model().predict(read.batch(), model.weights(), batch.probabilities);
  return batch;
}

void check_predicts_classes(const Job& job) {
  const bool of_class = job.shape.labels == Labels::classes &&
                        (!has_graph(job.spec.model) ||
                         std::holds_alternative<SoftmaxCrossEntropy>(model_graph(job.spec.model, job.shape).loss));
  if (!of_class) {
    throw std::runtime_error(
        "ballast predict writes one class for each example; this run's model predicts something else. Export it, or "
        "evaluate it with `ballast evaluate`");
  }
}

}  // namespace

int predict(const PredictOptions& options) {
  LoadedModel model(options.source);
  check_predicts_classes(model.job());
  const auto& shape = model.job().shape;
  const auto examples =
      options.input.empty() ? examples_of_job(model, options.split) : examples_of_file(options.input, model.job());
  const auto count = std::min(examples.count, options.limit.value_or(examples.count));
  const bool csv = options.format == "csv";
  Output output(options.output);
  if (csv) {
    output.write(csv_head(shape.classes));
  }
  for (std::uint64_t begin = 0; begin < count; begin += kEvaluatedAtOnce) {
    const auto batch = predict_batch(model, examples, begin);
    for (std::uint32_t i = 0; i < std::min<std::uint64_t>(batch.labels.size(), count - begin); ++i) {
      const Line line{begin + i, batch.labels[i],
                      std::span(batch.probabilities).subspan(std::size_t{i} * shape.classes, shape.classes)};
      output.write(csv ? line.csv() : line.json());
    }
  }
  output.close();
  if (!options.output.empty()) {
    std::printf("%s\n%llu predictions written to %s\n", model.words().c_str(), static_cast<unsigned long long>(count),
                options.output.c_str());
  }
  return 0;
}

}  // namespace ballast
