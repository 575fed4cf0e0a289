#include "cli/asking/analyze.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/asking/trace.h"
#include "cli/telling/amounts.h"
#include "common/command/usage_error.h"
#include "insight/raw_trace.h"

namespace ballast {
namespace {

using insight::Resource;

struct Words {
  const char* name;
  const char* of;  // what its time is of
};

Words words_of(Resource resource) {
  switch (resource) {
    case Resource::compute:
      return {"compute", "a slot"};
    case Resource::data:
      return {"data wait", "a slot"};
    case Resource::uplink:
      return {"link to the servers", "a model"};
    case Resource::downlink:
      return {"link from the servers", "a model"};
    case Resource::processor:
      return {"processor", "a second"};
    case Resource::lead:
      break;
  }
  return {"decisions", "a step"};
}

const char* name_of_cause(insight::Cause cause) {
  switch (cause) {
    case insight::Cause::compute:
      return "compute";
    case insight::Cause::passing:
      return "passing stops";
    case insight::Cause::data:
      return "data wait";
    case insight::Cause::worker_link:
      return "link";
    case insight::Cause::server_link:
      return "server link";
    case insight::Cause::processor:
      return "processor";
    case insight::Cause::lead:
      break;
  }
  return "decisions";
}

std::string of_whole(double part) { return fixed(100 * part, 1) + " %"; }

std::string line_of(const insight::Severity& found) {
  const auto words = words_of(found.resource);
  auto line = "  " + found.who;
  line.resize(std::max<std::size_t>(line.size(), 28), ' ');
  line += std::string(" ") + words.name;
  line.resize(std::max<std::size_t>(line.size(), 52), ' ');
  line += " " + fixed(found.takes, 1) + " ms " + words.of;
  if (found.resource == Resource::processor) {
    line += ", of which it had a processor for " + fixed(found.ideal, 1) + " ms";
  } else if (found.resource != Resource::data) {
    line += ", its peers " + fixed(found.ideal, 1) + " ms";
  }
  return line + ": " + fixed(found.times, 2) + " x\n";
}

std::string heading(const insight::JobTrace& trace) {
  Step first = ~Step{0};
  Step last = 0;
  for (const auto& process : trace.processes) {
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::slot) {
        first = std::min(first, record.step);
        last = std::max(last, record.step);
      }
    }
  }
  return first > last ? "job " + trace.job + ": no slot was computed\n"
                      : "job " + trace.job + ", steps " + std::to_string(first) + " to " + std::to_string(last) + "\n";
}

std::optional<insight::JobTrace> trace_of(const AnalyzeOptions& options) {
  if (!std::filesystem::is_regular_file(options.where)) {
    return collect_trace({options.where, options.keys, options.steps, {}, false});
  }
  std::ifstream in(options.where, std::ios::binary);
  try {
    return insight::read_raw_trace(in);
  } catch (const std::runtime_error& error) {
    throw UsageError(options.where + ": " + error.what());
  }
}

}  // namespace

std::string severity_lines(const insight::JobTrace& trace, const std::vector<insight::Severity>& found, bool all) {
  auto text = heading(trace);
  const auto slow = std::ranges::count_if(found, &insight::Severity::is_slow);
  text += slow == 0 ? "nobody is slower than his peers\n"
                    : "slower than " + std::string(slow == 1 ? "its" : "their") + " peers:\n";
  for (const auto& one : found) {
    if (one.is_slow) {
      text += line_of(one);
    }
  }
  if (all && slow < std::ssize(found)) {
    text += "as fast as their peers:\n";
    for (const auto& one : found) {
      text += one.is_slow ? "" : line_of(one);
    }
  }
  return text;
}

std::string severity_json(const std::vector<insight::Severity>& found) {
  std::string text;
  for (const auto& one : found) {
    nlohmann::ordered_json json = {{"who", one.who},        {"resource", words_of(one.resource).name},
                                   {"takes_ms", one.takes}, {"ideal_ms", one.ideal},
                                   {"severity", one.times}, {"slow", one.is_slow}};
    text += json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  return text;
}

std::string verdict_lines(const std::optional<insight::Verdict>& verdict) {
  if (!verdict) {
    return "what that costs cannot be told: it takes a job in rounds that can be replayed, and all updates of four "
           "steps in a row\n";
  }
  auto text = "a step takes " + fixed(verdict->step, 1) + " ms (" + fixed(verdict->replayed, 1) + " in a replay)";
  if (verdict->found.empty()) {
    return text + ", and nothing is found to hold it up\n";
  }
  text += ", " + fixed(verdict->slowdown, 2) + " x as long as without all of:\n";
  for (const auto& one : verdict->found) {
    auto line = "  " + one.who;
    line.resize(std::max<std::size_t>(line.size(), 28), ' ');
    line += std::string(" ") + name_of_cause(one.cause);
    line.resize(std::max<std::size_t>(line.size(), 52), ' ');
    text += line + " " + fixed(one.severity, 2) + " x: without it alone a step takes " + of_whole(1 - 1 / one.gain) +
            " less, with it alone " + of_whole(one.cost - 1) + " more";
    text += one.lost > 0 ? "; " + fixed(one.lost, 1) + " s lost\n" : "\n";
  }
  return text;
}

std::string verdict_json(const std::optional<insight::Verdict>& verdict) {
  if (!verdict) {
    return {};
  }
  const auto dumped = [](const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  };
  auto text = dumped({{"steps", verdict->steps},
                      {"step_ms", verdict->step},
                      {"replayed_ms", verdict->replayed},
                      {"slowdown", verdict->slowdown}});
  for (const auto& one : verdict->found) {
    text += dumped({{"who", one.who},
                    {"cause", name_of_cause(one.cause)},
                    {"severity", one.severity},
                    {"gain", one.gain},
                    {"cost", one.cost},
                    {"lost_s", one.lost}});
  }
  return text;
}

int analyze(const AnalyzeOptions& options) {
  const auto trace = trace_of(options);
  if (!trace) {
    return 1;
  }
  const auto found = insight::severities(*trace);
  auto times = insight::job_times(*trace, options.steps);
  const auto verdict = times ? insight::verdict(*std::move(times), found) : std::nullopt;
  const auto text = options.json ? severity_json(found) + verdict_json(verdict)
                                 : severity_lines(*trace, found, options.all) + verdict_lines(verdict);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace ballast
