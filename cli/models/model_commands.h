// The subcommands that work on trained models and on jobs yet to run: export, evaluate, predict, losses,
// inspect, plan, gather, runs.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/before/plan.h"
#include "cli/models/evaluate.h"
#include "cli/models/export.h"
#include "cli/models/gather.h"
#include "cli/models/inspect.h"
#include "cli/models/predict.h"
#include "cli/models/runs.h"

namespace ballast {

class ModelCommands {
 public:
  // Must stay where it is until the command line has been parsed.
  void define(CLI::App& app);
  // The exit code if one of these subcommands was given; nothing otherwise.
  [[nodiscard]] std::optional<int> dispatch(const CLI::App& app) const;

 private:
  ExportOptions export_;
  EvaluateOptions evaluate_;
  PredictOptions predict_;
  std::string losses_folder_;
  InspectOptions inspect_;
  PlanOptions plan_;
  GatherCommand gather_;
  RunsOptions runs_;
  PruneOptions prune_;
};

}  // namespace ballast
