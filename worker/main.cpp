// ballast-worker: computes what the lead gives it, and holds nothing.

#include <pthread.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <stdexcept>

#include "common/job/load.h"
#include "common/log/log.h"
#include "common/metrics/metrics.h"
#include "common/net/descriptors.h"
#include "common/net/message_memory.h"
#include "common/net/stop_signals.h"
#include "worker/worker_loop.h"

namespace {

struct Options {
  std::string config;
  std::string fault;
  ballast::WorkerSpec spec;
};

Options parse(int argc, char** argv) {
  Options options;
  ballast::WorkerSpec given;
  CLI::App app("One worker of a Ballast job: it is told everything by the lead.", "ballast-worker");
  app.add_option("--config", options.config, "a worker file; the options below replace its values");
  app.add_option("--lead", given.lead, "the lead's address, tcp://HOST:PORT or ipc://PATH");
  app.add_option("--name", given.name, "shown in metrics and status (default: host name and process id)");
  app.add_option("--data", given.data_path, "folder of the data files on this machine");
  app.add_option("--metrics", given.metrics_address, "serve metrics on HOST:PORT");
  app.add_option("--log-file", given.log_file, "default: standard error");
  app.add_option("--log-level", given.log_level, "debug, info, warn or error");
  app.add_option("--log-megabytes", given.log_megabytes, "put a larger log file aside as FILE.1; 0: never");
  app.add_option("--log-files", given.log_files, "how many log files are kept, the newest included");
  app.add_option("--backend", given.backend, "auto, cpu or cuda")->check(CLI::IsMember({"auto", "cpu", "cuda"}));
  app.add_option("--device", given.device, "which GPU, as CUDA counts them")->check(CLI::Range(63));
  app.add_option("--fault", options.fault, "for tests: POINT@STEP at which the worker kills itself")->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  auto& spec = options.spec;
  const auto use = [&](const char* option, auto ballast::WorkerSpec::*field) {
    if (app.count(option) > 0) {
      spec.*field = given.*field;
    }
  };
  if (!options.config.empty()) {
    spec = ballast::load_worker(options.config);
  }
  use("--lead", &ballast::WorkerSpec::lead);
  use("--name", &ballast::WorkerSpec::name);
  use("--data", &ballast::WorkerSpec::data_path);
  use("--metrics", &ballast::WorkerSpec::metrics_address);
  use("--log-file", &ballast::WorkerSpec::log_file);
  use("--log-level", &ballast::WorkerSpec::log_level);
  use("--log-megabytes", &ballast::WorkerSpec::log_megabytes);
  use("--log-files", &ballast::WorkerSpec::log_files);
  use("--backend", &ballast::WorkerSpec::backend);
  use("--device", &ballast::WorkerSpec::device);
  if (spec.lead.empty()) {
    throw std::runtime_error("no lead: say --lead ADDRESS, or lead: in the worker file");
  }
  if (spec.name.empty()) {
    char host[256] = "worker";
    ::gethostname(host, sizeof(host) - 1);
    spec.name = std::string(host) + "-" + std::to_string(::getpid());
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  ballast::keep_freed_memory();
  ballast::raise_descriptor_limit();
  ballast::block_stop_signals();
  try {
    const auto options = parse(argc, argv);
    ballast::start_logging({"worker", options.spec.name, options.spec.log_file,
                            ballast::parse_log_level(options.spec.log_level), options.spec.log_megabytes,
                            options.spec.log_files});
    const auto fault = options.fault.empty() ? std::nullopt : std::optional(ballast::Fault::parse(options.fault));
    const auto metrics = ballast::serve_metrics(options.spec.metrics_address);
    ballast::WorkerLoop loop(options.spec, fault, metrics.get());
    const ballast::StopSignals signals([&](const std::string& reason) { loop.interrupt(reason); });
    const auto failure = loop.run();
    if (failure.empty()) {
      ballast::log_info("the job has finished, or was stopped");
      return 0;
    }
    if (const auto code = signals.exit_code(failure)) {
      ballast::log_info("{}: it held nothing, and the job goes on without it", failure);
      return *code;
    }
    ballast::log_error("{}", failure);
    std::fprintf(stderr, "ballast-worker: %s\n", failure.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ballast-worker: %s\n", error.what());
  }
  return 1;
}
