#include "insight/analysis.h"

#include <utility>

#include "insight/calibration.h"
#include "insight/job_times.h"
#include "insight/seen_grants.h"

namespace ballast::insight {

namespace {

std::size_t messages_of(const JobTimes& times, const Window& window) {
  const auto each = times.items ? times.rules.slots : times.workers.size();  // of a step, for each chunk
  return window.steps() * each * times.lane_of.size();
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
      const auto part = part_of(trace, window);
      auto severe = severities(part);
      auto times = job_times(part, window.steps());
      auto& judged = judged_[window];
      if (times && messages_of(*times, window) > limits.messages) {
        analysis.is_too_large = true;
      } else if (times) {
        times = calibrated(with_fitted_bound(*std::move(times)));
        judged = verdict(*times, severe);
      }
      if (is_newest) {
        analysis.severities = std::move(severe);
        analysis.window = window;
        analysis.verdict = judged;
        analysis.advice = judged && limits.goes_on() ? advice(*times, *judged) : Advice{};
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
  analysis.lasting = lasting_causes(verdicts, wanted.steps);
  return analysis;
}

}  // namespace ballast::insight
