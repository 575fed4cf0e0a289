// ballast: the command line.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/check.h"
#include "cli/digest.h"
#include "cli/run.h"
#include "cli/status.h"

namespace {

constexpr const char* kSetHelp = "replace a value of the job file: KEY.PATH=VALUE, as often as wanted";

struct CheckOptions {
  std::string file;
  std::vector<std::string> overrides;
  bool worker = false;
};

// INDEX:POINT@STEP
void add_fault(ballast::RunOptions& options, const std::string& text) {
  const auto colon = text.find(':');
  const auto digits = text.substr(0, colon);
  if (colon == std::string::npos || digits.empty() || digits.size() > 4 ||
      digits.find_first_not_of("0123456789") != std::string::npos) {
    throw CLI::ValidationError("--worker-fault", "'" + text + "' is not INDEX:POINT@STEP");
  }
  options.worker_faults[static_cast<std::uint32_t>(std::stoul(digits))] = text.substr(colon + 1);
}

void define_check(CLI::App& app, CheckOptions& options) {
  auto* check = app.add_subcommand("check", "check a job or worker file and say what it would do");
  check->add_option("file", options.file, "the file")->required();
  check->add_flag("--worker", options.worker, "it is a worker file");
  check->add_option("--set", options.overrides, kSetHelp)->type_name("KEY=VALUE")->expected(1)->take_all();
}

void define_run(CLI::App& app, ballast::RunOptions& options) {
  auto* run = app.add_subcommand("run", "run a job on a cluster of processes on this machine");
  run->add_option("job", options.job, "the job file")->required();
  run->add_option("--workers", options.workers, "worker processes (cluster.workers)");
  run->add_option("--shards", options.shards, "server processes (cluster.shards)");
  run->add_option("--lanes", options.lanes, "threads of each server (cluster.lanes)");
  run->add_option("--set", options.overrides, kSetHelp)->type_name("KEY=VALUE")->expected(1)->take_all();
  run->add_option("--run-dir", options.run_dir, "folder for databases and logs (default: a new one in ./runs)");
  run->add_option("--summary", options.summary, "write what came of it to this file, as JSON");
  run->add_flag("--metrics", options.metrics, "every process serves Prometheus metrics; processes.json says where");
  run->add_flag("--hold-start", options.hold_start, "begin to train only when all workers are ready");
  run->add_option_function<std::vector<std::string>>(
         "--worker-fault",
         [&options](const std::vector<std::string>& faults) {
           for (const auto& fault : faults) {
             add_fault(options, fault);
           }
         },
         "for tests: INDEX:POINT@STEP at which a worker kills itself")
      ->expected(1)
      ->take_all()
      ->group("");
}

struct StatusOptions {
  std::string lead;
  bool json = false;
};

void define_status(CLI::App& app, StatusOptions& options) {
  auto* status = app.add_subcommand("status", "ask a running job's lead how it stands");
  status->add_option("lead", options.lead, "the lead's address, e.g. from a run's lead.address")->required();
  status->add_flag("--json", options.json, "as one JSON object");
}

void define_digest(CLI::App& app, std::string& folder) {
  auto* digest = app.add_subcommand("digest", "the digests of a finished run's weights, read from its databases");
  digest->add_option("folder", folder, "the run's folder")->required();
}

struct Options {
  CheckOptions check;
  ballast::RunOptions run;
  StatusOptions status;
  std::string digest_folder;
};

int dispatch(const CLI::App& app, const Options& options) {
  if (app.got_subcommand("check")) {
    const auto check = options.check.worker ? ballast::check_worker : ballast::check_job;
    return check(options.check.file, options.check.overrides);
  }
  if (app.got_subcommand("status")) {
    return ballast::show_status(options.status.lead, options.status.json);
  }
  if (app.got_subcommand("digest")) {
    return ballast::show_digest(options.digest_folder);
  }
  return ballast::run(options.run);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Ballast: a parameter server for distributed deep learning", "ballast");
  app.require_subcommand(1);
  Options options;
  define_check(app, options.check);
  define_run(app, options.run);
  define_status(app, options.status);
  define_digest(app, options.digest_folder);
  try {
    app.parse(argc, argv);
    return dispatch(app, options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : ballast::kExitBadJob;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ballast: %s\n", error.what());
    return 1;
  }
}
