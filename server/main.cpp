// ballast-server: one shard of a job.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>

#include "common/command/command_line.h"
#include "common/command/exit_codes.h"
#include "common/health/options.h"
#include "common/job/job.h"
#include "common/job/load.h"
#include "common/log/log.h"
#include "common/net/descriptors.h"
#include "common/net/message_memory.h"
#include "common/net/stop_signals.h"
#include "common/usage/usage.h"
#include "common/version/version.h"
#include "server/fault.h"
#include "server/new_database.h"
#include "server/shard.h"

namespace {

const ballast::ManWords kManWords{
    "Owns one part (shard) of a job's weights: takes gradients from workers, applies updates, keeps snapshots in its "
    "database. The server of shard 0 hosts the lead, which gives out the work. Started again with the same arguments "
    "after its death, it goes on from its database.",
    {{"0",
      "the job has finished, or was stopped with a snapshot; or the server was told to end (SIGTERM, SIGINT) and "
      "nothing is lost by it: the job holds at a snapshot until it is started again, or goes on meanwhile; or no lead "
      "was heard in --lead-patience, and the database has the job's end"},
     {"1", "it failed; standard error and the log say why"},
     {"2", "the command line or the job file is wrong"},
     {"4", "the lead does not speak its version of the protocol, and it would end so again"},
     {"130, 143",
      "it was told to end, by SIGINT or SIGTERM, and no snapshot was complete in cluster.hold_patience (the "
      "log says which steps are lost), or it was told a second time and ended at once"}},
    {"ballast(1)", "ballast-worker(1)"}};

using ballast::check_bind;
using ballast::check_host;
using ballast::check_host_port;

// The exit code if the program is not to go on.
std::optional<int> parse(int argc, char** argv, ballast::ServerOptions& options) {
  CLI::App app("One shard of a Ballast job; shard 0 hosts the lead.", "ballast-server");
  app.add_option("--job", options.job, "the job file")->required();
  app.add_option("--shard", options.shard, "which shard, from 0")->required();
  app.add_option("--lead", options.lead, "the lead's address, tcp://HOST:PORT or ipc://PATH")
      ->required()
      ->check(check_bind);
  app.add_option("--lead-bind", options.lead_bind, "shard 0: where the lead listens (default: --lead)")
      ->check(check_bind);
  app.add_option("--address-file", options.address_file, "shard 0: write the lead's address there once it listens");
  app.add_option(
         "--bind", options.bind,
         "where lanes listen: tcp://HOST:* (any free port), tcp://HOST:PORT (of lane 0; each further lane takes "
         "the next port) or ipc://PREFIX")
      ->capture_default_str()
      ->check(check_bind);
  app.add_option("--advertise", options.advertise, "the host by which others reach this machine")->check(check_host);
  app.add_option("--database", options.database, "folder of this shard's database")->required();
  app.add_option("--metrics", options.metrics, "serve metrics on HOST:PORT")->check(check_host_port);
  app.add_option("--page", options.page, "shard 0: serve the job's web page on HOST:PORT")->check(check_host_port);
  app.add_option("--log-file", options.log_file, "default: standard error");
  ballast::add_log_level(app, options.log_level)->capture_default_str();
  ballast::add_log_megabytes(app, options.log_megabytes)->capture_default_str();
  ballast::add_log_files(app, options.log_files)->capture_default_str();
  ballast::add_lead_patience(app, options.lead_patience,
                             "not shard 0: end when no lead was heard for so long; well, if the database has the job's "
                             "end (default: never)");
  app.add_option("--keys", options.keys,
                 "folder of server.key and allowed.keys (ballast keygen): only who has an allowed key is let in")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--insecure", options.insecure, "allow to listen beyond this machine without keys");
  app.add_option("--linger", options.linger,
                 "shard 0: seconds that the lead stays after the job's end, and tells it to whoever starts late")
      ->type_name("SECONDS")
      ->check(CLI::Range(0, 3600));
  ballast::add_unfinished_code(app, options.unfinished_code);
  ballast::add_health_options(app, ballast::Role::server);
  ballast::add_usage_options(app, kManWords);
  return ballast::parse_command_line(app, argc, argv);
}

// On standard error once, whether the log goes there or to a file.
void tell(const ballast::ServerOptions& options, const std::string& text) {
  if (ballast::is_logging()) {
    ballast::log_error("{}", text);
  }
  if (!ballast::is_log_on_stderr()) {
    std::fprintf(stderr, "ballast-server: shard %u: %s\n", options.shard, text.c_str());
  }
}

// The exit code.
int serve(const ballast::Job& job, const ballast::ServerOptions& options) {
  ballast::Shard shard(job, options);
  const ballast::StopSignals signals([&](const std::string& reason) { shard.depart(reason); });
  const auto failure = shard.run();
  switch (shard.departure()) {
    case ballast::Departure::held:
      ballast::log_info("told to end: the job holds at its newest snapshot until this server is started again");
      return options.unfinished_code;
    case ballast::Departure::at_once:
      ballast::log_info("{}: {}", failure, shard.what_is_left());
      return options.unfinished_code;
    case ballast::Departure::out_of_patience:
      tell(options, failure);
      return signals.exit_code().value_or(1);
    case ballast::Departure::none:
      break;
  }
  if (shard.has_outlived_its_job()) {
    ballast::log_info("{}, and the job has finished", failure);
    return 0;
  }
  if (failure.empty()) {
    ballast::log_info("the run has ended well");
    return 0;
  }
  tell(options, failure);
  return shard.is_hopeless() ? ballast::kExitForGood : 1;
}

// A start that was refused, by us or by the lead, leaves nothing behind.
void discard(const ballast::NewDatabase& database, const ballast::ServerOptions& options) {
  if (database.discard()) {
    ballast::log_info("the new database {} is removed again: nothing of the job was in it", options.database);
  }
}

int serve(const ballast::ServerOptions& options) {
  const auto job = ballast::make_job(ballast::load_job(options.job, {}, ballast::Fit::judged));
  const ballast::NewDatabase database(options.database);
  try {
    const int code = serve(job, options);
    if (code == 1 || code == ballast::kExitForGood) {
      discard(database, options);
    }
    return code;
  } catch (...) {
    discard(database, options);
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
  ballast::keep_freed_memory();
  ballast::raise_descriptor_limit();
  ballast::block_stop_signals();
  ballast::ServerOptions options;
  if (const auto code = parse(argc, argv, options)) {
    return *code;
  }
  try {
    ballast::arm_faults();
    ballast::start_logging({"shard", std::to_string(options.shard), options.log_file,
                            ballast::parse_log_level(options.log_level), options.log_megabytes, options.log_files});
    ballast::log_info("ballast-server {}", ballast::version());
    return serve(options);
  } catch (const ballast::UsageError& error) {
    tell(options, error.what());
    return ballast::kExitUsage;
  } catch (const ballast::ConfigError& error) {
    tell(options, error.what());
    return ballast::kExitUsage;
  } catch (const std::exception& error) {
    tell(options, error.what());
  }
  return 1;
}
