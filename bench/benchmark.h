// What every benchmark is: a name, what it measures, and a function that returns a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/processes/signals.h"

namespace ballast::bench {

using Value = std::variant<std::string, double, std::uint64_t>;
using Row = std::vector<std::pair<std::string, Value>>;  // column name and value, in the order shown

struct Result {
  std::string how;  // how the figures were taken, for a reader who has not seen the code
  std::vector<Row> rows;
};

struct Options {
  std::optional<double> seconds;  // of one measurement; each benchmark has its own default
  unsigned repetitions = 3;
  std::optional<double> gigabytes;   // of the model of turns
  std::string images;                // a folder with one folder a class, for data
  std::string ps_lite;               // a program built with it, for peers
  const Signals* signals = nullptr;  // measurements that take long end early, by Interrupted
};

// Somebody pressed Ctrl-C, or asked the process to end.
struct Interrupted {
  int signal = 0;
};

Result pushpull(const Options& options);
Result encryption(const Options& options);
Result lenet5(const Options& options);
Result networks(const Options& options);
Result apply(const Options& options);
Result idle(const Options& options);
Result recovery(const Options& options);
Result snapshots(const Options& options);
Result journal(const Options& options);
Result journaled(const Options& options);
Result cuts(const Options& options);
Result peers(const Options& options);
Result restart(const Options& options);
Result turns(const Options& options);
Result stale(const Options& options);
Result pace(const Options& options);
Result outbox(const Options& options);
Result divide(const Options& options);
Result lead(const Options& options);
Result shares(const Options& options);
Result copying(const Options& options);
Result data(const Options& options);

}  // namespace ballast::bench
