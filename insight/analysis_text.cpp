#include "insight/analysis_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/telling/amounts.h"

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
    case Resource::storage:
      return {"storage", "a record"};
    case Resource::processor:
      return {"processor", "a second"};
    case Resource::lead:
      break;
  }
  return {"decisions", "a step"};
}

const char* word_for(insight::Change change) {
  switch (change) {
    case insight::Change::leave_out:
      return "leave out";
    case insight::Change::more_lanes:
      return "lanes";
    case insight::Change::faster_disk:
      return "faster disk";
    case insight::Change::wider_bound:
      return "wider bound";
    case insight::Change::ssp:
      return "ssp";
    case insight::Change::slots:
      return "slots";
    case insight::Change::fewer_workers:
      return "fewer workers";
    case insight::Change::mend:
      return "mend";
    case insight::Change::none:
      break;
  }
  return "none";
}

std::string of_whole(double part) { return fixed(100 * part, 1) + " %"; }

// Of a line: who, and what of his.
std::string beginning(const std::string& who, const std::string& what) {
  auto line = "  " + who;
  line.resize(std::max<std::size_t>(line.size(), 28), ' ');
  line += " " + what;
  line.resize(std::max<std::size_t>(line.size(), 52), ' ');
  return line + " ";
}

std::string line_of(const insight::Severity& found) {
  const auto words = words_of(found.resource);
  auto line = beginning(found.who, words.name) + fixed(found.takes, 1) + " ms " + words.of;
  if (found.resource == Resource::processor) {
    line += ", of which it had a processor for " + fixed(found.ideal, 1) + " ms";
  } else if (found.ideal > 0) {
    line += ", its peers " + fixed(found.ideal, 1) + " ms";
  }
  return line + ": " + fixed(found.times, 2) + " x\n";
}

// Nothing: no slot was computed.
std::optional<insight::Window> computed(const insight::JobTrace& trace) {
  std::optional<insight::Window> steps;
  for (const auto& process : trace.processes) {
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::slot) {
        steps = steps ? insight::Window{std::min(steps->first, record.step), std::max(steps->last, record.step)}
                      : insight::Window{record.step, record.step};
      }
    }
  }
  return steps;
}

std::string nobody_is_slower(const std::vector<insight::Severity>& found) {
  const auto workers = std::ranges::count(found, Resource::compute, &insight::Severity::resource);
  return workers > 1    ? "nobody is slower than his peers as a rule\n"
         : workers == 1 ? "one worker has computed: there is nobody to compare it with\n"
                        : "no worker has computed anything in them\n";
}

std::string names(const std::vector<std::string>& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += (i == 0 ? "" : i + 1 < all.size() ? ", " : " and ") + all[i];
  }
  return text;
}

std::string dumped(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

const char* word_of(insight::LinkTrouble trouble) {
  switch (trouble) {
    case insight::LinkTrouble::rate:
      return "rate";
    case insight::LinkTrouble::delay:
      return "delay";
    case insight::LinkTrouble::loss:
      break;
  }
  return "loss";
}

bool costs_nothing(const insight::Finding& finding) {
  constexpr double kNothing = 1.0005;  // shows as 0.0 %
  return finding.gain < kNothing && finding.cost < kNothing && finding.lost <= 0;
}

std::string cause_of(const insight::Finding& finding) {
  const std::string name = name_of(finding.cause);
  return finding.trouble ? name + " (" + word_of(*finding.trouble) + ")" : name;
}

}  // namespace

const char* name_of(insight::Cause cause) {
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
    case insight::Cause::storage:
      return "storage";
    case insight::Cause::barrier:
      return "barrier";
    case insight::Cause::lead:
      break;
  }
  return "decisions";
}

std::string severity_lines(const insight::JobTrace& trace, const std::optional<insight::Window>& steps,
                           const std::vector<insight::Severity>& found, bool all, const std::string& why) {
  const auto shown = steps ? steps : computed(trace);
  if (!shown) {
    return "job " + trace.job +
           ": no slot was computed, so nothing can be told of who is slow; why a job makes no progress `ballast "
           "doctor` "
           "tells\n";
  }
  auto text = "job " + trace.job + ", steps " + std::to_string(shown->first) + " to " + std::to_string(shown->last) +
              why + "\n";
  const auto slow = std::ranges::count_if(found, &insight::Severity::is_slow);
  text += slow == 0 ? nobody_is_slower(found) : "slower than " + std::string(slow == 1 ? "its" : "their") + " peers:\n";
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

std::string held_line(const insight::JobTrace& trace) {
  return trace.held.empty()
             ? std::string()
             : "NO PROGRESS: " + trace.held + "; what follows was before that (`ballast doctor` says more)\n";
}

std::string absent_lines(const insight::JobTrace& trace) {
  constexpr std::size_t kMostLines = 5;
  const auto& [count, first] = trace.absent;
  std::string text;
  for (std::size_t i = 0; i < std::min(first.size(), kMostLines); ++i) {
    text += "  " + first[i].who + " " + first[i].why + "\n";
  }
  if (count > kMostLines) {
    text += "  and " + std::to_string(count - kMostLines) + " more\n";
  }
  return text.empty() ? text
                      : "missing, and in no figure below (`ballast doctor` looks for the reason):\n" + std::move(text);
}

std::string absent_json(const insight::JobTrace& trace) {
  std::string text;
  for (const auto& one : trace.absent.first) {
    text += dumped({{"who", one.who}, {"absent", one.why}});
  }
  return text;
}

std::string severity_json(const std::vector<insight::Severity>& found) {
  std::string text;
  for (const auto& one : found) {
    nlohmann::ordered_json json = {{"who", one.who},        {"resource", words_of(one.resource).name},
                                   {"takes_ms", one.takes}, {"ideal_ms", one.ideal},
                                   {"severity", one.times}, {"slow", one.is_slow}};
    text += dumped(json);
  }
  return text;
}

std::string verdict_lines(const std::optional<insight::Verdict>& verdict) {
  if (!verdict) {
    return "what that costs cannot be told: of no four steps in a row all updates were measured, as where a job has "
           "just begun, or begun anew; ask again, or for more steps (nor can it be told of a job that is too large, or "
           "of a trace without its mode)\n";
  }
  auto text = (verdict->items == 0
                   ? "a step takes "
                   : "a step's " + count_text(verdict->items, "item") + (verdict->items == 1 ? " takes " : " take ")) +
              fixed(verdict->step, 1) + " ms (" + fixed(verdict->replayed, 1) + " in a replay" +
              (verdict->is_far() ? ", so far from it that what follows may be as far off)" : ")");
  std::string costly;
  std::string free;
  for (const auto& one : verdict->found) {
    if (costs_nothing(one)) {
      free += (free.empty() ? "" : ", ") + one.who + " " + cause_of(one);
    } else {
      costly += beginning(one.who, cause_of(one)) + fixed(one.severity, 2) + " x: without it alone a step takes " +
                of_whole(1 - 1 / one.gain) + " less, with it alone " + of_whole(one.cost - 1) + " more";
      costly += one.lost > 0 ? "; " + fixed(one.lost, 1) + " s lost\n" : "\n";
    }
  }
  text += costly.empty() ? ", and nothing is found to hold it up\n"
                         : ", " + fixed(verdict->slowdown, 2) + " x as long as without all of:\n" + costly;
  return free.empty() ? text : text + "slow, but nothing waits for it: " + free + "\n";
}

std::string verdict_json(const insight::Analysis& analysis) {
  std::string text;
  if (analysis.verdict && analysis.window) {
    nlohmann::ordered_json json = {
        {"steps", analysis.verdict->steps},          {"first_step", analysis.window->first},
        {"last_step", analysis.window->last},        {"step_ms", analysis.verdict->step},
        {"replayed_ms", analysis.verdict->replayed}, {"slowdown", analysis.verdict->slowdown}};
    if (analysis.verdict->items > 0) {
      json["items"] = analysis.verdict->items;
    }
    text = dumped(json);
  }
  for (const auto& one : analysis.lasting) {
    nlohmann::ordered_json json = {{"who", one.finding.who},
                                   {"cause", name_of(one.finding.cause)},
                                   {"severity", one.finding.severity},
                                   {"gain", one.finding.gain},
                                   {"cost", one.finding.cost},
                                   {"lost_s", one.finding.lost},
                                   {"first_step", one.since},
                                   {"last_step", one.window.last},
                                   {"over", one.is_over},
                                   {"persists", one.persists},
                                   {"alarm", one.alarms}};
    if (one.finding.trouble) {
      json["trouble"] = word_of(*one.finding.trouble);
    }
    text += dumped(json);
  }
  return text;
}

std::string lasting_lines(const std::vector<insight::LastingCause>& lasting, std::size_t windows, std::size_t steps) {
  std::string text;
  for (const auto& one : lasting) {
    // Of what is over no alarm is raised any more.
    std::string words = one.alarms && !one.is_over ? "ALARM: " : "";
    if (one.is_over && one.costs == 0 && !one.alarms) {
      continue;  // nobody waited for it
    }
    if (one.is_over) {
      words += "is over: steps " + std::to_string(one.since) + " to " + std::to_string(one.window.last);
    } else if (one.persists) {
      words += "lasts, since step " + std::to_string(one.since) + " or longer";
    } else if (one.alarms) {
      words += "since step " + std::to_string(one.since);
    }
    if (one.costs > 0 && !words.empty()) {
      words += "; costs more than 3 % in " + std::to_string(one.costs) + " of " + count_text(windows, "window");
    }
    text += words.empty() ? "" : beginning(one.finding.who, cause_of(one.finding)) + words + "\n";
  }
  return text.empty() ? text : "over the last windows of " + count_text(steps, "step") + ":\n" + text;
}

const char* remedy_of(insight::Cause cause) {
  switch (cause) {
    case insight::Cause::compute:
      return "it computes slowly: run less beside it, or give it a machine like its peers'";
    case insight::Cause::passing:
      return "it stands still now and then: find out what takes its machine";
    case insight::Cause::data:
      return "its examples come late: read them from something faster";
    case insight::Cause::worker_link:
      return "its link is worse than its peers'";
    case insight::Cause::server_link:
      return "its link is full: a faster one, or shards on more machines";
    case insight::Cause::processor:
      return "it lacks a processor: give its machine more, or run less beside it";
    case insight::Cause::storage:
      return "its disk is slow: a faster one";
    case insight::Cause::lead:
      return "it decides late: give it a processor of its own";
    case insight::Cause::barrier:
      break;
  }
  return "slots scatter";
}

// Of a few also what to do about each.
std::string to_be_mended(const insight::Advice& advice) {
  constexpr std::size_t kMostRemedies = 4;
  std::vector<std::string> all;
  for (std::size_t i = 0; i < advice.who.size(); ++i) {
    const bool is_told = i < advice.causes.size() && advice.who.size() <= kMostRemedies;
    all.push_back(advice.who[i] + (is_told ? std::string(" (") + remedy_of(advice.causes[i]) + ")" : std::string()));
  }
  return names(all);
}

std::string advice_line(const insight::Advice& advice) {
  auto gain = ": a step then takes " + of_whole(1 - 1 / advice.gain) + " less";
  if (!advice.to_mend.empty()) {
    gain +=
        "; if what holds up " + names(advice.to_mend) + " can be mended, " + of_whole(1 - 1 / advice.mended) + " less";
  }
  switch (advice.change) {
    case insight::Change::leave_out:
      return "advice: leave " + names(advice.who) + " out" + gain + "\n";
    case insight::Change::more_lanes:
      return "advice: give each shard " + std::to_string(advice.number) + " lanes, if its machine has the processors" +
             gain + "\n";
    case insight::Change::slots:
      return "advice: cut a step into " + std::to_string(advice.number) + " slots (other sums, so other bits)" + gain +
             "\n";
    case insight::Change::faster_disk:
      return "advice: give " + names(advice.who) + " a faster disk" +
             (advice.is_of_syncs ? ", or force the journal to it less often (durability.fsync)" : "") + gain + "\n";
    case insight::Change::wider_bound:
      return "advice: make training.staleness.bound " + std::to_string(advice.number) +
             " times as large (staler updates, so another model)" + gain + "\n";
    case insight::Change::ssp:
      return "advice: try training.mode: ssp with staleness.bound: " + std::to_string(advice.number) +
             ", where nobody waits for a step's last slot (each slot is an update of its own: another model, and other "
             "bits with each run)" +
             gain + "\n";
    case insight::Change::fewer_workers:
      return "advice: " + count_text(advice.number, "worker") + (advice.number == 1 ? " does" : " do") +
             " as well: a step takes " + of_whole(std::max(0.0, 1 / advice.gain - 1)) + " more with the fastest\n";
    case insight::Change::mend:
      return "advice: mend what holds up " + to_be_mended(advice) + gain +
             "; nothing else that was tried gains as much\n";
    case insight::Change::none:
      break;
  }
  return "advice: leave it as it is; nothing that was tried gains 3 %\n";
}

// Of a window that is shorter than it was to be.
std::string why_shorter(const insight::Analysis& analysis, std::size_t steps) {
  if (!analysis.window || analysis.window->steps() >= steps) {
    return {};
  }
  return " (not " + std::to_string(steps) + ": " +
         (analysis.begins_at_change ? "those before took another time" : "no more were measured as a whole") + ")";
}

// The advice, with what is no matter of a replay.
std::string advice_of(const insight::JobTrace& trace, const insight::Analysis& analysis) {
  if (!analysis.verdict) {
    return {};
  }
  if (analysis.verdict->is_far()) {
    return "advice: none, for the replay leaves out what matters here: look at a trace (`ballast trace`)\n";
  }
  if (analysis.advice.change == insight::Change::none && trace.absent.count > 0) {
    return "advice: bring back who is missing; nothing else that was tried gains 3 %\n";
  }
  return advice_line(analysis.advice);
}

std::string analysis_lines(const insight::JobTrace& trace, const insight::Analysis& analysis, std::size_t steps,
                           bool all) {
  const auto before = held_line(trace) + absent_lines(trace);
  if (!analysis.window && !computed(trace)) {
    return before + severity_lines(trace, {}, {}, all);
  }
  return before + severity_lines(trace, analysis.window, analysis.severities, all, why_shorter(analysis, steps)) +
         verdict_lines(analysis.verdict) + lasting_lines(analysis.lasting, analysis.windows, steps) +
         advice_of(trace, analysis);
}

std::string advice_json(const insight::Advice& advice) {
  nlohmann::ordered_json json = {
      {"advice", word_for(advice.change)}, {"who", advice.who}, {"number", advice.number}, {"gain", advice.gain}};
  if (!advice.to_mend.empty()) {
    json["mend"] = {{"who", advice.to_mend}, {"gain", advice.mended}};
  }
  return dumped(json);
}

}  // namespace ballast
