#include "cli/models/model_commands.h"

#include <string>

#include "cli/before/not_negative.h"
#include "cli/models/losses.h"

namespace ballast {

namespace {

void add_snapshot(CLI::App& command, SnapshotChoice& choice) {
  auto* step = command.add_option("--step", choice.step, "the snapshot of this step")->check(not_negative);
  command.add_flag("--best", choice.best, "the snapshot with the best validation (training.best_by)")->excludes(step);
  command.add_flag("--last-weights", choice.last_weights,
                   "the weights that training left, not their averages (training.weight_average)");
}

void add_source(CLI::App& command, ModelSource& source) {
  command.add_option("weights", source.weights, "a run's folder, or a safetensors file")->required();
  add_snapshot(command, source.snapshot);
  command.add_option("--job", source.job, "a job file: its model and data (default: the one in the run or the file)");
  command
      .add_option("--data", source.data_path,
                  "folder of the data files, or their one file (default: searched as workers do)")
      ->check(CLI::ExistingPath);
}

void add_split(CLI::App& command, std::string& split) {
  command.add_option("--split", split, "test, validation or train (default: test, without test examples validation)")
      ->check(CLI::IsMember({"test", "validation", "train"}));
}

void define_gather(CLI::App& app, GatherCommand& command) {
  auto* const gather = app.add_subcommand("gather", "make a run's folder of the databases of servers started by hand");
  gather->add_option("databases", command.databases, "the databases of all shards of one job, in any order")
      ->required();
  gather->add_option("--run-dir", command.run_dir, "the folder to make")->required();
  gather->add_flag("--link", command.link, "link to the databases instead of copying them");
}

void define_runs(CLI::App& app, RunsOptions& runs_options, PruneOptions& prune_options) {
  auto* const runs = app.add_subcommand("runs", "list the runs in a folder: state, accuracy, size");
  runs->add_option("folder", runs_options.folder, "the folder of run folders (default: runs)");
  runs->add_flag("--json", runs_options.json, "as JSON");
  auto* const prune = runs->add_subcommand("prune", "remove runs that have finished or never began");
  prune->add_option("folder", prune_options.folder, "the folder of run folders (default: runs)");
  prune->add_option("--keep", prune_options.keep, "leave the newest so many of them")->check(CLI::Range(0, 1'000'000));
  prune->add_option("--older-than", prune_options.older_than, "only runs that were started more than so many days ago")
      ->check(CLI::Range(0.0, 1e6));
  prune->add_flag("--unfinished", prune_options.unfinished, "also runs that could be resumed, or cannot be read");
  prune->add_flag("--yes", prune_options.yes, "remove them; without it they are only named");
}

}  // namespace

void ModelCommands::define(CLI::App& app) {
  define_gather(app, gather_);
  define_runs(app, runs_, prune_);
  auto* const export_command = app.add_subcommand("export", "write a run's weights into a safetensors file");
  export_command->add_option("run", export_.run, "the run's folder")->required();
  export_command->add_option("-o,--output", export_.output, "the file")->required();
  add_snapshot(*export_command, export_.snapshot);

  auto* const evaluate_command = app.add_subcommand("evaluate", "the loss and accuracy of trained weights");
  add_source(*evaluate_command, evaluate_.source);
  add_split(*evaluate_command, evaluate_.split);
  evaluate_command->add_flag("--json", evaluate_.json, "as one JSON object");

  auto* const predict_command = app.add_subcommand("predict", "what trained weights make of examples, one by one");
  add_source(*predict_command, predict_.source);
  add_split(*predict_command, predict_.split);
  predict_command
      ->add_option("--input", predict_.inputs,
                   "instead of the job's data: a file or folder of your own, without labels; as often as wanted")
      ->type_name("PATH")
      ->expected(1)
      ->take_all()
      ->excludes("--split");
  predict_command->add_option("--format", predict_.format, "csv (default) or jsonl")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  predict_command->add_option("-o,--output", predict_.output, "a file instead of standard output");
  predict_command->add_option("--limit", predict_.limit, "so many examples at most")->check(not_negative);

  auto* const losses_command = app.add_subcommand("losses", "the training loss of each step of a run, as CSV");
  losses_command->add_option("run", losses_folder_, "the run's folder")->required();

  auto* const inspect_command = app.add_subcommand("inspect", "what a run's databases hold");
  inspect_command->add_option("run", inspect_.run, "the run's folder")->required();
  inspect_command->add_flag("--verify", inspect_.verify, "read every record and check every checksum");
  inspect_command->add_flag("--json", inspect_.json, "as one JSON object");

  auto* const plan_command = app.add_subcommand("plan", "what a job will take of memory, disk and network");
  plan_command->add_option("job", plan_.job, "the job file")->required();
  plan_command->add_option("--set", plan_.overrides, "replace a value of the job file, as often as wanted")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  plan_command->add_flag("--here", plan_.here, "fail if this machine has not enough for all of it");
  plan_command->add_option("--run-dir", plan_.folder, "with --here: the folder for databases (default: this one)");
  plan_command->add_flag("--json", plan_.json, "as one JSON object");
}

std::optional<int> ModelCommands::dispatch(const CLI::App& app) const {
  if (app.got_subcommand("export")) {
    return export_weights(export_);
  }
  if (app.got_subcommand("evaluate")) {
    return evaluate(evaluate_);
  }
  if (app.got_subcommand("predict")) {
    return predict(predict_);
  }
  if (app.got_subcommand("losses")) {
    return print_losses(losses_folder_);
  }
  if (app.got_subcommand("inspect")) {
    return inspect(inspect_);
  }
  if (app.got_subcommand("gather")) {
    return gather(gather_);
  }
  if (app.got_subcommand("runs")) {
    return app.get_subcommand("runs")->got_subcommand("prune") ? prune_runs(prune_) : show_runs(runs_);
  }
  if (app.got_subcommand("plan")) {
    return plan(plan_);
  }
  return std::nullopt;
}

}  // namespace ballast
