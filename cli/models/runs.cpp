#include "cli/models/runs.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "cli/models/closed_database.h"
#include "cli/models/opened_run.h"
#include "cli/models/run_removal.h"
#include "cli/run_folder/run_folder.h"
#include "cli/run_folder/run_lock.h"
#include "cli/run_folder/settle.h"
#include "common/job/load.h"
#include "common/telling/amounts.h"
#include "common/telling/quality.h"

namespace ballast {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

std::uintmax_t bytes_in(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code error;  // a running run's files come and go
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    const auto size = entry->is_regular_file(gone) && !entry->is_symlink(gone) ? entry->file_size(gone) : 0;
    bytes += gone ? 0 : size;
  }
  return bytes;
}

std::int64_t written_at(const fs::path& file) {
  struct stat facts {};
  return stat(file.c_str(), &facts) == 0 ? facts.st_mtim.tv_sec : 0;
}

std::optional<double> newest_accuracy(const std::vector<EvaluationRecord>& evaluations) {
  std::optional<double> validation;
  for (auto evaluation = evaluations.rbegin(); evaluation != evaluations.rend(); ++evaluation) {
    if (evaluation->split == Split::test) {
      return told_accuracy(evaluation->accuracy, evaluation->metrics);
    }
    validation = validation ? validation : told_accuracy(evaluation->accuracy, evaluation->metrics);
  }
  return validation;
}

// By the ledger, which is in shard 0's database.
void read_ledger_of(RunListing& run) {
  const auto database = shard_database(run.folder, 0);
  if (!fs::is_directory(database) || fs::is_empty(database)) {
    run.condition = RunCondition::empty;
    return;
  }
  const ShardStore store(value_or_throw(open_rocksdb(database, OpenMode::read_only)));
  const auto content = value_or_throw(store.read_ledger());
  run.accuracy = newest_accuracy(content.evaluations);
  if (content.ledger.finished) {
    run.condition = RunCondition::finished;
    run.step = content.ledger.finished->step;
    return;
  }
  run.condition = RunCondition::unfinished;
  run.step = content.ledger.complete.empty() ? 0 : content.ledger.complete.back().step;
}

// By a run's lock, or, where servers were started by hand, by those of the databases.
bool is_in_use(const fs::path& folder) {
  const auto databases = databases_in(folder);
  return (fs::exists(folder / "lock") && has_living_run(folder)) ||
         std::any_of(databases.begin(), databases.end(), is_open_elsewhere);
}

RunListing listing_of(const fs::path& folder) {
  RunListing run;
  run.folder = folder;
  run.marked = is_marked_run_folder(folder);
  run.began = written_at(folder / "job.yaml");
  run.bytes = bytes_in(folder);
  try {
    settle_run_folder(folder);
    const auto job = make_job(load_effective_job((folder / "job.yaml").string(), {}));
    run.job = job.spec.job;
    run.steps = job.steps.steps;
    read_ledger_of(run);
  } catch (const std::exception& error) {
    run.condition = RunCondition::unreadable;
    run.problem = error.what();
  }
  if (is_in_use(folder)) {
    run.condition = RunCondition::running;
  }
  return run;
}

std::string time_of(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts)};
}

std::string accuracy_of(const RunListing& run) {
  std::array<char, 32> text{};
  if (run.accuracy) {
    std::snprintf(text.data(), text.size(), "%.2f %%", 100 * *run.accuracy);
  }
  return run.accuracy ? text.data() : "-";
}

void print_line(const std::string& folder, const char* state, const std::string& step, const std::string& accuracy,
                const std::string& size, const std::string& began) {
  std::printf("%-44s %-10s %17s %9s %10s  %s\n", folder.c_str(), state, step.c_str(), accuracy.c_str(), size.c_str(),
              began.c_str());
}

void print(const RunListing& run) {
  print_line(run.folder.string(), name_of(run.condition), std::to_string(run.step) + "/" + std::to_string(run.steps),
             accuracy_of(run), bytes_text(run.bytes), time_of(run.began));
}

std::string runs_json(const std::vector<RunListing>& runs) {
  auto list = Json::array();
  for (const auto& run : runs) {
    Json entry;
    entry["folder"] = run.folder.string();
    entry["job"] = run.job.empty() ? Json(nullptr) : Json(run.job);
    entry["state"] = name_of(run.condition);
    entry["problem"] = run.problem.empty() ? Json(nullptr) : Json(run.problem);
    entry["step"] = run.step;
    entry["steps"] = run.steps;
    entry["accuracy"] = run.accuracy ? Json(*run.accuracy) : Json(nullptr);
    entry["bytes"] = run.bytes;
    entry["began"] = run.began;
    entry["marked"] = run.marked;
    list.push_back(std::move(entry));
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool may_go(const RunListing& run, const PruneOptions& options) {
  switch (run.condition) {
    case RunCondition::running:
      return false;
    case RunCondition::finished:
    case RunCondition::empty:
      return true;
    case RunCondition::unfinished:
    case RunCondition::unreadable:
      break;
  }
  return options.unfinished;
}

void prune(const RunListing& run, bool yes) {
  const auto left = yes ? remove_run(run.folder) : foreign_to_run(run.folder);
  std::printf("%s %s (%s, %s)\n", yes ? "removed" : "would remove", run.folder.c_str(), name_of(run.condition),
              bytes_text(run.bytes).c_str());
  if (!left.empty()) {
    std::printf("  but for what Ballast did not make there: %s\n", names_text(left).c_str());
  }
}

}  // namespace

const char* name_of(RunCondition condition) {
  static constexpr const char* kNames[] = {"running", "finished", "unfinished", "empty", "unreadable"};
  return kNames[static_cast<std::size_t>(condition)];
}

std::vector<RunListing> list_runs(const fs::path& folder) {
  std::error_code error;
  std::vector<RunListing> runs;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory() && !entry.is_symlink() && fs::is_regular_file(entry.path() / "job.yaml")) {
      runs.push_back(listing_of(entry.path()));
    }
  }
  if (error) {
    throw std::runtime_error(folder.string() + ": it cannot be read: " + error.message() +
                             "; name the folder that holds run folders");
  }
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return std::pair(-a.began, a.folder) < std::pair(-b.began, b.folder); });
  return runs;
}

std::vector<RunListing> runs_to_prune(const std::vector<RunListing>& runs, const PruneOptions& options,
                                      std::int64_t now) {
  constexpr double kDay = 86'400;
  std::vector<RunListing> chosen;
  std::uint32_t kept = 0;
  for (const auto& run : runs) {  // the newest first
    if (!run.marked || !may_go(run, options) || kept++ < options.keep) {
      continue;
    }
    if (!options.older_than || static_cast<double>(now - run.began) > *options.older_than * kDay) {
      chosen.push_back(run);
    }
  }
  return chosen;
}

int show_runs(const RunsOptions& options) {
  const auto runs = list_runs(options.folder);
  if (options.json) {
    std::fputs(runs_json(runs).c_str(), stdout);
    return 0;
  }
  print_line("run", "state", "step", "accuracy", "size", "began (UTC)");
  for (const auto& run : runs) {
    print(run);
    if (!run.problem.empty() && run.condition == RunCondition::unreadable) {
      std::printf("  %s\n", run.problem.c_str());
    }
    if (!run.marked) {
      std::printf("  ballast run, gather, restore or reshard did not make this folder: prune leaves it\n");
    }
  }
  return 0;
}

int prune_runs(const PruneOptions& options) {
  const auto runs = list_runs(options.folder);
  const auto chosen = runs_to_prune(runs, options, std::time(nullptr));
  for (const auto& run : runs) {
    if (!run.marked && may_go(run, options)) {
      std::printf("%s is left: ballast run, gather, restore or reshard did not make this folder; remove it yourself\n",
                  run.folder.c_str());
    }
  }
  std::uintmax_t bytes = 0;
  int exit_code = 0;
  for (const auto& run : chosen) {
    try {
      prune(run, options.yes);
      bytes += run.bytes;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s is left: %s\n", run.folder.c_str(), error.what());
      exit_code = 1;
    }
  }
  std::printf("%zu run%s, %s%s\n", chosen.size(), chosen.size() == 1 ? "" : "s", bytes_text(bytes).c_str(),
              options.yes || chosen.empty() ? "" : "; add --yes to remove them");
  return exit_code;
}

}  // namespace ballast
