// ballast-worker: computes what the lead gives it, and holds nothing.

#include <pthread.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "common/command/command_line.h"
#include "common/command/exit_codes.h"
#include "common/health/options.h"
#include "common/job/load.h"
#include "common/log/log.h"
#include "common/metrics/metrics.h"
#include "common/net/descriptors.h"
#include "common/net/message_memory.h"
#include "common/net/stop_signals.h"
#include "common/usage/usage.h"
#include "common/version/version.h"
#include "worker/compute/choose.h"
#include "worker/corrupt_line.h"
#include "worker/worker_loop.h"

namespace {

const ballast::ManWords kManWords{
    "Computes gradients for a job. All it needs is the lead's address: the lead tells it the job, where the servers "
    "are "
    "and what to compute. It holds nothing, and may come and go at any time.",
    {{"0",
      "the job has finished, or was stopped; or the worker was told to end (SIGTERM, SIGINT): it finishes the slot in "
      "hand, delivers what it has begun, in 20 s at the latest, and takes its leave; or no lead was heard in "
      "--lead-patience"},
     {"1", "it failed; standard error says why"},
     {"2", "the command line or the worker file is wrong, or the job's data cannot be read here as the job says"},
     {"4",
      "it cannot serve this job, and another life of it would say the same: other data, another arithmetic, no such "
      "backend, or a version of the protocol that the lead does not speak"},
     {"130, 143",
      "it was told to end a second time, by SIGINT or SIGTERM, and ended at once: what it had begun is computed "
      "again"}},
    {"ballast(1)", "ballast-server(1)"}};

struct Options {
  std::string config;
  std::string fault;
  int unfinished_code = 0;          // exit code of a worker that was told to end before the job was over
  std::string probe;                // a precision: say what it would be computed on, and end
  std::uint32_t lead_patience = 0;  // seconds without a lead after which it ends; 0: never
  ballast::WorkerSpec spec;
};

// The exit code if the program is not to go on.
std::optional<int> parse(int argc, char** argv, Options& options) {
  ballast::WorkerSpec given;
  CLI::App app("One worker of a Ballast job: it is told everything by the lead.", "ballast-worker");
  app.add_option("--config", options.config, "a worker file; the options below replace its values");
  app.add_option("--lead", given.lead, "the lead's address, tcp://HOST:PORT or ipc://PATH")
      ->check(ballast::check_endpoint);
  app.add_option("--keys", given.keys, "file of this worker's keys (ballast keygen)")->check(CLI::ExistingFile);
  app.add_option("--name", given.name, "shown in metrics and status (default: host name and process id)");
  app.add_option("--data", given.data_path, "folder of the data files on this machine; no other is searched")
      ->check(CLI::ExistingDirectory);
  app.add_option("--metrics", given.metrics_address, "serve metrics on HOST:PORT")->check(ballast::check_host_port);
  app.add_option("--log-file", given.log_file, "default: standard error");
  ballast::add_log_level(app, given.log_level);
  ballast::add_log_megabytes(app, given.log_megabytes);
  ballast::add_log_files(app, given.log_files);
  app.add_option("--backend", given.backend, "auto, cpu or cuda")->check(CLI::IsMember({"auto", "cpu", "cuda"}));
  app.add_option("--device", given.device, "which GPU, as CUDA counts them")->check(CLI::Range(63));
  app.add_option("--link-mbit", given.link_mbit, "what this machine's network link carries, in Mbit/s each way")
      ->check(CLI::Range(ballast::kMaxLinkMbit));
  ballast::add_unfinished_code(app, options.unfinished_code);
  ballast::add_lead_patience(app, options.lead_patience,
                             "end well when no lead was heard for so long: the job is over (default: never)");
  app.add_option("--probe-backend", options.probe, "for ballast: tell what PRECISION is computed on here, and end")
      ->group("");
  app.add_option("--fault", options.fault, "for tests: POINT@STEP at which the worker kills itself")->group("");
  ballast::add_health_options(app, ballast::Role::worker);
  ballast::add_usage_options(app, kManWords);
  if (const auto code = ballast::parse_command_line(app, argc, argv)) {
    return code;
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
  use("--keys", &ballast::WorkerSpec::keys);
  use("--name", &ballast::WorkerSpec::name);
  use("--data", &ballast::WorkerSpec::data_path);
  use("--metrics", &ballast::WorkerSpec::metrics_address);
  use("--log-file", &ballast::WorkerSpec::log_file);
  use("--log-level", &ballast::WorkerSpec::log_level);
  use("--log-megabytes", &ballast::WorkerSpec::log_megabytes);
  use("--log-files", &ballast::WorkerSpec::log_files);
  use("--backend", &ballast::WorkerSpec::backend);
  use("--device", &ballast::WorkerSpec::device);
  use("--link-mbit", &ballast::WorkerSpec::link_mbit);
  if (spec.lead.empty() && options.probe.empty()) {
    throw ballast::UsageError("no lead: say --lead ADDRESS, or lead: in the worker file");
  }
  if (spec.name.empty()) {
    char host[256] = "worker";
    ::gethostname(host, sizeof(host) - 1);
    spec.name = std::string(host) + "-" + std::to_string(::getpid());
  }
  return std::nullopt;
}

// On standard error once, whether the log goes there or to a file.
void tell(const std::string& text) {
  if (ballast::is_logging()) {
    ballast::log_error("{}", text);
  }
  if (!ballast::is_log_on_stderr()) {
    std::fprintf(stderr, "ballast-worker: %s\n", text.c_str());
  }
}

int work(const Options& options) {
  ballast::start_logging({"worker", options.spec.name, options.spec.log_file,
                          ballast::parse_log_level(options.spec.log_level), options.spec.log_megabytes,
                          options.spec.log_files});
  ballast::log_info("ballast-worker {}", ballast::version());
  const auto fault = options.fault.empty() ? std::nullopt : std::optional(ballast::Fault::parse(options.fault));
  const auto metrics = ballast::serve_metrics(options.spec.metrics_address);
  ballast::WorkerLoop loop(options.spec, fault, metrics.get(), ballast::Micros{options.lead_patience} * 1'000'000);
  // The first one drains it; the second one ends it at once, which loses nothing but time.
  const ballast::StopSignals signals([&](const std::string& reason) { loop.interrupt(reason); });
  const auto ending = loop.run();
  if (const auto corrupt = loop.corrupt_examples(); corrupt > 0) {
    ballast::log_info("{}{}", ballast::kCorruptLine, corrupt);
  }
  if (ending.failure.empty()) {
    ballast::log_info("it has computed {} slots", loop.computed_slots());
    ballast::log_info("{}", loop.farewell());
    return loop.left_early() ? options.unfinished_code : 0;
  }
  tell(ending.failure);
  return ending.of_data ? ballast::kExitUsage : ending.for_good ? ballast::kExitForGood : 1;
}

// What a worker with these options would say of its backend, a line each, on standard output.
int probe_backend(const Options& options) {
  const ballast::BackendRequest request{options.spec.backend, options.spec.device, 1,
                                        ballast::precision_named(options.probe)};
  try {
    ballast::make_backend(request, ballast::find_cuda_files(),
                          [](const std::string& text) { std::printf("%s\n", text.c_str()); });
    return 0;
  } catch (const ballast::BackendUnavailable& reason) {
    std::printf("%s\n", reason.what());
    return ballast::kExitForGood;
  }
}

}  // namespace

int main(int argc, char** argv) {
  ballast::keep_freed_memory();
  ballast::raise_descriptor_limit();
  ballast::block_stop_signals();
  Options options;
  try {
    const auto code = parse(argc, argv, options);
    if (code) {
      return *code;
    }
    return options.probe.empty() ? work(options) : probe_backend(options);
  } catch (const ballast::UsageError& error) {
    tell(error.what());
    return ballast::kExitUsage;
  } catch (const ballast::ConfigError& error) {
    tell(error.what());
    return ballast::kExitUsage;
  } catch (const std::exception& error) {
    tell(error.what());
  }
  return 1;
}
