// ballast-server: one shard of a job.

#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/job/job.h"
#include "common/job/load.h"
#include "common/log/log.h"
#include "common/net/descriptors.h"
#include "common/net/message_memory.h"
#include "common/net/stop_signals.h"
#include "server/fault.h"
#include "server/shard.h"

namespace {

ballast::ServerOptions parse(int argc, char** argv) {
  ballast::ServerOptions options;
  CLI::App app("One shard of a Ballast job; shard 0 hosts the lead.", "ballast-server");
  app.add_option("--job", options.job, "the job file")->required();
  app.add_option("--shard", options.shard, "which shard, from 0")->required();
  app.add_option("--lead", options.lead, "the lead's address, tcp://HOST:PORT or ipc://PATH")->required();
  app.add_option("--lead-bind", options.lead_bind, "shard 0: where the lead listens (default: --lead)");
  app.add_option("--address-file", options.address_file, "shard 0: write the lead's address there once it listens");
  app.add_option("--bind", options.bind, "where lanes listen: tcp://HOST:* or ipc://PREFIX")->capture_default_str();
  app.add_option("--advertise", options.advertise, "the host by which others reach this machine");
  app.add_option("--database", options.database, "folder of this shard's database")->required();
  app.add_option("--metrics", options.metrics, "serve metrics on HOST:PORT");
  app.add_option("--log-file", options.log_file, "default: standard error");
  app.add_option("--log-level", options.log_level, "debug, info, warn or error")->capture_default_str();
  app.add_option("--log-megabytes", options.log_megabytes, "put a larger log file aside as FILE.1; 0: never")
      ->capture_default_str();
  app.add_option("--log-files", options.log_files, "how many log files are kept, the newest included")
      ->capture_default_str();
  app.add_flag("--insecure", options.insecure, "allow to listen beyond this machine without keys");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

// The exit code.
int serve(const ballast::ServerOptions& options) {
  const auto job = ballast::make_job(ballast::load_job(options.job));
  ballast::Shard shard(job, options);
  const ballast::StopSignals signals([&](const std::string& reason) { shard.interrupt(reason); });
  const auto failure = shard.run();
  if (failure.empty()) {
    ballast::log_info("the run has ended well");
    return 0;
  }
  if (const auto code = signals.exit_code(failure)) {
    ballast::log_info("{}: {}", failure, shard.what_is_left());
    return *code;
  }
  ballast::log_error("{}", failure);
  std::fprintf(stderr, "ballast-server: shard %u: %s\n", options.shard, failure.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  ballast::keep_freed_memory();
  ballast::raise_descriptor_limit();
  ballast::block_stop_signals();
  const auto options = parse(argc, argv);
  try {
    ballast::arm_faults();
    ballast::start_logging({"shard", std::to_string(options.shard), options.log_file,
                            ballast::parse_log_level(options.log_level), options.log_megabytes, options.log_files});
    return serve(options);
  } catch (const std::exception& error) {
    ballast::log_error("{}", error.what());
    std::fprintf(stderr, "ballast-server: shard %u: %s\n", options.shard, error.what());
  }
  return 1;
}
