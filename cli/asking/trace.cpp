#include "cli/asking/trace.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "cli/asking/lead_address.h"
#include "cli/asking/trace_collector.h"
#include "cli/keys/operator_keys.h"
#include "cli/telling/amounts.h"
#include "insight/trace_events.h"

namespace ballast {
namespace {

// Clocks that are compared worse than that make arrows of messages point backwards.
constexpr Micros kGoodClock = 1'000;

void write_to(const std::string& output, const insight::JobTrace& trace) {
  if (output == "-") {
    insight::write_trace_events(std::cout, trace);
    return;
  }
  std::ofstream out(output, std::ios::binary);
  insight::write_trace_events(out, trace);
  out.close();
  if (!out) {
    throw std::runtime_error("cannot write " + output);
  }
}

void tell_clocks(const insight::JobTrace& trace) {
  for (const auto& process : trace.processes) {
    if (process.records.empty()) {
      continue;
    }
    if (!process.clock) {
      std::fprintf(stderr, "%s: how its clock stands to the lead's is not known; its times are its own\n",
                   process.name.c_str());
    } else if (process.clock->error > kGoodClock) {
      std::fprintf(stderr, "%s: its times are right by %.1f ms: no answer of the lead's has come to it any faster\n",
                   process.name.c_str(), static_cast<double>(process.clock->error) / 1000);
    }
  }
}

void tell(const TraceOptions& options, const insight::JobTrace& trace, std::uint64_t records) {
  Step first = ~Step{0};
  Step last = 0;
  for (const auto& process : trace.processes) {
    for (const auto& record : process.records) {
      first = std::min(first, record.step);
      last = std::max(last, record.step);
    }
    if (process.lost > 0) {
      std::fprintf(stderr, "%s: %s made way for newer ones while they were read; ask for fewer steps\n",
                   process.name.c_str(), count_text(process.lost, "record").c_str());
    }
  }
  tell_clocks(trace);
  std::fprintf(stderr, "%s of %s, steps %llu to %llu, in %s: open it with Perfetto or chrome://tracing\n",
               count_text(records, "record").c_str(),
               count_text(trace.processes.size(), "process", "processes").c_str(),
               static_cast<unsigned long long>(first), static_cast<unsigned long long>(last),
               options.output == "-" ? "standard output" : options.output.c_str());
}

}  // namespace

int show_trace(const TraceOptions& options) {
  const auto lead = lead_address(options.where);
  TraceCollector collector(lead, operator_keys(options.where, options.keys));
  const auto trace = collector.collect(options.steps);
  if (!trace) {
    std::fprintf(stderr, "%s\n", collector.why().c_str());
    return 1;
  }
  for (const auto& name : collector.silent()) {
    std::fprintf(stderr, "%s: does not answer\n", name.c_str());
  }
  std::uint64_t records = 0;
  for (const auto& process : trace->processes) {
    records += process.records.size();
  }
  if (records == 0) {
    std::fprintf(stderr, "nobody has measured anything yet: the job has not begun to train\n");
    return 1;
  }
  write_to(options.output, *trace);
  tell(options, *trace, records);
  return 0;
}

}  // namespace ballast
