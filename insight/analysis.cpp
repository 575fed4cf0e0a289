#include "insight/analysis.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "insight/calibration.h"
#include "insight/job_times.h"
#include "insight/seen_grants.h"
#include "insight/standstills.h"

namespace ballast::insight {

namespace {

// Of a job in rounds, before anything else: to put together what each piece of work takes costs as much as to replay
// some of it.
std::size_t messages_of(const JobTrace& trace, const Window& window) {
  const auto workers = std::ranges::count(trace.processes, TraceRole::worker,
                                          [](const ProcessTrace& process) { return process.source.role; });
  return trace.rules ? window.steps() * static_cast<std::size_t>(workers) * trace.rules->chunks : 0;
}

// Of a job in items, each of whose updates is one worker's.
std::size_t messages_of(const JobTimes& times, const Window& window) {
  return times.items ? window.steps() * times.rules.slots * times.lane_of.size() : 0;
}

}  // namespace

Analysis Analyst::analyze(const JobTrace& trace, const WindowsWanted& wanted, const AnalysisLimits& limits) {
  Analysis analysis;
  const auto all = windows(trace, wanted);
  const auto before = std::exchange(judged_, {});
  std::vector<WindowVerdict> verdicts;
  for (const auto& window : all) {
    if (!limits.goes_on()) {
      return analysis;
    }
    const bool is_newest = window == all.back();
    // What could not be judged then may be now: somebody has answered.
    if (const auto known = before.find(window); known != before.end() && known->second && !is_newest) {
      judged_.insert(*known);
    } else {
      const auto part = without_standstills(part_of(trace, window));
      auto severe = severities(part);
      bool is_too_large = messages_of(part, window) > limits.messages;
      auto times = is_too_large ? std::nullopt : job_times(part, window.steps());
      is_too_large = is_too_large || (times && messages_of(*times, window) > limits.messages);
      analysis.is_too_large = analysis.is_too_large || is_too_large;
      auto& judged = judged_[window];
      if (times && !is_too_large) {
        times = with_fitted_bound(*std::move(times));
        links_.complete(*times);
        times = calibrated(*std::move(times));
        links_.keep(*times);
        judged = verdict(*times, severe);
      }
      if (is_newest) {
        analysis.severities = std::move(severe);
        analysis.window = window;
        analysis.verdict = judged;
        analysis.advice = judged && !judged->is_far() && limits.goes_on() ? advice(*times, *judged) : Advice{};
      }
    }
    if (const auto& judged = judged_[window]) {
      verdicts.push_back({window, *judged});
    }
  }
  if (all.empty()) {
    analysis.severities = severities(trace);
  }
  analysis.windows = verdicts.size();
  analysis.begins_at_change = !all.empty() && begins_at_change(trace, wanted, all.back());
  analysis.lasting = lasting_causes(verdicts, wanted.steps);
  return analysis;
}

}  // namespace ballast::insight
