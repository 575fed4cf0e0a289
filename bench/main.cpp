// ballast-bench: measures Ballast, each time beside a baseline of the same run.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "bench/benchmark.h"
#include "bench/report.h"
#include "common/command/command_line.h"

namespace {

using namespace ballast::bench;  // NOLINT(google-build-using-namespace): all this file talks about

struct Benchmark {
  const char* name;
  const char* about;
  Result (*run)(const Options&);
};

constexpr std::array<Benchmark, 22> kBenchmarks = {{
    {"pushpull", "gradients to the server and weights back, against a raw socket", pushpull},
    {"encryption", "gradients and weights with keys, against none", encryption},
    {"lenet5", "images a second of one worker, against the model alone", lenet5},
    {"networks", "networks of several kinds, against PyTorch", networks},
    {"apply", "the server's update, against plain loops over memory", apply},
    {"idle", "processor use of a server that has nothing to do", idle},
    {"turns", "how long the loops are busy at a stretch with a large model, against copies", turns},
    {"recovery", "how long a job stands still when a server is killed", recovery},
    {"snapshots", "what snapshots cost, against none", snapshots},
    {"journal", "a shard's journal, against the disk's limit and RocksDB", journal},
    {"journaled", "a job that keeps a journal, against one that keeps none", journaled},
    {"cuts", "steps of a journaled job with a cut at each, and without", cuts},
    {"restart", "a shard's snapshots written and read back, against keys with the kind first", restart},
    {"copying", "a shard's part copied and read back with a key, against none", copying},
    {"stale", "a slow worker in each mode: time, loss and staleness", stale},
    {"pace", "items a second in async, against sync", pace},
    {"outbox", "queues of workers and lanes by their length, against a map", outbox},
    {"divide", "models sent up by worker and step, against an even division", divide},
    {"lead", "processor time of the lead by members", lead},
    {"shares", "processor time of sharing out a step's slots", shares},
    {"data", "images decoded and augmented, against torchvision; only with --images", data},
    {"peers", "pushes and pulls beside ps-lite, in turns; only with --ps-lite", peers},
}};

struct Arguments {
  std::string name;
  bool json = false;
  Options options;
};

// The exit code if the program is not to go on.
std::optional<int> parse(int argc, char** argv, Arguments& arguments) {
  std::string names = "which one (default: all):";
  for (const auto& benchmark : kBenchmarks) {
    names += std::string("\n") + benchmark.name + ": " + benchmark.about;
  }
  CLI::App app("Measures Ballast on this machine.", "ballast-bench");
  app.add_option("name", arguments.name, names)->check([](const std::string& name) {
    const bool known = std::any_of(kBenchmarks.begin(), kBenchmarks.end(),
                                   [&](const Benchmark& benchmark) { return name == benchmark.name; });
    return known ? std::string() : "there is no benchmark '" + name + "'; --help lists them";
  });
  app.add_flag("--json", arguments.json, "JSON on standard output instead of tables");
  app.add_option(
         "--seconds", arguments.options.seconds,
         "length of one measurement (default: 60 for idle, 40 for snapshots, 3 for journal, 2 for pace, 4 otherwise)")
      ->check(CLI::Range(0.1, 3600.0));
  app.add_option("--repetitions", arguments.options.repetitions,
                 "measurements of each kind, of which the median is told")
      ->check(CLI::Range(1U, 99U))
      ->capture_default_str();
  app.add_option("--gigabytes", arguments.options.gigabytes, "for turns: the model's size (default: 0.94)")
      ->check(CLI::Range(0.1, 1000.0));
  app.add_option("--ps-lite", arguments.options.ps_lite, "for peers: a program built with ps-lite (bench/ps_lite.h)")
      ->check(CLI::ExistingFile);
  app.add_option("--images", arguments.options.images, "for data: a folder of images with one folder a class")
      ->check(CLI::ExistingDirectory);
  return ballast::parse_command_line(app, argc, argv);
}

void run(const Arguments& arguments) {
  const auto machine = this_machine();
  if (!arguments.json) {
    std::printf("%s, %u cores, load %.1f before, %s\n\n", machine.processor.c_str(), machine.cores, machine.load,
                machine.date.c_str());
  }
  NamedResults results;
  for (const auto& benchmark : kBenchmarks) {
    const bool needs_more = (benchmark.run == peers && arguments.options.ps_lite.empty()) ||
                            (benchmark.run == data && arguments.options.images.empty());
    if (arguments.name.empty() ? needs_more : arguments.name != benchmark.name) {
      continue;
    }
    results.emplace_back(benchmark.name, benchmark.run(arguments.options));
    if (!arguments.json) {
      std::printf("%s\n", as_table(benchmark.name, results.back().second).c_str());
      std::fflush(stdout);
    }
  }
  if (arguments.json) {
    std::fputs(as_json(machine, results).c_str(), stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Arguments arguments;
    if (const auto code = parse(argc, argv, arguments)) {
      return *code;
    }
    const ballast::Signals signals;
    arguments.options.signals = &signals;
    run(arguments);
    return 0;
  } catch (const Interrupted& interrupted) {
    return 128 + interrupted.signal;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ballast-bench: %s\n", error.what());
    return 1;
  }
}
