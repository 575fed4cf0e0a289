#include "cli/asking/trace.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "cli/asking/lead_address.h"
#include "cli/asking/trace_collector.h"
#include "cli/keys/operator_keys.h"
#include "common/telling/amounts.h"
#include "insight/raw_trace.h"
#include "insight/trace_events.h"

namespace ballast {
namespace {

// Clocks that are compared worse than that make arrows of messages point backwards.
constexpr Micros kGoodClock = 1'000;

void write_to(std::ostream& out, const TraceOptions& options, const insight::JobTrace& trace) {
  options.raw ? insight::write_raw_trace(out, trace) : insight::write_trace_events(out, trace);
}

void write_trace(const TraceOptions& options, const insight::JobTrace& trace) {
  if (options.output == "-") {
    write_to(std::cout, options, trace);
    if (!std::cout.flush()) {
      throw std::runtime_error("cannot write to standard output");
    }
    return;
  }
  errno = 0;
  std::ofstream out(options.output, std::ios::binary);
  write_to(out, options, trace);
  out.close();
  if (!out) {
    throw std::runtime_error("cannot write " + options.output + ": " + std::strerror(errno));
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
      std::fprintf(stderr, "%s: its times may be off by %.1f ms: the lead's clock is known to it no better\n",
                   process.name.c_str(), static_cast<double>(process.clock->error) / 1000);
    }
  }
}

std::uint64_t records_of(const insight::JobTrace& trace) {
  std::uint64_t records = 0;
  for (const auto& process : trace.processes) {
    records += process.records.size();
  }
  return records;
}

void tell_losses(const insight::JobTrace& trace) {
  for (const auto& process : trace.processes) {
    if (process.lost > 0) {
      std::fprintf(stderr, "%s: %s made way for newer ones while they were read; ask for fewer steps\n",
                   process.name.c_str(), count_text(process.lost, "record").c_str());
    }
  }
}

void tell(const TraceOptions& options, const insight::JobTrace& trace) {
  Step first = ~Step{0};
  Step last = 0;
  for (const auto& process : trace.processes) {
    for (const auto& record : process.records) {
      first = std::min(first, record.step);
      last = std::max(last, record.step);
    }
  }
  std::fprintf(stderr, "%s of %s, steps %llu to %llu, in %s: %s\n", count_text(records_of(trace), "record").c_str(),
               count_text(trace.processes.size(), "process", "processes").c_str(),
               static_cast<unsigned long long>(first), static_cast<unsigned long long>(last),
               options.output == "-" ? "standard output" : options.output.c_str(),
               options.raw ? "look at it with ballast analyze" : "open it with Perfetto or chrome://tracing");
}

}  // namespace

std::optional<insight::JobTrace> collect_trace(const TraceOptions& options) {
  const auto lead = lead_address(options.where);
  TraceCollector collector(lead, operator_keys(options.where, options.keys));
  auto trace = collector.collect(options.steps);
  if (!trace) {
    std::fprintf(stderr, "ballast: %s\n", collector.why().c_str());
    return std::nullopt;
  }
  for (std::size_t i = 0; i < trace->silent.size() && !collector.is_over(); ++i) {
    std::fprintf(stderr, "%s: does not answer\n", trace->silent[i].c_str());
  }
  if (records_of(*trace) == 0) {
    std::fprintf(stderr, "ballast: %s\n",
                 collector.is_over() ? "the job is over: what its processes had measured is gone with them"
                                     : "nobody has measured anything yet: the job has not begun to train");
    return std::nullopt;
  }
  tell_losses(*trace);
  tell_clocks(*trace);
  return trace;
}

int show_trace(const TraceOptions& asked) {
  auto options = asked;
  if (options.output.empty()) {
    options.output = options.raw ? "raw-trace.json" : "trace.json";
  }
  const auto trace = collect_trace(options);
  if (!trace) {
    return 1;
  }
  write_trace(options, *trace);
  tell(options, *trace);
  return 0;
}

}  // namespace ballast
