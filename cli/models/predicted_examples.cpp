#include "cli/models/predicted_examples.h"

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "common/command/usage_error.h"

namespace ballast {
namespace {

class SplitStream : public ExampleStream {
 public:
  SplitStream(std::unique_ptr<Dataset> data, const EvaluatedSplit& split) : data_(std::move(data)), split_(split) {}

  std::optional<StreamedExample> next(const ExampleRoom& room) override {
    if (at_ == split_.examples) {
      return std::nullopt;
    }
    const auto index = at_++;
    data_->read(split_.split, index, room);
    return StreamedExample{data_->source(split_.split, index), data_->fault(split_.split, index)};
  }

 private:
  std::unique_ptr<Dataset> data_;
  EvaluatedSplit split_;
  std::uint32_t at_ = 0;
};

struct OpenInput {
  std::string path;
  std::unique_ptr<ExampleStream> stream;
  bool has_examples = false;
};

class InputsStream : public ExampleStream {
 public:
  InputsStream(std::vector<OpenInput> inputs, std::string data) : inputs_(std::move(inputs)), data_(std::move(data)) {}

  std::optional<StreamedExample> next(const ExampleRoom& room) override {
    for (; at_ < inputs_.size(); ++at_) {
      auto& input = inputs_[at_];
      if (auto example = input.stream->next(room)) {
        input.has_examples = true;
        return example;
      }
      if (!input.has_examples) {
        const auto others = input.stream->passed_over();
        throw std::runtime_error("--input " + input.path + ": holds no example of the job's kind (data.name: " + data_ +
                                 ")" + (others > 0 ? ", but other files: " + std::to_string(others) : ""));
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::uint64_t passed_over() const override {
    std::uint64_t sum = 0;
    for (const auto& input : inputs_) {
      sum += input.stream->passed_over();
    }
    return sum;
  }

 private:
  std::vector<OpenInput> inputs_;
  std::string data_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<ExampleStream> examples_of_split(const LoadedModel& model, const EvaluatedSplit& split) {
  return std::make_unique<SplitStream>(model.open_data(), split);
}

std::unique_ptr<ExampleStream> examples_of_inputs(const LoadedModel& model, const std::vector<std::string>& inputs) {
  const auto& data = model.job().spec.data;
  if (!model.data_path().empty() && data.name != "text") {
    throw UsageError("--data " + model.data_path() +
                     ": with --input only texts need it, for their vocabulary; the "
                     "job's data set is " +
                     data.name + "; leave --data out");
  }
  std::vector<OpenInput> open;
  for (const auto& input : inputs) {
    try {
      open.push_back({input, open_unlabelled(data, model.data_path(), input)});
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(std::string("--input ") + error.what());
    }
  }
  return std::make_unique<InputsStream>(std::move(open), data.name);
}

}  // namespace ballast
