#include "cli/models/digest.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/models/opened_run.h"

namespace ballast {

int show_digest(const std::string& run_folder, std::optional<Step> step) {
  const OpenedRun run(run_folder);
  const auto& reader = run.reader();
  const auto digest = run.digest(value_or_throw(step ? reader.at_step(*step) : reader.finished()));
  nlohmann::ordered_json json;
  json["job"] = run.job().spec.job;
  json["step"] = digest.snapshot.step;
  json["weights_sha256"] = digest.weights;
  json["optimizer_sha256"] =
      digest.optimizer.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(digest.optimizer);
  std::puts(json.dump(2).c_str());
  return 0;
}

}  // namespace ballast
