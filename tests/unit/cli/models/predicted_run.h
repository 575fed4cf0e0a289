// A run that has finished, and what `ballast predict` writes of it.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/models/predict.h"
#include "tests/unit/cli/captured.h"
#include "tests/unit/cli/models/sample_run.h"
#include "worker/data/examples.h"

namespace ballast {

inline std::string job_text(const std::string& model, const std::string& data) {
  return "job: sample\nmodel: " + model + "\ndata: " + data +
         "\ntraining: {batch: 4, slots: 2, max_steps: 9, optimizer: {name: sgd, learning_rate: 0.1, momentum: 0.9}}\n"
         "cluster: {shards: 2}\n";
}

// A run that has finished, and the files of its data beside it.
struct PredictedRun : SampleRun {
  using Json = nlohmann::json;
  using Row = std::vector<std::string>;

  PredictedRun(const std::string& text, const std::vector<std::pair<std::string, std::string>>& files)
      : SampleRun(text) {
    for (const auto& [name, content] : files) {
      std::filesystem::create_directories(std::filesystem::path(file(name)).parent_path());
      std::ofstream(file(name), std::ios::binary) << content;
    }
    options.source = {path(), {}, "", files.empty() ? "" : folder.path().string()};
    write_ledger(true);
  }

  std::vector<Row> csv() {
    options.format = "csv";
    std::vector<Row> rows;
    std::istringstream lines(captured([&] { CHECK(predict(options) == 0); }));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream cells(line);
      rows.emplace_back();
      for (std::string cell; std::getline(cells, cell, ',');) {
        rows.back().push_back(cell);
      }
    }
    return rows;
  }
  std::vector<Json> json() {
    options.format = "jsonl";
    std::vector<Json> objects;
    std::istringstream lines(captured([&] { CHECK(predict(options) == 0); }));
    for (std::string line; std::getline(lines, line);) {
      objects.push_back(Json::parse(line));
    }
    return objects;
  }

  // The job's own model and data, asked without any of the command's code.
  [[nodiscard]] SlotExamples examples(std::uint32_t count) const {
    return read_examples(*open_dataset(job.spec.data, options.source.data_path), DataSplit::test, 0, count);
  }
  [[nodiscard]] std::vector<float> predictions(const SlotExamples& read, std::size_t size) const {
    std::vector<float> values(size);
    make_model(job.spec.model, job.shape, job.arena, on_cpu(1))->predict(read.batch(), weights(kEnd), values);
    return values;
  }

  PredictOptions options;
};

}  // namespace ballast
