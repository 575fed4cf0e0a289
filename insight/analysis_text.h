// What an analysis says, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "insight/analysis.h"

namespace ballast {

// "compute", "passing stops", ...
const char* name_of(insight::Cause cause);

// The job, and a line for each that is slow, or for all. `steps`: those that were looked at; none: all of the trace.
// `why`: of these steps and no others; may be empty.
std::string severity_lines(const insight::JobTrace& trace, const std::optional<insight::Window>& steps,
                           const std::vector<insight::Severity>& found, bool all, const std::string& why = {});
// What the whole job waits for; empty: it goes on.
std::string held_line(const insight::JobTrace& trace);
// Workers that bring nothing, and why: in no replay what they would bring is counted. Empty: there are none.
std::string absent_lines(const insight::JobTrace& trace);
// What it costs the job. None: it cannot be told.
std::string verdict_lines(const std::optional<insight::Verdict>& verdict);
// What lasts, what has passed, and what raises an alarm. `windows`: that were judged, of `steps` steps each.
std::string lasting_lines(const std::vector<insight::LastingCause>& lasting, std::size_t windows, std::size_t steps);
// In plain words; empty: there is nothing to say.
std::string advice_line(const insight::Advice& advice);

// All of these, of windows of `steps` steps. `all`: severities of those as well that are as fast as their peers.
std::string analysis_lines(const insight::JobTrace& trace, const insight::Analysis& analysis, std::size_t steps,
                           bool all);

// For programs, one object a line: of each resource; of each worker that brings nothing; of the job and of each cause;
// of the advice.
std::string severity_json(const std::vector<insight::Severity>& found);
std::string absent_json(const insight::JobTrace& trace);
std::string verdict_json(const insight::Analysis& analysis);
std::string advice_json(const insight::Advice& advice);

}  // namespace ballast
