#include "cli/asking/analyze.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <thread>

#include "cli/asking/finished_run.h"
#include "cli/asking/lead_address.h"
#include "cli/asking/trace.h"
#include "cli/asking/trace_collector.h"
#include "cli/keys/operator_keys.h"
#include "common/command/usage_error.h"
#include "common/telling/amounts.h"
#include "insight/analysis_text.h"
#include "insight/raw_trace.h"

namespace ballast {
namespace {

constexpr std::chrono::milliseconds kLookEvery{500};
constexpr Step kMore = 2;  // steps: that before the first window, whose end is its begin, and the one that is open

bool is_file(const AnalyzeOptions& options) { return std::filesystem::is_regular_file(options.where); }

void tell_silent(const insight::JobTrace& trace, const char* said) {
  for (const auto& name : trace.silent) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), said);
  }
}

std::optional<insight::JobTrace> trace_of(const AnalyzeOptions& options) {
  if (!is_file(options)) {
    return collect_trace({options.where, options.keys, options.steps * options.windows + kMore, {}, false});
  }
  std::ifstream in(options.where, std::ios::binary);
  try {
    auto trace = insight::read_raw_trace(in);
    tell_silent(trace, "did not answer when this was read: what it had measured is not there, or not all of it");
    return trace;
  } catch (const std::runtime_error& error) {
    throw UsageError(options.where + ": " + error.what());
  }
}

void tell(const AnalyzeOptions& options, const insight::JobTrace& trace, const insight::Analysis& analysis) {
  std::string text;
  if (options.json) {
    text = severity_json(analysis.severities) + absent_json(trace) + verdict_json(analysis);
    text += analysis.verdict ? advice_json(analysis.advice) : "";
  } else {
    text = analysis_lines(trace, analysis, options.steps, options.all);
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

bool has_finished(const std::string& where) {
  const auto job = job_of_run(where);
  return job && finish_in_databases(*job, where);
}

bool has_slots(const insight::JobTrace& trace) {
  return std::ranges::any_of(trace.processes, [](const auto& process) {
    return std::ranges::any_of(process.records, [](const auto& record) { return record.kind == TraceKind::slot; });
  });
}

// Of a window of a job that goes on, or was just at its end.
void tell_window(TraceCollector& collector, insight::Analyst& analyst, const AnalyzeOptions& options, Step whole,
                 Step open) {
  const auto trace = collector.collect(options.steps * options.windows + kMore + open - whole);
  if (!trace) {
    std::fprintf(stderr, "ballast: %s\n", collector.why().c_str());
  } else if (collector.is_over() && !has_slots(*trace)) {
    std::fprintf(stderr, "the job is over: what was measured of its last steps is gone with its processes\n");
  } else {
    tell_silent(*trace, "does not answer");
    tell(options, *trace, analyst.analyze(*trace, {options.steps, options.windows, whole - 1}));
  }
}

bool has_begun(JobPhase phase) {
  return phase != JobPhase::assembling && phase != JobPhase::recovering && phase != JobPhase::waiting;
}

void tell_wait(const Status& status, const AnalyzeOptions& options) {
  const auto first = (status.step / options.steps + 1) * options.steps;
  std::fprintf(stderr, "job %s, at step %llu of %llu: %s\n", status.job.c_str(), number(status.step),
               number(status.steps),
               first > status.steps ? "it ends before so many more are whole; look at fewer (--steps)"
                                    : ("the first analysis comes with step " + std::to_string(first)).c_str());
}

// Windows end where the number of steps does, so that each is looked at once.
int follow(const AnalyzeOptions& options) {
  TraceCollector collector(lead_address(options.where), operator_keys(options.where, options.keys));
  insight::Analyst analyst;
  std::optional<Step> until;
  while (true) {
    const auto status = collector.ask_status();
    if (!status) {
      if (has_finished(options.where)) {
        return 0;
      }
      std::fprintf(stderr, "ballast: %s\n", collector.why().c_str());
      return 1;
    }
    const auto whole = status->step / options.steps * options.steps;
    if (until && whole > *until) {
      tell_window(collector, analyst, options, whole, status->step);
    } else if (!until && has_begun(status->phase) && !is_over(status->phase)) {
      tell_wait(*status, options);
    }
    until = until || has_begun(status->phase) ? std::optional(whole) : std::nullopt;
    if (is_over(status->phase)) {
      return 0;
    }
    std::this_thread::sleep_for(kLookEvery);
  }
}

}  // namespace

int analyze(const AnalyzeOptions& options) {
  if (options.follow && is_file(options)) {
    throw UsageError(options.where + ": --follow takes a running job, and this is a file");
  }
  if (options.follow) {
    return follow(options);
  }
  const auto trace = trace_of(options);
  if (!trace) {
    return 1;
  }
  tell(options, *trace, insight::Analyst().analyze(*trace, {options.steps, options.windows}));
  return 0;
}

}  // namespace ballast
