// Jobs that tests of rendering render.
#pragma once

#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/rendering/kubernetes.h"
#include "cli/rendering/rendered_job.h"
#include "common/command/usage_error.h"

namespace ballast {

// A job file that lives as long as this, and its rendering.
class JobToRender {
 public:
  explicit JobToRender(const std::string& text = kMillionFloats)
      : folder_(std::filesystem::temp_directory_path() / ("ballast-render-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    options.job = folder_ / "job.yaml";
    std::ofstream(options.job) << text;
  }
  ~JobToRender() { std::filesystem::remove_all(folder_); }
  JobToRender(const JobToRender&) = delete;
  JobToRender& operator=(const JobToRender&) = delete;

  [[nodiscard]] RenderedJob rendered() const { return rendered_job(options); }
  [[nodiscard]] std::vector<nlohmann::ordered_json> objects() const { return kubernetes_objects(rendered()); }
  [[nodiscard]] nlohmann::ordered_json object(const std::string& kind, const std::string& name) const {
    const auto all = objects();
    const auto found = std::ranges::find_if(
        all, [&](const auto& object) { return object["kind"] == kind && object["metadata"]["name"] == name; });
    REQUIRE_MESSAGE(found != all.end(), kind << " " << name);
    return *found;
  }
  [[nodiscard]] std::string refusal() const {
    try {
      static_cast<void>(rendered());
    } catch (const UsageError& error) {
      return error.what();
    }
    return "it was rendered";
  }

  // 4 MB of weights on two shards, three workers.
  static constexpr auto* kMillionFloats =
      "job: million_floats\n"
      "model: {name: emulated, parameters: [{name: w, shape: [1000, 1000]}]}\n"
      "data: {name: none}\n"
      "training: {batch: 64, slots: 8, max_steps: 5, optimizer: {name: adam, learning_rate: 0.1}}\n"
      "cluster: {shards: 2, workers: 3, lanes: 2, hold_patience: 50}\n";
  static constexpr auto* kMnist =
      "job: mnist\n"
      "model: {name: lenet5}\n"
      "data: {name: mnist}\n"
      "training: {batch: 64, slots: 8, epochs: 1, optimizer: {name: sgd, learning_rate: 0.1}}\n";

  RenderOptions options;

 private:
  std::filesystem::path folder_;
};

// Of a container's or service's words.
inline bool has_word(const nlohmann::ordered_json& words, const std::string& wanted) {
  for (const auto& word : words) {
    if (word.get<std::string>() == wanted) {
      return true;
    }
  }
  return false;
}

inline bool has_argument(const nlohmann::ordered_json& container, const std::string& argument) {
  return has_word(container["args"], argument);
}

}  // namespace ballast
