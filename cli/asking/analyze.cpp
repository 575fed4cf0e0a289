#include "cli/asking/analyze.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <thread>

#include "cli/asking/lead_address.h"
#include "cli/asking/trace.h"
#include "cli/asking/trace_collector.h"
#include "cli/keys/operator_keys.h"
#include "common/command/usage_error.h"
#include "insight/analysis_text.h"
#include "insight/raw_trace.h"

namespace ballast {
namespace {

constexpr std::chrono::milliseconds kLookEvery{500};
constexpr Step kMore = 2;  // steps: that before the first window, whose end is its begin, and the one that is open

bool is_file(const AnalyzeOptions& options) { return std::filesystem::is_regular_file(options.where); }

std::optional<insight::JobTrace> trace_of(const AnalyzeOptions& options) {
  if (!is_file(options)) {
    return collect_trace({options.where, options.keys, options.steps * options.windows + kMore, {}, false});
  }
  std::ifstream in(options.where, std::ios::binary);
  try {
    return insight::read_raw_trace(in);
  } catch (const std::runtime_error& error) {
    throw UsageError(options.where + ": " + error.what());
  }
}

void tell(const AnalyzeOptions& options, const insight::JobTrace& trace, const insight::Analysis& analysis) {
  std::string text;
  if (options.json) {
    text = severity_json(analysis.severities) + verdict_json(analysis);
    text += analysis.verdict ? advice_json(analysis.advice) : "";
  } else {
    text = analysis_lines(trace, analysis, options.steps, options.all);
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// Windows end where the number of steps does, so that each is looked at once.
int follow(const AnalyzeOptions& options) {
  TraceCollector collector(lead_address(options.where), operator_keys(options.where, options.keys));
  insight::Analyst analyst;
  std::optional<Step> until;
  while (true) {
    const auto status = collector.ask_status();
    if (!status) {
      std::fprintf(stderr, "%s\n", collector.why().c_str());
      return 1;
    }
    const auto whole = status->step / options.steps * options.steps;
    if (until && whole > *until) {
      if (const auto trace = collector.collect(options.steps * options.windows + kMore + status->step - whole)) {
        for (const auto& name : collector.silent()) {
          std::fprintf(stderr, "%s: does not answer\n", name.c_str());
        }
        tell(options, *trace, analyst.analyze(*trace, {options.steps, options.windows, whole - 1}));
      } else {
        std::fprintf(stderr, "%s\n", collector.why().c_str());
      }
    }
    until = whole;
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
