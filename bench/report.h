// Results as a table for people or as JSON for programs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.h"

namespace ballast::bench {

// What else bears on the figures: the processor, its cores, and how busy the machine was before the first measurement.
struct Machine {
  std::string processor;
  unsigned cores = 0;
  double load = 0;  // the kernel's average over the last minute
  std::string date;
};
Machine this_machine();

using NamedResults = std::vector<std::pair<std::string, Result>>;
std::string as_table(const std::string& name, const Result& result);
std::string as_json(const Machine& machine, const NamedResults& results);

}  // namespace ballast::bench
